// ForwardingTables: what a HostView means, decided once for all datapaths, in entries (entries.h) that know
// nothing of OpenFlow or BPF. Who owns an address, claims before fixed IPs, anycast, reachability, who must be
// told of what: decided here and nowhere else (sim decides for itself, to check this).
//
// Immutable once built; any thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vswitch/host_view.h"
#include "vswitch/tables/entries.h"
#include "vswitch/tables/table.h"

namespace kasane::tables {

struct ForwardingTables {
  Table<MacKey, MacPlace> macs;
  Table<MacKey, MacElsewhere> elsewhere;
  Table<LearningKey, LearningPeer> learning;
  Table<AddressKey, Answer> answers;
  Table<ProbeKey, Probe> probes;
  Table<AddressKey, Neighbour> neighbours;
  Table<UnknownNeighbourKey, UnknownNeighbour> unknown_neighbours;
  Table<RouteKey, Route> routes;
  Table<NetworkId, Network> networks;
  Table<NetworkId, Replication> replication;
  Table<NetworkId, Announcements> announcements;
  Table<NetworkId, RoutedNetwork> routed;
  Table<RouterId, Router> routers;
  Table<InterfaceKey, Interface> interfaces;
  Table<PortKey, Port> ports;
  Table<PortId, Announcer> announcers;
  Table<HostId, Peer> hosts;

  bool operator==(const ForwardingTables&) const = default;
};

// `plugged`: the ports of the view that an interface of the switch is bound to. One that is not forwards
// nothing and owns nothing, but what is configured for it is nobody else's.
ForwardingTables BuildForwardingTables(const vswitch::HostView& view, const std::set<PortId>& plugged);

// One claimant of an entry as neutral text.
struct EntryText {
  std::string family;  // "mac", "answer", ...
  std::optional<NetworkId> network;
  vswitch::Owner owner;
  std::string key;
  std::string rank;
  std::string value;
  bool wins = true;
};

// Every claimant of every entry, family by family, by key, the winner first.
std::vector<EntryText> Describe(const ForwardingTables& tables);

// A line a claimant, stable for equal tables.
std::string ToString(const ForwardingTables& tables);

}  // namespace kasane::tables
