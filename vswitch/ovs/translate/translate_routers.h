// From the forwarding tables' router interfaces to flows: what is for the router itself. One entry at a time.
// Used by compiler.cc only.
#pragma once

#include <cstdint>

#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// What holds for all routers: hop count, TTL, what is never routed.
void CompileRouterPipeline(FlowTable& out);

// `router_number` is the router's in reg::kRouter.
void TranslateInterface(const tables::Claimant<tables::Interface>& winner, uint32_t router_number,
                        FlowTable& out);

}  // namespace kasane::ovs
