// A virtual hypervisor: an Open vSwitch and an agent of its own, in a namespace.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "tests/lab/layout.h"
#include "tests/lab/plan.h"
#include "tests/lab/programs.h"

namespace kasane::lab {

// The agent's configuration file.
std::string AgentConfigText(const Layout& layout, const Hypervisor& host);

// Arguments of ovs-vsctl that make br-phy, as an operator does on a host without the kernel's Open
// vSwitch (not with datapath_type "system"), and plug the VMs into br-int, as Nova's os-vif does.
std::vector<std::string> PlugArguments(const LabPlan& plan, const Hypervisor& host);

// The part of it for one VM, on the host that it is on.
std::vector<std::string> PlugVmArguments(const Vm& vm);

// Starts the switch, plugs the VMs and starts the agent. The links must be there. Returns when the switch
// has done its part; the agent is then on its own. Any thread.
absl::Status StartHypervisor(const Layout& layout, const LabPlan& plan, const Hypervisor& host,
                             const Programs& programs);

// Starts ovs-vswitchd alone, on the database that is there. Returns when it has configured itself. Any thread.
absl::Status StartVswitchd(const Layout& layout, const std::string& host, const Programs& programs);

// Starts the agent alone. Any thread.
absl::Status StartAgent(const Layout& layout, const std::string& host, const std::string& agent_program);

// What programs that talk to this hypervisor's switch and agent need: OVS_RUNDIR and the like.
std::vector<std::string> HypervisorEnvironment(const Layout& layout, const std::string& host);

}  // namespace kasane::lab
