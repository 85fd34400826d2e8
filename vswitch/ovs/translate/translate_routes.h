// From the forwarding tables' routes and neighbours to flows: one entry at a time. Used by compiler.cc only.
#pragma once

#include <cstdint>

#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// `key` is the router's in reg::kRouter.
void TranslateRoute(const IpPrefix& destination, uint32_t router_key,
                    const tables::Claimant<tables::Route>& winner, FlowTable& out);

void TranslateNeighbour(const IpAddress& ip, const tables::Claimant<tables::Neighbour>& first, FlowTable& out);

void TranslateUnknownNeighbour(const IpPrefix& prefix, const tables::Claimant<tables::UnknownNeighbour>& winner,
                               FlowTable& out);

void TranslateRoutedNetwork(const tables::Claimant<tables::RoutedNetwork>& winner, FlowTable& out);

}  // namespace kasane::ovs
