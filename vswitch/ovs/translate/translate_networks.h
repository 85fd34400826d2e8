// From the forwarding tables' networks and hosts to flows: what enters a network at all. One entry at a time.
// Used by compiler.cc only.
#pragma once

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

void TranslateNetwork(const tables::Claimant<tables::Network>& winner, FlowTable& out);

void TranslatePeer(const tables::Claimant<tables::Peer>& winner, const Bindings& bindings, FlowTable& out);

}  // namespace kasane::ovs
