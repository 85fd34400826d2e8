// ForwardingTables: what a HostView means, decided once for all datapaths, in entries (entries.h) that know
// nothing of OpenFlow or BPF. Who owns an address, claims before fixed IPs, anycast, reachability, who must be
// told of what: decided here and nowhere else (sim decides for itself, to check this).
//
// Immutable once built; any thread.
#pragma once

#include <set>

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

}  // namespace kasane::tables
