// The steps of BuildForwardingTables, one family or two each. Each reads the view and what earlier steps made,
// and adds its own. Used by the files of this folder alone.
#pragma once

#include <set>
#include <string>

#include "vswitch/datapath.h"
#include "vswitch/host_view.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::tables {

struct Source {
  const vswitch::HostView& view;
  const std::set<PortId>& plugged;

  const vswitch::NetworkView& Network(const NetworkId& id) const { return view.networks.at(id); }
  bool IsUp(const NetworkId& id) const { return Network(id).admin_state_up; }
  // Whether a port of this host forwards.
  bool Forwards(const vswitch::LocalPort& port) const {
    return port.admin_state_up && plugged.contains(port.id);
  }
  RemotePlace PlaceOf(const HostId& id) const;
};

using vswitch::HostOwner;
using vswitch::NetworkOwner;
using vswitch::PortOwner;
using vswitch::RouterOwner;

void AddPorts(const Source& source, ForwardingTables& out);        // ports.
void AddNetworks(const Source& source, ForwardingTables& out);     // networks, replication, hosts; needs ports.
void AddConfigured(const Source& source, ForwardingTables& out);   // macs, answers, routers, as configured.
void AddClaims(const Source& source, ForwardingTables& out);       // The same, by claims; needs the above.
void AddLearning(const Source& source, ForwardingTables& out);     // learning; needs ports.
void AddElsewhere(ForwardingTables& out);                          // elsewhere; needs macs and replication.
void AddPermissions(const Source& source, ForwardingTables& out);  // not_to, probes; needs the above.
void AddAnnouncements(const Source& source, ForwardingTables& out);  // announcements, announcers.
void AddNeighbours(const Source& source, ForwardingTables& out);     // neighbours and unknown ones, routed.
void AddRoutes(const Source& source, ForwardingTables& out);         // routes; needs answers.

}  // namespace kasane::tables
