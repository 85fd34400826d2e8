// The entries of ForwardingTables: a key and a value for each family. They know nothing of OpenFlow or BPF.
//
// Each entry holds all that its translation needs; a datapath translates it without a look at another one. Only
// what a datapath numbers itself (switch ports, routers, hosts) is not in it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/vni.h"
#include "vswitch/host_view.h"

namespace kasane::tables {

using MacKey = std::pair<NetworkId, MacAddress>;
using AddressKey = std::pair<NetworkId, IpAddress>;

// Another host and the VTEP to send to; without one it cannot be reached (no_tunnel).
struct RemotePlace {
  HostId host;
  std::optional<IpAddress> vtep;

  auto operator<=>(const RemotePlace&) const = default;
  bool operator==(const RemotePlace&) const = default;
};

// A plugged port of this host that is up.
struct LocalPlace {
  PortId port;

  bool operator==(const LocalPlace&) const = default;
};

// An interface of a distributed router; what enters a router that is down is dropped.
struct RouterPlace {
  RouterId router;
  bool up = true;

  bool operator==(const RouterPlace&) const = default;
};

// Any of several ports may be it: each gets a copy.
struct SeveralPlaces {
  std::vector<PortId> ports;  // Of this host. Sorted, as the hosts are.
  std::vector<RemotePlace> hosts;

  bool operator==(const SeveralPlaces&) const = default;
};

// --- L2: where a unicast MAC of a network leads -------------------------------------------------------------

struct MacPlace {
  Vni vni;
  std::variant<LocalPlace, RemotePlace, RouterPlace, SeveralPlaces> place;

  bool operator==(const MacPlace&) const = default;
};

// A MAC of another host's port, or of a router, in a network where a frame from a tunnel to a MAC that is
// nobody's goes to ports of this host: it is for none of them.
struct MacElsewhere {
  Vni vni;

  bool operator==(const MacElsewhere&) const = default;
};

// A host with ports without port security in a network: what comes from there with a source that is nobody's is
// learnt to be there.
using LearningKey = std::pair<NetworkId, HostId>;

struct LearningPeer {
  Vni vni;
  RemotePlace place;
  vswitch::TunnelAddresses sources;  // Outer sources that are this host.
  std::vector<PortId> behind;        // Those ports, sorted: what was learnt means nothing once they change.

  bool operator==(const LearningPeer&) const = default;
};

// --- Answers: who answers ARP and ND for an address ---------------------------------------------------------
// The winner's answer is given.

struct Answer {
  Vni vni;
  MacAddress mac;
  bool router = false;        // R of a neighbour advertisement.
  bool override_flag = true;  // O: cleared for anycast (RFC 4861, 7.2.4).
  std::vector<PortId> not_to =
      {};  // Ports of this host that have the address: they are never answered. Sorted.
  // A port of this host other than those may send the address as its own, by an announcement. It says, and asks
  // nothing. IPv4 only: IPv6 has a message of its own for that.
  bool announced_by_others = false;
  // Nobody else may take it over (a router's, a port's link-local address), so every other port's probe is
  // answered.
  bool exclusive = false;

  bool operator==(const Answer&) const = default;
};

// An ARP probe, or a duplicate address detection, of `port` for an address in `prefix` is not answered for who
// has it: the port may take the address over, and who has it must say itself that it lives.
struct ProbeKey {
  PortId port;  // Of this host.
  IpPrefix prefix;

  auto operator<=>(const ProbeKey&) const = default;
  bool operator==(const ProbeKey&) const = default;
};

struct Probe {
  Vni vni;

  bool operator==(const Probe&) const = default;
};

// --- Neighbours: the MAC of a router's next hop -------------------------------------------------------------
// In networks with a router that is up. Without a winner nobody has the address, and nobody is asked for it.

struct Neighbour {
  Vni vni;
  MacAddress mac;

  bool operator==(const Neighbour&) const = default;
};

// A next hop in `prefix` that is no neighbour may be owned by a port that has not announced it: it is asked.
struct UnknownNeighbourKey {
  NetworkId network;
  IpPrefix prefix;

