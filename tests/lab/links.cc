#include "tests/lab/links.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kasane::lab {
namespace {

constexpr std::string_view kUnderlayBridge = "underlay";
constexpr std::string_view kManagementBridge = "management";

// End in the fabric of hypervisor number `index`.
std::string ManagementEnd(size_t index) { return fmt::format("mgmt{}", index + 1); }

// True if the VM has an address of the family of `everything`, but no route to all of it.
bool LacksDefaultRoute(const Vm& vm, const IpPrefix& everything) {
  return std::any_of(vm.addresses.begin(), vm.addresses.end(),
                     [&](const IpPrefix& own) { return own.family() == everything.family(); }) &&
         std::none_of(vm.routes.begin(), vm.routes.end(),
                      [&](const VmRoute& route) { return route.destination == everything; });
}

template <typename... Args>
void Line(std::string& batch, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(batch), format, std::forward<Args>(args)...);
  batch += '\n';
}

}  // namespace

std::string UnderlayEnd(size_t index) { return fmt::format("under{}", index + 1); }

std::vector<std::string> Namespaces(const Layout& layout, const LabPlan& plan) {
  std::vector<std::string> names = {layout.Namespace(kFabricNode)};
  for (const Hypervisor& host : plan.hosts) names.push_back(layout.Namespace(host.node));
  for (const Vm& vm : plan.vms) names.push_back(layout.Namespace(vm.node));
  return names;
}

std::string NamespaceBatch(const Layout& layout, const LabPlan& plan) {
  std::string batch;
  for (const std::string& name : Namespaces(layout, plan)) Line(batch, "netns add {}", name);
  return batch;
}

std::string_view UnderlayOwner(const Hypervisor& host) {
  return host.datapath_type == "netdev" ? "br-phy" : "eth0";
}

std::string LinkBatch(const Layout& layout, const LabPlan& plan) {
  const std::string fabric = layout.Namespace(kFabricNode);
  std::string batch;
  for (size_t i = 0; i < plan.hosts.size(); ++i) {
    const std::string host = layout.Namespace(plan.hosts[i].node);
    // The VTEP's own MAC is br-phy's with the userspace datapath, and the NIC's with the kernel's.
    const bool nic = UnderlayOwner(plan.hosts[i]) == "eth0";
    Line(batch, "link add name eth0 netns {}{} mtu {} type veth peer name {} netns {} mtu {}", host,
         nic ? fmt::format(" address {}", plan.hosts[i].vtep_mac) : "", kUnderlayMtu, UnderlayEnd(i), fabric,
         kUnderlayMtu);
    Line(batch, "link add name mgmt0 netns {} type veth peer name {} netns {}", host, ManagementEnd(i), fabric);
  }
  for (const Vm& vm : plan.vms) {
    Line(batch, "link add name eth0 netns {} address {} mtu {} type veth peer name {} netns {} mtu {}",
         layout.Namespace(vm.node), vm.mac, vm.mtu, vm.interface, layout.Namespace(plan.hosts[vm.host].node),
         kVmLinkMtu);
  }
  return batch;
}

std::string FabricBatch(const LabPlan& plan) {
  std::string batch;
  Line(batch, "link set lo up");
  Line(batch, "link add {} mtu {} type bridge mcast_snooping 0", kUnderlayBridge, kUnderlayMtu);
  Line(batch, "link add {} type bridge mcast_snooping 0", kManagementBridge);
  for (size_t i = 0; i < plan.hosts.size(); ++i) {
    Line(batch, "link set {} master {} up", UnderlayEnd(i), kUnderlayBridge);
    Line(batch, "link set {} master {} up", ManagementEnd(i), kManagementBridge);
  }
  Line(batch, "link set {} up", kUnderlayBridge);
  Line(batch, "addr add {} dev {}", ControllerAddress().ToString(), kManagementBridge);
  Line(batch, "link set {} up", kManagementBridge);
  return batch;
}

