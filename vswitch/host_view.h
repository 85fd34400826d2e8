// HostView: the forwarding facts of one host, everything resolved. It is what every datapath and the
// reference implementation consume, and it knows neither protobuf nor gRPC nor OpenFlow.
//
// An immutable value, built whole from a NetworkState (view/host_view_builder.h) and then only
// read, from any thread. All lists are sorted by their ids or keys, so that equal facts compare equal
// and compile to equal output.
//
// What a HostView holds: the networks of this host's ports and, transitively through routers that are
// up, the networks these reach; never through a router:external network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/vni.h"

namespace kasane::vswitch {

// A packet passes at most this many routers on one host; the next one drops it as router_loop.
inline constexpr int kMaxRouterHops = 8;

// At most one VTEP address per family.
struct TunnelAddresses {
  std::optional<IpAddress> v4;
  std::optional<IpAddress> v6;

  bool operator==(const TunnelAddresses&) const = default;
};

// Another host that shares a network with this one or is reached through a router.
struct RemoteHost {
  HostId id;
  // Where to send to it: of a family that both have, IPv4 first. Absent: none in common, or the host
  // has not said Hello yet; packets to its ports drop as no_tunnel.
  std::optional<IpAddress> vtep;
  // All its addresses: an outer source that is none of these is unknown_vtep.
  TunnelAddresses addresses;

  bool operator==(const RemoteHost&) const = default;
};

// A source that a port with port security may use: these addresses with this MAC, inside and outside.
struct AllowedAddress {
  MacAddress mac;
  IpPrefix prefix;

  auto operator<=>(const AllowedAddress&) const = default;
  bool operator==(const AllowedAddress&) const = default;
};

// A VM port plugged, or to be plugged, on this host.
struct LocalPort {
  PortId id;
  std::string name;
  NetworkId network;
  MacAddress mac;
  std::vector<IpAddress> ips;
  bool admin_state_up = true;
  bool port_security_enabled = true;
  // Its fixed IPs, allowed address pairs, and the link-local address of each MAC among them. Sorted.
  std::vector<AllowedAddress> allowed = {};

  bool operator==(const LocalPort&) const = default;
};

// A VM port on another host.
struct RemoteEndpoint {
  PortId id;
  std::string name;
  NetworkId network;
  HostId host;
  MacAddress mac;
  std::vector<IpAddress> ips;
  bool port_security_enabled = true;
  std::vector<AllowedAddress> allowed = {};  // As LocalPort's.

  bool operator==(const RemoteEndpoint&) const = default;
};

struct NetworkView {
  NetworkId id;
  std::string name;
  Vni vni;
  uint32_t mtu = 1450;  // Bytes of IP packet.
  bool admin_state_up = true;
  // Other hosts with a port that is up in this network: the head-end replication list, sorted.
  std::vector<HostId> flood_hosts;
  // Hosts that only route into this network: they too must hear who speaks for an address in it. Sorted.
  std::vector<HostId> router_hosts = {};

  bool operator==(const NetworkView&) const = default;
};

// One interface of a distributed router. IPv4 and IPv6 interfaces on one network may be separate ports
// with different MACs.
struct RouterPort {
  PortId id;
  NetworkId network;
  MacAddress mac;
  std::vector<IpPrefix> addresses;  // Interface address with its subnet's length, host bits kept.
  IpAddress link_local;             // EUI-64 of `mac`.

  bool operator==(const RouterPort&) const = default;
};

enum class RouteOrigin : uint8_t { kConnected, kExtra };

struct NextHop {
  PortId out_port;                   // RouterPort that the packet leaves by.
  std::optional<IpAddress> gateway;  // Absent: the destination itself is on the link.

  auto operator<=>(const NextHop&) const = default;
  bool operator==(const NextHop&) const = default;
};

struct Route {
  IpPrefix destination;
  RouteOrigin origin = RouteOrigin::kConnected;
  std::vector<NextHop> next_hops;  // Sorted, not empty. More than one: ECMP.

  bool operator==(const Route&) const = default;
};

struct RouterView {
  RouterId id;
  std::string name;
  bool admin_state_up = true;
  std::vector<RouterPort> ports;  // Sorted by id.
  std::vector<Route> routes;      // One per destination, sorted: the connected one wins over an extra one.

  bool operator==(const RouterView&) const = default;
};

// Who speaks for an address on a network now, as it was heard there: a gratuitous ARP or an unsolicited
// neighbour advertisement moved it. A claim goes before the fixed IPs of the ports.
struct AddressClaim {
  MacAddress mac;
  PortId port;            // Here or elsewhere, in the claim's network.
  uint64_t sequence = 0;  // The larger one is the newer.
  bool router = false;    // It advertised itself as a router: answers given for it set R (RFC 4861, 7.2.4).

  bool operator==(const AddressClaim&) const = default;
};

// A port that is plugged nowhere that we know of, whose addresses are configured all the same: nobody answers
// for them or reaches them, but they are not free either. Neutron's own ports (DHCP, SNAT, ...), VM ports that
// are down on another host or not bound, subports of trunks. Every host knows those of its networks, so that
// all decide a claim alike.
struct ReservedPort {
  PortId id;
  std::string name;
  NetworkId network;
  MacAddress mac;
  std::vector<IpAddress> ips;
  // Neutron's own: not even an allowed address pair lets a VM speak for its addresses.
  bool infrastructure = false;

  bool operator==(const ReservedPort&) const = default;
};

using ClaimKey = std::pair<NetworkId, IpAddress>;

struct HostView {
  HostId host;
  TunnelAddresses tunnel_addresses;
  std::map<NetworkId, NetworkView> networks;
  std::map<PortId, LocalPort> ports;
  std::map<PortId, RemoteEndpoint> endpoints;
  std::map<RouterId, RouterView> routers;
  std::map<HostId, RemoteHost> hosts;       // Never this host.
  std::map<ClaimKey, AddressClaim> claims;  // In force: each may be made (vswitch/claims.h).
  std::map<PortId, ReservedPort> reserved = {};

  bool operator==(const HostView&) const = default;
};

// Multi-line text for people and tests, stable for equal views.
std::string ToString(const HostView& view);

// `view` as it is while only the local ports in `plugged` have an interface: the others are reserved, and what
// they claimed is no more claimed.
HostView WithPlugged(HostView view, const std::set<PortId>& plugged);

// The router port with this id, or nullptr.
const RouterPort* FindRouterPort(const RouterView& router, const PortId& id);

}  // namespace kasane::vswitch