  auto operator<=>(const UnknownNeighbourKey&) const = default;
  bool operator==(const UnknownNeighbourKey&) const = default;
};

struct UnknownNeighbour {
  Vni vni;

  bool operator==(const UnknownNeighbour&) const = default;
};

// --- Routes --------------------------------------------------------------------------------------------------

struct RouteKey {
  RouterId router;
  IpPrefix destination;

  auto operator<=>(const RouteKey&) const = default;
  bool operator==(const RouteKey&) const = default;
};

struct RouteHop {
  Vni vni;                           // Of the network that it leads into.
  MacAddress source;                 // MAC of the interface.
  std::optional<IpAddress> gateway;  // Absent: the destination itself is on the link.
  bool network_up = true;            // Else what takes this hop is dropped.
  std::optional<uint32_t> test_mtu;  // The network's MTU, where a larger packet can come this way.

  auto operator<=>(const RouteHop&) const = default;
  bool operator==(const RouteHop&) const = default;
};

struct Route {
  // Those that carry traffic: of several, only next hops that somebody has; if nobody has any, all.
  std::vector<RouteHop> hops;
  size_t unowned = 0;  // Next hops left out, since nobody has them.

  bool operator==(const Route&) const = default;
};

// --- Per network ---------------------------------------------------------------------------------------------

struct Network {
  Vni vni;
  bool up = true;  // What comes into one that is down is dropped; no other family has an entry of it.
  uint32_t mtu = 0;

  bool operator==(const Network&) const = default;
};

// Who gets a copy of a group frame, and of a frame to a MAC that is nobody's.
struct Replication {
  Vni vni;
  SeveralPlaces all;
  SeveralPlaces unsecured;  // Ports without port security: they alone may have MACs that nobody configured.

  bool operator==(const Replication&) const = default;
};

// What may be announced in a network so that an address moves.
struct Announcements {
  Vni vni;
  bool movable = false;                   // Some port may have an address that is not its own by configuration.
  std::set<IpPrefix> movable_v4;          // Those of IPv4.
  std::vector<RemotePlace> router_hosts;  // Hosts that only route into it: they must be told apart.

  bool operator==(const Announcements&) const = default;
};

// --- Routers ------------------------------------------------------------------------------------------------

struct Router {
  bool up = true;  // Else it has no interfaces, and what enters it is dropped.

  bool operator==(const Router&) const = default;
};

using InterfaceKey = std::pair<RouterId, PortId>;

// An interface of a router that is up: its MAC and the addresses that the router itself answers for.
struct Interface {
  Vni vni;
  bool network_up = true;  // Else nothing reaches it.
  vswitch::RouterPort port;

  bool operator==(const Interface&) const = default;
};

// A network into which a router may send what is too large for it.
struct RoutedNetwork {
  Vni vni;
  uint32_t mtu = 0;

  bool operator==(const RoutedNetwork&) const = default;
};

// --- Per port and host ---------------------------------------------------------------------------------------

using PortKey = std::pair<NetworkId, PortId>;

// A VM port, here or elsewhere, and what it may use as a source.
struct Port {
  Vni vni;
  MacAddress mac;
  std::optional<RemotePlace> remote;  // Where it is, if not here.
  bool up = true;                     // And, if it is here, plugged.
  bool secured = true;
  std::vector<vswitch::AllowedAddress> allowed;

  bool operator==(const Port&) const = default;
};

// What a port of this host may announce; an entry exists only where somebody must be told.
struct Announcer {
  Vni vni;
  std::set<IpPrefix> v4;

  bool operator==(const Announcer&) const = default;
};

// A host whose tunnels are let in.
struct Peer {
  std::optional<IpAddress> vtep;  // Where to send to it, as RemotePlace's.
  vswitch::TunnelAddresses addresses;

  bool operator==(const Peer&) const = default;
};

}  // namespace kasane::tables
