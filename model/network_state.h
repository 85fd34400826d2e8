// NetworkState: the tenant resources, decoded once into typed values. The agent and the controller share
// this form; nothing behind it sees protobuf.
//
// An immutable snapshot: one writer builds the next one from the last, copying the maps and sharing every
// resource that did not change, so that a pointer comparison finds the delta. Readers on any thread hold
// a shared_ptr<const NetworkState>.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/shared_map.h"
#include "base/vni.h"

namespace kasane::model {

enum class Kind : uint8_t {
  kHost = 1,
  kNetwork,
  kSubnet,
  kPort,
  kRouter,
  kFloatingIp,
  kSecurityGroup,
  kAddressClaim
};

inline constexpr Kind kAllKinds[] = {Kind::kHost,          Kind::kNetwork,     Kind::kSubnet,
                                     Kind::kPort,          Kind::kRouter,      Kind::kFloatingIp,
                                     Kind::kSecurityGroup, Kind::kAddressClaim};

std::string_view Label(Kind kind);                        // "port"
std::string_view Plural(Kind kind);                       // "ports": the section of a resource file
std::optional<Kind> KindFromText(std::string_view text);  // Either form, '-' and '_' alike.

struct ResourceKey {
  Kind kind = Kind::kHost;
  std::string id;

  auto operator<=>(const ResourceKey&) const = default;
  bool operator==(const ResourceKey&) const = default;
};

std::string ToString(const ResourceKey& key);  // "port 23a5701f-..."

struct Revision {
  std::string timeline;
  uint64_t counter = 0;

  bool operator==(const Revision&) const = default;
};

struct Host {
  HostId id;
  std::optional<IpAddress> tunnel_v4;
  std::optional<IpAddress> tunnel_v6;
  bool pinned = false;

  bool operator==(const Host&) const = default;
};

enum class NetworkType : uint8_t { kVxlan, kFlat, kVlan, kLocal };

struct Network {
  NetworkId id;
  std::string name;
  std::string project_id;
  bool admin_state_up = true;
  uint32_t mtu = 1450;  // Bytes of IP packet.
  NetworkType type = NetworkType::kVxlan;
  std::optional<Vni> vni;  // Present exactly for vxlan.
  uint32_t vlan = 0;       // For vlan.
  bool external = false;
  bool shared = false;
  bool port_security_enabled = true;

  bool operator==(const Network&) const = default;
};

struct HostRoute {
  IpPrefix destination;
  IpAddress nexthop;

  bool operator==(const HostRoute&) const = default;
};

struct Subnet {
  SubnetId id;
  std::string name;
  NetworkId network;
  IpPrefix cidr;
  std::optional<IpAddress> gateway_ip;
  bool enable_dhcp = false;
  std::vector<HostRoute> host_routes;
  std::string ipv6_address_mode;
  std::string ipv6_ra_mode;

  bool operator==(const Subnet&) const = default;
};

struct FixedIp {
  SubnetId subnet;
  IpAddress address;

  bool operator==(const FixedIp&) const = default;
};

struct AllowedAddressPair {
  IpPrefix prefix;
  std::optional<MacAddress> mac;  // Absent: the port's own.

  bool operator==(const AllowedAddressPair&) const = default;
};

// What a port is for, from device_owner. kNetworkService: any other owner of Neutron's own, "network:...", such
// as the SNAT port of a distributed router, an agent's gateway or the metadata service.
enum class PortRole : uint8_t {
  kVm,
  kRouterInterface,
  kRouterGateway,
  kDhcp,
  kFloatingIp,
  kNetworkService,
  kOther
};

struct Port {
  PortId id;
  std::string name;
  std::string project_id;
  NetworkId network;
  bool admin_state_up = true;
  MacAddress mac;
  std::vector<FixedIp> fixed_ips;
  std::vector<AllowedAddressPair> allowed_address_pairs;
  std::string device_id;
  std::string device_owner;
  PortRole role = PortRole::kOther;
  HostId host;            // Empty: unbound.
  std::string vnic_type;  // How Nova plugs it: "normal", "direct", ... Empty: normal.
  bool port_security_enabled = true;
  std::vector<SecurityGroupId> security_groups;

