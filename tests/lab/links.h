// What ip(8) is told to build a lab's namespaces, links, addresses and routes: text for `ip -batch`, so
// that a whole lab takes few processes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/layout.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

// Of the switch's end of a VM's link: what a guest sends against its network's MTU must reach the switch.
inline constexpr uint32_t kVmLinkMtu = 9000;

// The end in the fabric of the link that is eth0 of hypervisor number `index` of the plan.
std::string UnderlayEnd(size_t index);

// Every namespace of the lab.
std::vector<std::string> Namespaces(const Layout& layout, const LabPlan& plan);

// Run in the machine's own namespace: makes the namespaces.
std::string NamespaceBatch(const Layout& layout, const LabPlan& plan);
// Run in the machine's own namespace: makes the links between them.
std::string LinkBatch(const Layout& layout, const LabPlan& plan);

// Run in the namespace that they are for.
std::string FabricBatch(const LabPlan& plan);
std::string HypervisorBatch(const LabPlan& plan, const Hypervisor& host);
// The link that has the VTEP address.
std::string_view UnderlayOwner(const Hypervisor& host);
// Once br-phy is there, which the userspace datapath needs; with the kernel's the NIC has the address.
std::string VtepBatch(const Hypervisor& host);
std::string VmBatch(const Vm& vm);
// The same for a VM that has `before`'s: what differs changes and all else stays, addresses that a case gave it
// too.
std::string ChangeVmBatch(const Vm& before, const Vm& vm);

}  // namespace kasane::lab
