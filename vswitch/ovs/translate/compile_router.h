// The routers' part of the OVS compiler: what enters one, and what is for itself. Used by compiler.cc only.
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

// One router's own addresses.
void CompileRouter(const vswitch::HostView& view, const vswitch::RouterView& router, uint32_t key,
                   FlowTable& out);

}  // namespace kasane::ovs
