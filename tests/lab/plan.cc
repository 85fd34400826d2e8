#include "tests/lab/plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"
#include "tests/lab/layout.h"

namespace kasane::lab {
namespace {

constexpr uint32_t kUnderlay = 0xC6120000;    // 198.18.0.0
constexpr uint32_t kManagement = 0xC6130000;  // 198.19.0.0
constexpr int kNetworkLength = 16;
constexpr size_t kMaxHosts = 1000;
// Hypervisors' management addresses follow those kept for the fabric.
constexpr uint32_t kFirstManagementHost = 256;

IpPrefix V4(uint32_t network, uint32_t host) { return {IpAddress::V4(network + host), kNetworkLength}; }

// Locally administered, and the same in each lab: labs share no network.
MacAddress VtepMac(size_t index) {
  const auto number = static_cast<uint32_t>(index + 1);
  return MacAddress({0x02, 0x6b, 0x6c, 0x00, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)});
}

// The first address for a host in `prefix`.
IpAddress FirstHost(const IpPrefix& prefix) {
  const IpPrefix network = prefix.Network();
  if (network.length() >= network.address().bits() - 1) return network.address();
  if (network.family() == IpFamily::kV4) return IpAddress::V4(network.address().v4_host_order() | 1);
  std::array<uint8_t, 16> bytes{};
  std::copy(network.address().bytes().begin(), network.address().bytes().end(), bytes.begin());
  bytes[15] |= 1;
  return IpAddress::V6(std::span<const uint8_t, 16>(bytes));
}

template <typename Id, typename T>
const T* Find(const SharedMap<Id, std::shared_ptr<const T>>& resources, const Id& id) {
  const auto found = resources.find(id);
  return found == resources.end() ? nullptr : found->second.get();
}

bool IsVm(const model::Port& port) { return port.device_owner.compare(0, 8, "compute:") == 0; }

bool Owns(const model::Port& port, const IpAddress& address) {
  return std::any_of(port.fixed_ips.begin(), port.fixed_ips.end(),
                     [&](const model::FixedIp& fixed_ip) { return fixed_ip.address == address; });
}

// IPv6 routers are spoken to by their link-local address, as a VM that hears a router advertisement does.
void AddDefaultRoute6(const model::NetworkState& topology, const NetworkId& network,
                      std::vector<VmRoute>& routes) {
  for (const auto& [id, port] : topology.ports) {
    const bool v6 = std::any_of(port->fixed_ips.begin(), port->fixed_ips.end(),
                                [](const model::FixedIp& fixed_ip) { return fixed_ip.address.is_v6(); });
    if (port->role == model::PortRole::kRouterInterface && port->network == network && v6) {
      routes.push_back(
          {IpPrefix(IpAddress::V6(std::array<uint8_t, 16>{}), 0), IpAddress::LinkLocal(port->mac)});
      return;
    }
  }
}

void AddSubnetRoutes(const model::Subnet& subnet, const model::Port& port, std::vector<VmRoute>& routes) {
  for (const model::HostRoute& route : subnet.host_routes) {
    if (!Owns(port, route.nexthop)) routes.push_back({route.destination, route.nexthop});
  }
  if (subnet.gateway_ip && subnet.gateway_ip->is_v4()) {
    routes.push_back({IpPrefix(IpAddress::V4(0), 0), *subnet.gateway_ip});
  }
}

void Address(const model::NetworkState& topology, const model::Port& port, Vm& vm) {
  bool v6 = false;
  std::set<SubnetId> seen;
  for (const model::FixedIp& fixed_ip : port.fixed_ips) {
    const model::Subnet* subnet = Find(topology.subnets, fixed_ip.subnet);
    if (subnet == nullptr) continue;  // The controller refuses such a topology, with a better message.
    vm.addresses.emplace_back(fixed_ip.address, subnet->cidr.length());
    v6 = v6 || fixed_ip.address.is_v6();
    if (seen.insert(subnet->id).second) AddSubnetRoutes(*subnet, port, vm.routes);
  }
  if (v6) AddDefaultRoute6(topology, port.network, vm.routes);
}

// Networks that a router has an interface on.
std::set<NetworkId> NetworksOf(const model::NetworkState& topology, const RouterId& router) {
  std::set<NetworkId> networks;
  for (const auto& [id, port] : topology.ports) {
    if (port->role == model::PortRole::kRouterInterface && port->device_id == router.str()) {
      networks.insert(port->network);
    }
  }
  return networks;
}

// Gives the next hops of extra routes an address behind them, so that the routes can be probed.
std::vector<IpAddress> AddressesBehind(const model::NetworkState& topology, const model::Port& port) {
  std::vector<IpAddress> addresses;
  for (const auto& [id, router] : topology.routers) {
    if (router->routes.empty() || NetworksOf(topology, id).count(port.network) == 0) continue;
    for (const model::ExtraRoute& route : router->routes) {
      if (route.destination.length() != 0 && Owns(port, route.nexthop)) {
        addresses.push_back(FirstHost(route.destination));
      }
    }
  }
  return addresses;
}

absl::StatusOr<Hypervisor> PlanHost(const model::NetworkState& topology, const HostId& id, size_t index) {
  if (!IsNodeName(id.str()) || id.str() == kFabricNode || id.str() == kControllerNode) {
    return Invalid(
        "host \"{}\": the lab makes a namespace of this name, so it must be at most 48 letters, "
        "digits, '-', '_' and '.', and neither \"fabric\" nor \"controller\"",
        id);
  }
  const auto number = static_cast<uint32_t>(index + 1);
  Hypervisor host{id.str(), V4(kUnderlay, number), VtepMac(index),
                  V4(kManagement, kFirstManagementHost + number)};
  const model::Host* pinned = Find(topology.hosts, id);
  if (pinned == nullptr || (!pinned->tunnel_v4 && !pinned->tunnel_v6)) return host;
  if (pinned->tunnel_v4 && pinned->tunnel_v6) {
    return Invalid("host \"{}\" pins {} and {}: a host of the lab has one tunnel address", id,
                   *pinned->tunnel_v4, *pinned->tunnel_v6);
  }
  const IpAddress& address = pinned->tunnel_v4 ? *pinned->tunnel_v4 : *pinned->tunnel_v6;
  const IpPrefix underlay = address.is_v4() ? UnderlayNetwork() : UnderlayNetwork6();
  if (!underlay.Contains(address)) {
    return Invalid("host \"{}\" pins the tunnel address {}: the lab's underlay is {} and {}", id, address,
                   UnderlayNetwork(), UnderlayNetwork6());
  }
  host.vtep = IpPrefix(address, underlay.length());
  return host;
}

absl::StatusOr<std::vector<Hypervisor>> PlanHosts(const model::NetworkState& topology) {
  std::set<HostId> ids;
  for (const auto& [id, host] : topology.hosts) ids.insert(id);
  bool any_vm = false;
  for (const auto& [id, port] : topology.ports) {
    if (!IsVm(*port)) continue;
    any_vm = true;
    if (port->host.empty()) {
      return Invalid("port {} ({}) has device_owner \"{}\" but no binding:host_id: name the host it runs on",
                     id, port->name, port->device_owner);
    }
    ids.insert(port->host);
  }
  if (!any_vm) return Invalid("no port has a device_owner that begins with \"compute:\": there is no VM");
  if (ids.size() > kMaxHosts) return Invalid("{} hosts; a lab has at most {}", ids.size(), kMaxHosts);
  std::vector<Hypervisor> hosts;
  std::set<IpAddress> vteps;
  for (const HostId& id : ids) {
    ASSIGN_OR_RETURN(Hypervisor host, PlanHost(topology, id, hosts.size()));
    if (!vteps.insert(host.vtep.address()).second) {
      return Invalid("host \"{}\": {} is another host's tunnel address too; pin all hosts or none", id,
                     host.vtep.address());
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

// Port names that name one VM each, and nothing else in the lab.
std::set<std::string> UsableNames(const model::NetworkState& topology, const std::vector<Hypervisor>& hosts) {
  std::map<std::string, int> counts;
  for (const auto& [id, port] : topology.ports) {
    if (IsVm(*port) && IsNodeName(port->name)) ++counts[port->name];
  }
  counts.erase(std::string(kFabricNode));
  counts.erase(std::string(kControllerNode));
  for (const Hypervisor& host : hosts) counts.erase(host.node);
  std::set<std::string> names;
  for (const auto& [name, count] : counts) {
    if (count == 1) names.insert(name);
  }
  return names;
}

// As Neutron names them: "tap" and the first 11 characters of the port's id.
std::string InterfaceName(const PortId& port) { return "tap" + port.str().substr(0, 11); }

Vm PlanVm(const model::NetworkState& topology, const model::Port& port, const std::vector<Hypervisor>& hosts) {
  Vm vm;
  vm.port = port.id;
  vm.host = std::lower_bound(hosts.begin(), hosts.end(), port.host.str(),
                             [](const Hypervisor& host, const std::string& id) { return host.node < id; }) -
            hosts.begin();
  vm.interface = InterfaceName(port.id);
  vm.mac = port.mac;
  const model::Network* network = Find(topology.networks, port.network);
  vm.mtu = network == nullptr ? kUnderlayMtu - 50 : network->mtu;
  Address(topology, port, vm);
  vm.behind = AddressesBehind(topology, port);
  return vm;
}

absl::Status CheckInterfaces(const LabPlan& plan) {
  std::set<std::pair<size_t, std::string>> seen;
  for (const Vm& vm : plan.vms) {
    if (!IsNodeName(vm.node) || !IsNodeName(vm.interface)) {
      return Invalid("port {}: its id cannot be part of an interface's name; use a UUID", vm.port);
    }
    if (!seen.insert({vm.host, vm.interface}).second) {
      return Invalid(
          "port {}: another port of host {} begins with the same 11 characters, which name the "
          "interface; use UUIDs",
          vm.port, plan.hosts[vm.host].node);
    }
  }
  return absl::OkStatus();
}

}  // namespace

IpPrefix UnderlayNetwork() { return V4(kUnderlay, 0); }
IpPrefix UnderlayNetwork6() { return *IpPrefix::Parse("2001:2::/64"); }
IpPrefix ManagementNetwork() { return V4(kManagement, 0); }
IpPrefix ControllerAddress() { return V4(kManagement, 1); }
std::string ControllerEndpoint() {
  return fmt::format("{}:{}", ControllerAddress().address(), kControllerPort);
}

absl::StatusOr<LabPlan> MakePlan(const model::NetworkState& topology) {
  LabPlan plan;
  ASSIGN_OR_RETURN(plan.hosts, PlanHosts(topology));
  const std::set<std::string> names = UsableNames(topology, plan.hosts);
  for (const auto& [id, port] : topology.ports) {
    if (!IsVm(*port)) continue;
    Vm vm = PlanVm(topology, *port, plan.hosts);
    vm.node = names.count(port->name) != 0 ? port->name : id.str();
    plan.vms.push_back(std::move(vm));
  }
  std::sort(plan.vms.begin(), plan.vms.end(), [](const Vm& a, const Vm& b) { return a.node < b.node; });
  RETURN_IF_ERROR(CheckInterfaces(plan));
  return plan;
}

vswitch::TunnelAddresses OwnAddresses(const Hypervisor& host) {
  vswitch::TunnelAddresses own;
  (host.vtep.address().is_v4() ? own.v4 : own.v6) = host.vtep.address();
  return own;
}

const Vm* FindVm(const LabPlan& plan, std::string_view node) {
  const auto found =
      std::find_if(plan.vms.begin(), plan.vms.end(), [&](const Vm& vm) { return vm.node == node; });
  return found == plan.vms.end() ? nullptr : &*found;
}

}  // namespace kasane::lab
