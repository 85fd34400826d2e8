// The part of the OVS compiler that makes copies: replication of group addresses, and unknown unicast in
// networks that have ports with port security off. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// Switch ports of a network that are up.
struct NetworkPorts {
  std::map<PortId, uint32_t> all;
  std::map<PortId, uint32_t> unsecured;  // Those of them with port security off ...
  std::map<PortId, uint32_t> places;     // ... and their numbers in reg::kLearnedPlace.
};

// Actions that send the packet into the tunnel to a host; empty: it cannot be reached.
std::string ToTunnel(const vswitch::HostView& view, const HostId& id, const Bindings& bindings);

// With a comma behind it.
std::string SetTunnelId(Vni vni);

// The action that remembers that the packet's source is behind the local port with this place, with a comma
// behind it.
std::string LearnLocal(const vswitch::Owner& owner, uint32_t place);

void CompileNetwork(const vswitch::HostView& view, const vswitch::NetworkView& network,
                    const Bindings& bindings, const NetworkPorts& ports, FlowTable& out);

}  // namespace kasane::ovs
