#include "tests/random/cloud_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/decode.h"

namespace kasane::random {
namespace {

constexpr uint32_t kFirstVirtualMac = 77;  // From here on nobody's own.

std::vector<std::string> NeutronOwners() {
  return {"network:dhcp",
          "network:router_gateway",
          "network:router_centralized_snat",
          "network:router_ha_interface",
          "network:floatingip_agent_gateway",
          "network:distributed",
          "network:local_ip",
          "trunk:subport",
          "baremetal:none",
          "Octavia",
          "neutron:LOADBALANCERV2"};
}

}  // namespace

void CloudBuilder::AddHosts() {
  const std::vector<IpAddress> vteps = PeerVteps();
  for (int n = 0; n <= kPeerCount; ++n) {
    auto host = std::make_shared<model::Host>();
    host->id = HostId(fmt::format("h{}", n));
    const bool v6 = Has(kinds_, Kind::kIpv6Underlay);
    if (n == 0) {
      host->tunnel_v4 = OwnVteps().v4;
      if (v6) host->tunnel_v6 = OwnVteps().v6;
    } else {
      const auto form = v6 ? Below(random_, 3) : 0;  // IPv4, IPv6, both.
      if (form != 1) host->tunnel_v4 = vteps[static_cast<size_t>(n) - 1];
      if (form != 0) host->tunnel_v6 = vteps[static_cast<size_t>(n) - 1 + kPeerCount];
    }
    state_.hosts[host->id] = std::move(host);
  }
}

HostId CloudBuilder::AnyPeer() { return HostId(fmt::format("h{}", 1 + Below(random_, kPeerCount + 1))); }

// Every network may use the same prefixes as another one.
void CloudBuilder::AddNetwork(uint64_t n) {
  auto network = std::make_shared<model::Network>();
  network->id = NetworkId(fmt::format("n{}", n));
  network->name = network->id.str();
  network->vni = *Vni::From(100 + n * 1000);
  network->admin_state_up = !Chance(random_, 12);
  const std::vector<uint32_t> mtus = {1450, 1450, 1450, 1500, 1280, 600};
  network->mtu = Pick(mtus, random_);
  AddSubnet(*network, *IpPrefix::Parse(fmt::format("10.0.{}.0/24", Below(random_, 3))));
  const IpPrefix v6 = *IpPrefix::Parse(fmt::format("2001:db8:{}::/64", Below(random_, 3)));
  if (!Chance(random_, 3)) AddSubnet(*network, v6);
  if (Has(kinds_, Kind::kSubnets)) {
    const std::vector<std::string> more = {"10.1.0.0/25",      "10.1.0.128/26",     "10.1.1.0/27",
                                           "2001:db8:11::/64", "2001:db8:12::/112", "2001:db8:12:1::/80"};
    for (const std::string& cidr : more) {
      if (Chance(random_, 4)) AddSubnet(*network, *IpPrefix::Parse(cidr));
    }
  }
  state_.networks[network->id] = std::move(network);
}

void CloudBuilder::AddSubnet(const model::Network& network, const IpPrefix& cidr) {
  auto subnet = std::make_shared<model::Subnet>();
  subnet->id = SubnetId(fmt::format("{}-{}", network.id, cidr));
  subnet->network = network.id;
  subnet->cidr = cidr;
  state_.subnets[subnet->id] = std::move(subnet);
}

NetworkId CloudBuilder::AnyNetwork() {
  std::vector<NetworkId> networks;
  for (const auto& [id, network] : state_.networks) networks.push_back(id);
  return Pick(networks, random_);
}

std::vector<CloudBuilder::SubnetPointer> CloudBuilder::Subnets() const {
  std::vector<SubnetPointer> subnets;
  for (const auto& [id, subnet] : state_.subnets) subnets.push_back(subnet);
  return subnets;
}

std::vector<std::shared_ptr<const model::Port>> CloudBuilder::Vms() const {
  std::vector<std::shared_ptr<const model::Port>> vms;
  for (const auto& [id, port] : state_.ports) {
    if (port->role == model::PortRole::kVm) vms.push_back(port);
  }
  return vms;
}

uint32_t CloudBuilder::FreeMacNumber(const NetworkId& network) const {
  for (uint32_t n = 1;; ++n) {
    const bool used = std::any_of(state_.ports.begin(), state_.ports.end(), [&](const auto& entry) {
      return entry.second->network == network && entry.second->mac == NthMac(n);
    });
    if (!used) return n;
  }
}

MacAddress CloudBuilder::FreeMac(const NetworkId& network) const { return NthMac(FreeMacNumber(network)); }

bool CloudBuilder::IsUsed(const NetworkId& network, const IpAddress& ip) const {
  return std::any_of(state_.ports.begin(), state_.ports.end(), [&](const auto& entry) {
    const model::Port& port = *entry.second;
    return port.network == network &&
           std::any_of(port.fixed_ips.begin(), port.fixed_ips.end(),
                       [&](const model::FixedIp& fixed) { return fixed.address == ip; });
  });
}

std::shared_ptr<model::Port> CloudBuilder::NewPort(const PortId& id, const NetworkId& network) {
  auto port = std::make_shared<model::Port>();
  port->id = id;
  port->name = id.str();
  port->network = network;
  port->mac = FreeMac(network);
  return port;
}

void CloudBuilder::AddAddresses(model::Port& port, uint32_t host_part) {
  if (Has(kinds_, Kind::kNoAddresses) && Chance(random_, 6)) return;
  for (const SubnetPointer& subnet : Subnets()) {
    if (subnet->network != port.network) continue;
    if (Has(kinds_, Kind::kSubnets) && Chance(random_, 4)) continue;
    const auto add = [&](uint32_t n) {
      const IpAddress ip = Nth(subnet->cidr, n);
      if (subnet->cidr.Contains(ip) && !IsUsed(port.network, ip)) port.fixed_ips.push_back({subnet->id, ip});
    };
    add(host_part);
    if (Has(kinds_, Kind::kAddresses) && Chance(random_, 4)) add(host_part + 100);
  }
}

void CloudBuilder::AddVm(const PortId& id, const HostId& host) {
  const NetworkId network = AnyNetwork();
  auto port = NewPort(id, network);
  port->role = model::PortRole::kVm;
  port->device_owner = "compute:nova";
  port->host = host;
  port->admin_state_up = !Chance(random_, 10);
  port->port_security_enabled = all_secured_ || !Chance(random_, 4);
  AddAddresses(*port, 9 + FreeMacNumber(network));
  const bool pairs = Has(kinds_, Kind::kPairs);
  if (Chance(random_, pairs ? 2 : 3) && (pairs || !port->fixed_ips.empty())) {
    const auto count = pairs ? 1 + Below(random_, 3) : 1;
    for (uint64_t n = 0; n < count; ++n) AddAllowedPair(*port);
  }
  state_.ports[port->id] = std::move(port);
}

// From a host to everything, in both families.
IpPrefix CloudBuilder::WidePrefix() {
  const std::vector<std::string> addresses = {"10.0.0.0",     "10.0.1.16",     "10.1.0.0",      "192.0.2.0",
                                              "2001:db8:1::", "2001:db8:2::8", "2001:db8:11::", "fe80::"};
  const IpAddress address = *IpAddress::Parse(Pick(addresses, random_));
  const std::vector<int> v4 = {0, 8, 20, 24, 28, 30, 31, 32};
  const std::vector<int> v6 = {0, 32, 48, 64, 112, 124, 127, 128};
  return IpPrefix(address, Pick(address.is_v4() ? v4 : v6, random_)).Network();
}

// Of a subnet of the network: one that several ports share, or most likely this one's alone.
IpPrefix CloudBuilder::SingleAddress(const NetworkId& network) {
  std::vector<IpPrefix> choices;
  for (const SubnetPointer& subnet : Subnets()) {
    if (subnet->network != network) continue;
    const uint64_t which = Chance(random_, 2) ? 0 : Below(random_, 5);
    choices.push_back(IpPrefix::Host(Nth(subnet->cidr, 26 + static_cast<uint32_t>(which))));
  }
  return choices.empty() ? IpPrefix::Host(IpAddress::V4(0x0a000000 + 200)) : Pick(choices, random_);
}

// An address that several ports share, another port's fixed one, a whole subnet, or an address for this port.
void CloudBuilder::AddAllowedPair(model::Port& port) {
  std::optional<MacAddress> mac;
  if (Chance(random_, 2)) mac = NthMac(kFirstVirtualMac);
  const auto kind = Below(random_, 6);
  IpPrefix prefix = IpPrefix::Host(IpAddress::V4(0x0a000000 + 200));
  if (kind == 0)
    prefix = IpPrefix::Host(IpAddress::V4(0x0a000000 + static_cast<uint32_t>(Below(random_, 3)) * 256 + 10));
  if (kind == 1) prefix = *IpPrefix::Parse("2001:db8:1::/64");
  if (kind == 2) prefix = *IpPrefix::Parse("10.0.0.0/24");
  if (kind == 5 && !all_secured_ && Has(kinds_, Kind::kPairs)) {  // As operators write "anything".
    prefix = *IpPrefix::Parse(Chance(random_, 2) ? "0.0.0.0/0" : "::/0");
    mac.reset();
  } else if (kind > 2 || (all_secured_ && Chance(random_, 2))) {
    prefix = SingleAddress(port.network);
  } else if (Has(kinds_, Kind::kPairs) && Chance(random_, 2)) {
    prefix = WidePrefix();
    if (Chance(random_, 3))
      mac = NthMac(static_cast<uint32_t>(Chance(random_, 2) ? Below(random_, 12) + 1 : 79));
  }
  const model::AllowedAddressPair pair{prefix, mac};
  if (std::find(port.allowed_address_pairs.begin(), port.allowed_address_pairs.end(), pair) ==
      port.allowed_address_pairs.end()) {
    port.allowed_address_pairs.push_back(pair);
  }
}

void CloudBuilder::AddRouter(uint64_t n) {
  auto router = std::make_shared<model::Router>();
  router->id = RouterId(fmt::format("r{}", n));
  router->name = router->id.str();
  router->admin_state_up = !Chance(random_, 8);
  std::vector<IpPrefix> own;  // A router's subnets do not overlap.
  for (const SubnetPointer& subnet : Subnets()) {
    bool overlaps = Chance(random_, 3);
    for (const IpPrefix& prefix : own) overlaps = overlaps || prefix.Overlaps(subnet->cidr);
    if (overlaps) continue;
    own.push_back(subnet->cidr);
    auto port = NewPort(PortId(fmt::format("{}-{}", router->id, subnet->id)), subnet->network);
    const bool distributed = Has(kinds_, Kind::kOwners) && Chance(random_, 2);
    port->device_owner = distributed ? "network:router_interface_distributed" : "network:router_interface";
    port->role = model::PortRole::kRouterInterface;
    port->device_id = router->id.str();
    port->port_security_enabled = false;
    // The first router has the zero host address of IPv6 subnets, as Neutron gives it.
    const bool zero = subnet->cidr.family() == IpFamily::kV6 && n == 0;
    port->fixed_ips = {{subnet->id, Nth(subnet->cidr, static_cast<uint32_t>(zero ? 0 : 1 + n))}};
    state_.ports[port->id] = std::move(port);
  }
  SetExtraRoutes(*router);
  state_.routers[router->id] = std::move(router);
}

// As Neutron's agents have them: bound or not, port security off, an address of the network's.
void CloudBuilder::AddNeutronPort(uint64_t n) {
  const NetworkId network = AnyNetwork();
  auto port = NewPort(PortId(fmt::format("neutron{}", n)), network);
  port->device_owner = Pick(NeutronOwners(), random_);
  port->role = model::RoleOf(port->device_owner);
  port->device_id = fmt::format("device{}", n);
  port->host = Chance(random_, 3) ? HostId() : Chance(random_, 2) ? kHost : AnyPeer();
  port->port_security_enabled = Chance(random_, 4);
  AddAddresses(*port, 9 + FreeMacNumber(network));
  state_.ports[port->id] = std::move(port);
}

void CloudBuilder::SetExtraRoutes(model::Router& router) {
  router.routes.clear();
  const std::vector<SubnetPointer> subnets = Subnets();
  const auto count = Below(random_, 3);
  for (uint64_t n = 0; n < count; ++n) {
    const std::vector<std::string> destinations = {"192.0.2.0/24", "192.0.2.128/25", "0.0.0.0/0",
                                                   "2001:db8:ffff::/48", "10.0.1.0/24"};
    const IpPrefix destination = *IpPrefix::Parse(Pick(destinations, random_));
    const auto next_hops = 1 + (Chance(random_, 2) ? Below(random_, 4) : 0);
    for (uint64_t hop = 0; hop < next_hops; ++hop) {
      const SubnetPointer& subnet = Pick(subnets, random_);
      // Towards another router, a VM, or nobody.
      const IpAddress nexthop = Nth(subnet->cidr, static_cast<uint32_t>(1 + Below(random_, 14)));
      const model::ExtraRoute route{destination, nexthop};
      const bool known = std::find(router.routes.begin(), router.routes.end(), route) != router.routes.end();
      if (nexthop.family() == destination.family() && !known) router.routes.push_back(route);
    }
  }
}

void CloudBuilder::ChangeExtraRoutes() {
  if (state_.routers.empty()) return;
  const auto entry =
      std::next(state_.routers.begin(), static_cast<std::ptrdiff_t>(Below(random_, state_.routers.size())));
  auto router = std::make_shared<model::Router>(*entry->second);
  SetExtraRoutes(*router);
  state_.routers[router->id] = std::move(router);
}

}  // namespace kasane::random
