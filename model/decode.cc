#include "model/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kasane/v1/resources.pb.h"
#include "model/defaults.h"
#include "model/field.h"
#include "model/security_rule.h"

namespace kasane::model {
namespace {

// Bounds on lists, far above what Neutron's quotas allow and far below what would hurt.
constexpr int kMaxFixedIps = 256;
constexpr int kMaxAddressPairs = 1024;
constexpr int kMaxPortGroups = 256;
constexpr int kMaxRoutes = 4096;
constexpr int kMaxRules = 4096;
constexpr int kMaxPools = 256;
constexpr int kMaxNameServers = 64;
constexpr int kMaxTunnelAddresses = 2;

// RFC 791. A network with an IPv6 subnet needs 1280, which Neutron leaves to its user, and so do we.
constexpr uint32_t kMinMtu = 68;
constexpr uint32_t kMaxMtu = 65535;
constexpr uint32_t kMaxVlan = 4094;

std::string_view FamilyName(IpFamily family) { return family == IpFamily::kV4 ? "IPv4" : "IPv6"; }

// A fault, and false, if both are there and differ in family.
bool CheckFamily(const Field& field, const std::optional<IpAddress>& address,
                 const std::optional<IpPrefix>& cidr) {
  if (!address || !cidr || address->family() == cidr->family()) return true;
  field.Fail("{} is not an {} address, but {} is {}", *address, FamilyName(cidr->family()), *cidr,
             FamilyName(cidr->family()));
  return false;
}

// ---- hosts

Host DecodeHost(const v1::Host& in, const Field& at) {
  Host out;
  out.id = ReadId<HostId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.pinned = in.pinned();
  const Field list = at.Sub("tunnel_addresses");
  if (!CheckCount(list, in.tunnel_addresses_size(), kMaxTunnelAddresses)) return out;
  if (in.pinned() && in.tunnel_addresses().empty()) {
    list.Fail("is missing; give the host's VTEP address, or leave the host out: its agent will announce it");
  }
  for (int i = 0; i < in.tunnel_addresses_size(); ++i) {
    const Field item = at.Item("tunnel_addresses", i);
    const auto address = ReadHostAddress(item, in.tunnel_addresses(i), Presence::kRequired);
    if (!address) continue;
    std::optional<IpAddress>& slot = address->is_v4() ? out.tunnel_v4 : out.tunnel_v6;
    if (slot)
      item.Fail("{} is a second {} address; give one per family", *address, FamilyName(address->family()));
    slot = address;
  }
  return out;
}

// ---- networks

void DecodeSegment(const v1::Network& in, const Field& at, Network& out) {
  const std::string& type = in.provider_network_type();
  const uint32_t id = in.provider_segmentation_id();
  const Field segment = at.Sub("provider:segmentation_id");
  if (type.empty() || type == "vxlan") {
    out.type = NetworkType::kVxlan;
    if (id == 0) {
      segment.Fail("is missing; a vxlan network needs its VNI, 1 to {}", Vni::kMax);
    } else if (const auto vni = Vni::From(id); vni.ok()) {
      out.vni = *vni;
    } else {
      segment.Fail("{}", Message(vni.status()));
    }
  } else if (type == "vlan") {
    out.type = NetworkType::kVlan;
    out.vlan = id;
    if (id == 0 || id > kMaxVlan) segment.Fail("{} is not a VLAN id: it must be 1 to {}", id, kMaxVlan);
  } else if (type == "flat") {
    out.type = NetworkType::kFlat;
    if (id != 0) segment.Fail("{} is given, but a flat network has none; remove it", id);
  } else if (type == "local") {
    out.type = NetworkType::kLocal;
    if (id != 0) segment.Fail("{} is given, but a local network has none; remove it", id);
  } else {
    static constexpr std::string_view kTypes[] = {"vxlan", "flat", "vlan", "local"};
    at.Sub("provider:network_type")
        .Fail("{} is not supported; use vxlan, flat, vlan or local{}", Quoted(type), Suggestion(type, kTypes));
  }
}

Network DecodeNetwork(const v1::Network& in, const Field& at) {
  Network out;
  out.id = ReadId<NetworkId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.name = ReadName(at.Sub("name"), in.name());
  out.project_id = ReadText(at.Sub("project_id"), in.project_id());
  out.admin_state_up = !in.has_admin_state_up() || in.admin_state_up();
  DecodeSegment(in, at, out);
  out.mtu = in.mtu() == 0 ? DefaultMtu(out.type) : in.mtu();
  if (out.mtu < kMinMtu || out.mtu > kMaxMtu) {
    at.Sub("mtu").Fail("{} is not an MTU: it must be {} to {}, or 0 for {}", out.mtu, kMinMtu, kMaxMtu,
                       DefaultMtu(out.type));
  }
  ReadText(at.Sub("provider:physical_network"), in.provider_physical_network());
  out.external = in.router_external();
  out.shared = in.shared();
  out.port_security_enabled = !in.has_port_security_enabled() || in.port_security_enabled();
  return out;
}

// ---- subnets

// ip_version and cidr, which must agree. Nothing with a fault.
std::optional<IpPrefix> DecodeCidr(const v1::Subnet& in, const Field& at) {
  const auto cidr = ReadPrefix(at.Sub("cidr"), in.cidr(), Presence::kRequired);
  const uint32_t version = in.ip_version();
  if (version != 4 && version != 6) {
    at.Sub("ip_version")
        .Fail("{}", version == 0 ? "is missing; give 4 or 6" : fmt::format("{} is not 4 or 6", version));
    return std::nullopt;
  }
  if (!cidr) return std::nullopt;
  if (static_cast<uint32_t>(cidr->family()) != version) {
    at.Sub("ip_version").Fail("{} contradicts the cidr {}; use {}", version, *cidr, version == 4 ? 6 : 4);
    return std::nullopt;
  }
  const Field field = at.Sub("cidr");
  if (cidr->length() == 0) {
    field.Fail("{} is the whole Internet; give the subnet's own prefix", *cidr);
  } else if (cidr->address().IsMulticast() || cidr->address().IsLoopback()) {
    field.Fail("{} is {}; give a unicast prefix", *cidr,
               cidr->address().IsMulticast() ? "multicast" : "loopback");
  } else {
    return cidr;
  }
  return std::nullopt;
}

// Neutron's rule: in IPv4 neither the network's own nor the broadcast address; in IPv6 any.
void CheckGateway(const Field& field, const IpAddress& gateway, const IpPrefix& cidr) {
  if (!gateway.is_v4() || cidr.length() > 30 || !cidr.Contains(gateway)) return;
  const uint32_t host_bits = 0xffffffffU >> cidr.length();
  const uint32_t host = gateway.v4_host_order() & host_bits;
  if (host == 0) field.Fail("{} is the network address of {}; use another", gateway, cidr);
  if (host == host_bits) field.Fail("{} is the broadcast address of {}; use another", gateway, cidr);
}

void CheckPools(const v1::Subnet& in, const Field& at, const std::optional<IpPrefix>& cidr) {
  if (!CheckCount(at.Sub("allocation_pools"), in.allocation_pools_size(), kMaxPools)) return;
  for (int i = 0; i < in.allocation_pools_size(); ++i) {
    const Field pool = at.Item("allocation_pools", i);
    const Field start_field = pool.Sub("start");
    const Field end_field = pool.Sub("end");
    const auto start = ReadHostAddress(start_field, in.allocation_pools(i).start(), Presence::kRequired);
    const auto end = ReadHostAddress(end_field, in.allocation_pools(i).end(), Presence::kRequired);
    if (cidr && start && !cidr->Contains(*start)) start_field.Fail("{} is not in {}", *start, *cidr);
    if (cidr && end && !cidr->Contains(*end)) end_field.Fail("{} is not in {}", *end, *cidr);
    if (start && end && *end < *start)
      pool.Fail("ends at {}, before its start {}; exchange them", *end, *start);
  }
}

// A list of {destination, nexthop}: host routes of a subnet, extra routes of a router.
template <typename Out, typename List>
std::vector<Out> DecodeRoutes(const List& in, const Field& at, std::string_view name) {
  std::vector<Out> out;
  if (!CheckCount(at.Sub(name), in.size(), kMaxRoutes)) return out;
  std::set<std::pair<IpPrefix, IpAddress>> seen;
  for (int i = 0; i < in.size(); ++i) {
    const Field route = at.Item(name, i);
    const Field nexthop_field = route.Sub("nexthop");
    const auto destination = ReadPrefix(route.Sub("destination"), in[i].destination(), Presence::kRequired);
    const auto nexthop = ReadHostAddress(nexthop_field, in[i].nexthop(), Presence::kRequired);
    if (!destination || !nexthop || !CheckFamily(nexthop_field, nexthop, destination)) continue;
    if (!seen.emplace(*destination, *nexthop).second) {
      route.Fail("{} via {} is there twice; remove one", *destination, *nexthop);
    }
    out.push_back({.destination = *destination, .nexthop = *nexthop});
  }
  return out;
}

std::string DecodeIpv6Mode(const Field& field, const std::string& mode, const std::optional<IpPrefix>& cidr) {
  if (mode.empty()) return mode;
  static constexpr std::string_view kModes[] = {"slaac", "dhcpv6-stateful", "dhcpv6-stateless"};
  if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes)) {
    field.Fail("{} is not slaac, dhcpv6-stateful or dhcpv6-stateless{}", Quoted(mode),
               Suggestion(mode, kModes));
  } else if (cidr && cidr->family() == IpFamily::kV4) {
    field.Fail("{} is for IPv6, but {} is IPv4; remove it", mode, *cidr);
  } else if (cidr && mode != "dhcpv6-stateful" && cidr->length() != 64) {
    field.Fail("{} needs a /64, but the cidr is {}", mode, *cidr);
  }
  return mode;
}

