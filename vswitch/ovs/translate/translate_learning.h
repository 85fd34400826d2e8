// MACs that are nobody's, learnt by the switch itself behind ports without port security: from the forwarding
// tables' entries to the flows that learn, and those that send where it was learnt. Used by the files of this
// folder alone.
#pragma once

#include <cstdint>
#include <string>

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// The action that remembers that the packet's source is at `place` (learned_places.h), with a comma behind it.
// `owner` is whose share of the switch's table it takes.
std::string Learn(const vswitch::Owner& owner, uint32_t place);

// What was learnt at the place of a port of this host goes there, in kUnknown or kTunnelUnknown.
void AddLearntPort(Table table, Vni vni, const PortId& port, uint32_t place, const Bindings& bindings,
                   FlowTable& out);

// What was learnt at the place of a host goes there, and what comes from there is learnt.
void TranslateLearningPeer(const tables::LearningKey& key, const tables::Claimant<tables::LearningPeer>& winner,
                           uint32_t place, const Bindings& bindings, FlowTable& out);

// What is elsewhere is never taken for unknown when it comes through a tunnel.
void TranslateMacElsewhere(const tables::MacKey& key, const tables::Claimant<tables::MacElsewhere>& winner,
                           FlowTable& out);

}  // namespace kasane::ovs