  bool operator==(const Port&) const = default;
};

// Whether the port is for a machine that something plugs into a switch, bound to a host or not yet: see
// IsPlugged.
bool IsForMachine(const Port& port);

// Whether a machine of a tenant is plugged into the switch of the port's host: what Nova and the like plug
// (compute:...), or a person (no owner). Every other owner (Neutron's own, a subport of a trunk, bare metal, a
// load balancer's address) has no interface on a hypervisor: its port means nothing by port security that is
// off, and its addresses are its own.
bool IsPlugged(const Port& port);

struct ExtraRoute {
  IpPrefix destination;
  IpAddress nexthop;

  bool operator==(const ExtraRoute&) const = default;
};

struct Gateway {
  NetworkId network;
  bool enable_snat = true;
  std::vector<FixedIp> external_fixed_ips;

  bool operator==(const Gateway&) const = default;
};

struct Router {
  RouterId id;
  std::string name;
  std::string project_id;
  bool admin_state_up = true;
  std::vector<ExtraRoute> routes;
  std::optional<Gateway> gateway;

  bool operator==(const Router&) const = default;
};

struct FloatingIp {
  FloatingIpId id;
  NetworkId floating_network;
  IpAddress floating_ip_address;
  PortId port;  // Empty: not associated.
  std::optional<IpAddress> fixed_ip_address;
  RouterId router;

  bool operator==(const FloatingIp&) const = default;
};

struct SecurityGroupRule {
  std::string id;
  bool ingress = true;
  IpFamily ethertype = IpFamily::kV4;
  std::optional<uint8_t> protocol;  // IP protocol number. Absent: any.
  std::optional<uint16_t> port_range_min;
  std::optional<uint16_t> port_range_max;
  std::optional<IpPrefix> remote_ip_prefix;
  SecurityGroupId remote_group;      // Empty: any.
  std::string remote_address_group;  // Not empty: its members are not known here, so the rule allows nothing.

  bool operator==(const SecurityGroupRule&) const = default;
};

struct SecurityGroup {
  SecurityGroupId id;
  std::string name;
  bool stateful = true;
  std::vector<SecurityGroupRule> rules;

  bool operator==(const SecurityGroup&) const = default;
};

// Which port was last heard to speak for an address (a gratuitous ARP, an unsolicited neighbour
// advertisement). Observed by the hosts, never applied from a file.
struct AddressClaim {
  AddressClaimId id;  // MakeClaimId of network and address.
  NetworkId network;
  IpAddress address;
  MacAddress mac;
  PortId port;
  uint64_t sequence = 0;  // Of claims on one address, the larger (sequence, port) is the newer.
  bool router = false;    // It advertised itself as a router (RFC 4861, 4.4: R).

  bool operator==(const AddressClaim&) const = default;
};

AddressClaimId MakeClaimId(const NetworkId& network, const IpAddress& address);

// Readers must expect dangling references: a resource may be rejected on its own, or out of scope here.
struct NetworkState {
  SharedMap<HostId, std::shared_ptr<const Host>> hosts;
  SharedMap<NetworkId, std::shared_ptr<const Network>> networks;
  SharedMap<SubnetId, std::shared_ptr<const Subnet>> subnets;
  SharedMap<PortId, std::shared_ptr<const Port>> ports;
  SharedMap<RouterId, std::shared_ptr<const Router>> routers;
  SharedMap<FloatingIpId, std::shared_ptr<const FloatingIp>> floating_ips;
  SharedMap<SecurityGroupId, std::shared_ptr<const SecurityGroup>> security_groups;
  SharedMap<AddressClaimId, std::shared_ptr<const AddressClaim>> address_claims;
};

}  // namespace kasane::model