std::string HypervisorBatch(const LabPlan& plan, const Hypervisor& host) {
  std::string batch;
  Line(batch, "link set lo up");
  Line(batch, "link set eth0 up");
  Line(batch, "addr add {} dev mgmt0", host.management);
  Line(batch, "link set mgmt0 up");
  for (const Vm& vm : plan.vms) {
    if (plan.hosts[vm.host].node == host.node) Line(batch, "link set {} up", vm.interface);
  }
  return batch;
}

std::string VtepBatch(const Hypervisor& host) {
  std::string batch;
  const std::string_view owner = UnderlayOwner(host);
  // Usable at once: labs have no duplicates to detect.
  Line(batch, "addr add {} dev {}{}", host.vtep, owner, host.vtep.family() == IpFamily::kV6 ? " nodad" : "");
  Line(batch, "link set {} up", owner);
  return batch;
}

namespace {

void AddAddress(std::string& batch, const IpPrefix& address) {
  Line(batch, "addr add {} dev eth0{}", address, address.family() == IpFamily::kV6 ? " nodad" : "");
}

// "append": two subnets of one network may each name a default gateway.
void ChangeRoutes(std::string& batch, std::string_view verb, const Vm& vm) {
  for (const VmRoute& route : vm.routes) {
    Line(batch, "route {} {} via {} dev eth0{}", verb, route.destination, route.via,
         route.via.is_v4() ? " onlink" : "");
  }
  // A VM without a gateway sends all the same, so that it is the network that drops what must not arrive.
  for (const char* everything : {"0.0.0.0/0", "::/0"}) {
    if (LacksDefaultRoute(vm, *IpPrefix::Parse(everything)))
      Line(batch, "route {} {} dev eth0", verb, everything);
  }
}

template <typename T>
std::vector<T> Without(std::vector<T> list, const std::vector<T>& others) {
  std::erase_if(list,
                [&](const T& one) { return std::find(others.begin(), others.end(), one) != others.end(); });
  return list;
}

}  // namespace

std::string VmBatch(const Vm& vm) {
  std::string batch;
  Line(batch, "link set lo up");
  for (const IpAddress& address : vm.behind) Line(batch, "addr add {} dev lo", IpPrefix::Host(address));
  for (const IpPrefix& address : vm.addresses) AddAddress(batch, address);
  Line(batch, "link set eth0 up");
  ChangeRoutes(batch, "append", vm);
  return batch;
}

std::string ChangeVmBatch(const Vm& before, const Vm& vm) {
  std::string batch;
  for (const IpAddress& address : Without(before.behind, vm.behind))
    Line(batch, "addr del {} dev lo", IpPrefix::Host(address));
  for (const IpAddress& address : Without(vm.behind, before.behind))
    Line(batch, "addr add {} dev lo", IpPrefix::Host(address));
  if (before.mtu != vm.mtu) Line(batch, "link set eth0 mtu {}", vm.mtu);
  if (before.mac == vm.mac && before.addresses == vm.addresses && before.routes == vm.routes) return batch;
  // Routes go before the addresses that they may hang on.
  ChangeRoutes(batch, "del", before);
  for (const IpPrefix& address : Without(before.addresses, vm.addresses))
    Line(batch, "addr del {} dev eth0", address);
  std::vector<IpPrefix> added = Without(vm.addresses, before.addresses);
  if (before.mac != vm.mac) {
    // The interface goes down for the link-local address of the new MAC, and takes its IPv6 addresses with it.
    Line(batch, "link set eth0 down");
    Line(batch, "link set eth0 address {}", vm.mac);
    Line(batch, "link set eth0 up");
    for (const IpPrefix& address : vm.addresses) {
      const bool is_new = std::find(added.begin(), added.end(), address) != added.end();
      if (address.family() == IpFamily::kV6 && !is_new) added.push_back(address);
    }
  }
  for (const IpPrefix& address : added) AddAddress(batch, address);
  ChangeRoutes(batch, "append", vm);
  return batch;
}

}  // namespace kasane::lab