Subnet DecodeSubnet(const v1::Subnet& in, const Field& at) {
  Subnet out;
  out.id = ReadId<SubnetId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.name = ReadName(at.Sub("name"), in.name());
  ReadText(at.Sub("project_id"), in.project_id());
  out.network = ReadId<NetworkId>(at.Sub("network_id"), in.network_id(), Presence::kRequired);
  const std::optional<IpPrefix> cidr = DecodeCidr(in, at);
  if (cidr) out.cidr = *cidr;
  const Field gateway = at.Sub("gateway_ip");
  out.gateway_ip = ReadHostAddress(gateway, in.gateway_ip(), Presence::kOptional);
  if (out.gateway_ip && cidr && CheckFamily(gateway, out.gateway_ip, cidr))
    CheckGateway(gateway, *out.gateway_ip, *cidr);
  out.enable_dhcp = !in.has_enable_dhcp() || in.enable_dhcp();
  CheckPools(in, at, cidr);
  out.host_routes = DecodeRoutes<HostRoute>(in.host_routes(), at, "host_routes");
  if (CheckCount(at.Sub("dns_nameservers"), in.dns_nameservers_size(), kMaxNameServers)) {
    for (int i = 0; i < in.dns_nameservers_size(); ++i) {
      // Neutron's way to say that VMs get no name server.
      if (in.dns_nameservers(i) == "0.0.0.0" || in.dns_nameservers(i) == "::") continue;
      ReadHostAddress(at.Item("dns_nameservers", i), in.dns_nameservers(i), Presence::kRequired);
    }
  }
  const Field ra_mode = at.Sub("ipv6_ra_mode");
  out.ipv6_address_mode = DecodeIpv6Mode(at.Sub("ipv6_address_mode"), in.ipv6_address_mode(), cidr);
  out.ipv6_ra_mode = DecodeIpv6Mode(ra_mode, in.ipv6_ra_mode(), cidr);
  if (!out.ipv6_ra_mode.empty() && !out.ipv6_address_mode.empty() &&
      out.ipv6_ra_mode != out.ipv6_address_mode) {
    ra_mode.Fail("{} differs from ipv6_address_mode {}; make them equal or leave one out",
                 Quoted(out.ipv6_ra_mode), Quoted(out.ipv6_address_mode));
  }
  return out;
}

