// The routers' part of the OVS compiler: entry, routes and neighbours. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <map>

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// What holds for all routers: hop count, TTL, what is never routed.
void CompileRouterPipeline(FlowTable& out);

// The routers' numbers in reg::kRouter, unique within the host: RouterKey, and the next free number where two
// routers' hashes collide.
std::map<RouterId, uint32_t> AssignRouterKeys(const std::map<RouterId, vswitch::RouterView>& routers);

// One router: its MACs, its own addresses, its routes.
void CompileRouter(const vswitch::HostView& view, const vswitch::RouterView& router, uint32_t key,
                   FlowTable& out);

// (network, next hop) to MAC, for every network with a router.
void CompileNeighbours(const vswitch::HostView& view, FlowTable& out);

}  // namespace kasane::ovs