// ---- ports

template <typename List>
std::vector<FixedIp> DecodeFixedIps(const List& in, const Field& at, std::string_view name) {
  std::vector<FixedIp> out;
  if (!CheckCount(at.Sub(name), in.size(), kMaxFixedIps)) return out;
  std::set<IpAddress> seen;
  for (int i = 0; i < in.size(); ++i) {
    const Field item = at.Item(name, i);
    const Field address_field = item.Sub("ip_address");
    const auto subnet = ReadId<SubnetId>(item.Sub("subnet_id"), in[i].subnet_id(), Presence::kRequired);
    const auto address = ReadHostAddress(address_field, in[i].ip_address(), Presence::kRequired);
    if (!address) continue;
    if (!seen.insert(*address).second) address_field.Fail("{} is there twice; remove one", *address);
    out.push_back({subnet, *address});
  }
  return out;
}

std::vector<AllowedAddressPair> DecodeAddressPairs(const v1::Port& in, const Field& at) {
  std::vector<AllowedAddressPair> out;
  if (!CheckCount(at.Sub("allowed_address_pairs"), in.allowed_address_pairs_size(), kMaxAddressPairs))
    return out;
  for (int i = 0; i < in.allowed_address_pairs_size(); ++i) {
    const v1::AllowedAddressPair& pair = in.allowed_address_pairs(i);
    const Field item = at.Item("allowed_address_pairs", i);
    const auto prefix = ReadLenientPrefix(item.Sub("ip_address"), pair.ip_address(), Presence::kRequired);
    const auto mac = ReadMac(item.Sub("mac_address"), pair.mac_address(), Presence::kOptional);
    if (prefix) out.push_back({*prefix, mac});
  }
  return out;
}

}  // namespace

PortRole RoleOf(const std::string& device_owner) {
  static constexpr std::pair<std::string_view, PortRole> kRoles[] = {
      {"network:router_interface", PortRole::kRouterInterface},
      {"network:router_interface_distributed", PortRole::kRouterInterface},
      {"network:ha_router_replicated_interface", PortRole::kRouterInterface},
      {"network:router_gateway", PortRole::kRouterGateway},
      {"network:dhcp", PortRole::kDhcp},
      {"network:floatingip", PortRole::kFloatingIp},
  };
  if (device_owner.starts_with("compute:")) return PortRole::kVm;
  for (const auto& [owner, role] : kRoles) {
    if (device_owner == owner) return role;
  }
  if (device_owner.starts_with("network:")) return PortRole::kNetworkService;
  return PortRole::kOther;
}

namespace {

std::vector<SecurityGroupId> DecodePortGroups(const v1::Port& in, const Field& at) {
  std::vector<SecurityGroupId> out;
  if (!CheckCount(at.Sub("security_groups"), in.security_groups_size(), kMaxPortGroups)) return out;
  std::set<SecurityGroupId> seen;
  for (int i = 0; i < in.security_groups_size(); ++i) {
    const Field item = at.Item("security_groups", i);
    auto group = ReadId<SecurityGroupId>(item, in.security_groups(i), Presence::kRequired);
    if (group.empty()) continue;
    if (!seen.insert(group).second) item.Fail("{} is there twice; remove one", group);
    out.push_back(std::move(group));
  }
  return out;
}

Port DecodePort(const v1::Port& in, const Field& at) {
  Port out;
  out.id = ReadId<PortId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.name = ReadName(at.Sub("name"), in.name());
  out.project_id = ReadText(at.Sub("project_id"), in.project_id());
  out.network = ReadId<NetworkId>(at.Sub("network_id"), in.network_id(), Presence::kRequired);
  out.admin_state_up = !in.has_admin_state_up() || in.admin_state_up();
  if (const auto mac = ReadMac(at.Sub("mac_address"), in.mac_address(), Presence::kRequired)) out.mac = *mac;
  out.fixed_ips = DecodeFixedIps(in.fixed_ips(), at, "fixed_ips");
  out.allowed_address_pairs = DecodeAddressPairs(in, at);
  out.device_id = ReadText(at.Sub("device_id"), in.device_id());
  out.device_owner = ReadText(at.Sub("device_owner"), in.device_owner());
  out.role = RoleOf(out.device_owner);
  out.host = ReadId<HostId>(at.Sub("binding:host_id"), in.binding_host_id(), Presence::kOptional);
  out.vnic_type = ReadText(at.Sub("binding:vnic_type"), in.binding_vnic_type());
  out.port_security_enabled = !in.has_port_security_enabled() || in.port_security_enabled();
  out.security_groups = DecodePortGroups(in, at);
  if (out.role == PortRole::kRouterInterface && out.device_id.empty()) {
    at.Sub("device_id").Fail("is missing; a router interface names its router here");
  }
  return out;
}

// ---- routers

Gateway DecodeGateway(const v1::ExternalGatewayInfo& in, const Field& at) {
  Gateway out;
  out.network = ReadId<NetworkId>(at.Sub("network_id"), in.network_id(), Presence::kRequired);
  out.enable_snat = !in.has_enable_snat() || in.enable_snat();
  out.external_fixed_ips = DecodeFixedIps(in.external_fixed_ips(), at, "external_fixed_ips");
  return out;
}

Router DecodeRouter(const v1::Router& in, const Field& at) {
  Router out;
  out.id = ReadId<RouterId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.name = ReadName(at.Sub("name"), in.name());
  out.project_id = ReadText(at.Sub("project_id"), in.project_id());
  out.admin_state_up = !in.has_admin_state_up() || in.admin_state_up();
  out.routes = DecodeRoutes<ExtraRoute>(in.routes(), at, "routes");
  if (in.has_external_gateway_info()) {
    out.gateway = DecodeGateway(in.external_gateway_info(), at.Sub("external_gateway_info"));
  }
  return out;
}

// ---- floating IPs

FloatingIp DecodeFloatingIp(const v1::FloatingIp& in, const Field& at) {
  FloatingIp out;
  const Field fixed = at.Sub("fixed_ip_address");
  out.id = ReadId<FloatingIpId>(at.Sub("id"), in.id(), Presence::kRequired);
  ReadText(at.Sub("project_id"), in.project_id());
  out.floating_network =
      ReadId<NetworkId>(at.Sub("floating_network_id"), in.floating_network_id(), Presence::kRequired);
  const auto floating =
      ReadHostAddress(at.Sub("floating_ip_address"), in.floating_ip_address(), Presence::kRequired);
  if (floating) out.floating_ip_address = *floating;
  out.port = ReadId<PortId>(at.Sub("port_id"), in.port_id(), Presence::kOptional);
  out.fixed_ip_address = ReadHostAddress(fixed, in.fixed_ip_address(), Presence::kOptional);
  out.router = ReadId<RouterId>(at.Sub("router_id"), in.router_id(), Presence::kOptional);
  if (out.fixed_ip_address && in.port_id().empty()) {
    fixed.Fail("{} is given without port_id; name the port that has it", *out.fixed_ip_address);
  }
  if (floating && out.fixed_ip_address && floating->family() != out.fixed_ip_address->family()) {
    fixed.Fail("{} and floating_ip_address {} differ in family", *out.fixed_ip_address, *floating);
  }
  return out;
}

// ---- security groups

SecurityGroup DecodeSecurityGroup(const v1::SecurityGroup& in, const Field& at) {
  SecurityGroup out;
  out.id = ReadId<SecurityGroupId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.name = ReadName(at.Sub("name"), in.name());
  ReadText(at.Sub("project_id"), in.project_id());
  out.stateful = !in.has_stateful() || in.stateful();
  if (!CheckCount(at.Sub("security_group_rules"), in.security_group_rules_size(), kMaxRules)) return out;
  std::set<std::string> seen;
  for (int i = 0; i < in.security_group_rules_size(); ++i) {
    const Field item = at.Item("security_group_rules", i);
    SecurityGroupRule rule = DecodeSecurityGroupRule(in.security_group_rules(i), item);
    if (!rule.id.empty() && !seen.insert(rule.id).second) {
      item.Sub("id").Fail("{} is there twice; remove one of the rules", rule.id);
    }
    out.rules.push_back(std::move(rule));
  }
  return out;
}

// ---- address claims

AddressClaim DecodeAddressClaim(const v1::AddressClaim& in, const Field& at) {
  AddressClaim out;
  out.id = ReadId<AddressClaimId>(at.Sub("id"), in.id(), Presence::kRequired);
  out.network = ReadId<NetworkId>(at.Sub("network_id"), in.network_id(), Presence::kRequired);
  if (const auto ip = ReadHostAddress(at.Sub("ip_address"), in.ip_address(), Presence::kRequired))
    out.address = *ip;
  if (const auto mac = ReadMac(at.Sub("mac_address"), in.mac_address(), Presence::kRequired)) out.mac = *mac;
  out.port = ReadId<PortId>(at.Sub("port_id"), in.port_id(), Presence::kRequired);
  out.sequence = in.sequence();
  out.router = in.router();
  if (const AddressClaimId id = MakeClaimId(out.network, out.address); out.id != id) {
    at.Sub("id").Fail("must be {}, the network and the address", id);
  }
  return out;
}

template <typename Model>
AnyResource Shared(Model model) {
  return std::make_shared<const Model>(std::move(model));
}

std::optional<AnyResource> DecodeSpec(const v1::Resource& resource, const Field& at) {
  switch (resource.spec_case()) {
    case v1::Resource::kHost:
      return Shared(DecodeHost(resource.host(), at));
    case v1::Resource::kNetwork:
      return Shared(DecodeNetwork(resource.network(), at));
    case v1::Resource::kSubnet:
      return Shared(DecodeSubnet(resource.subnet(), at));
    case v1::Resource::kPort:
      return Shared(DecodePort(resource.port(), at));
    case v1::Resource::kRouter:
      return Shared(DecodeRouter(resource.router(), at));
    case v1::Resource::kFloatingIp:
      return Shared(DecodeFloatingIp(resource.floating_ip(), at));
    case v1::Resource::kSecurityGroup:
      return Shared(DecodeSecurityGroup(resource.security_group(), at));
    case v1::Resource::kAddressClaim:
      return Shared(DecodeAddressClaim(resource.address_claim(), at));
    case v1::Resource::SPEC_NOT_SET:
      break;
  }
  at.Fail("is of no kind known here; is the sender of another version?");
  return std::nullopt;
}

}  // namespace

std::string ToString(const Fault& fault) { return fmt::format("{}: {}", fault.path, fault.message); }

std::optional<AnyResource> Decode(const v1::Resource& resource, const std::string& path,
                                  std::vector<Fault>& faults) {
  const size_t before = faults.size();
  auto decoded = DecodeSpec(resource, Field(path, faults));
  if (faults.size() != before) return std::nullopt;
  return decoded;
}

}  // namespace kasane::model
