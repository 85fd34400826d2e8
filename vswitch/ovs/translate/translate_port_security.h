// Port security (anti-spoofing): from a port of the forwarding tables, with the sources that it may use, to
// flows. Used by the files of this folder alone.
#pragma once

#include <cstdint>

#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// What holds for every port.
void CompilePortSecurityPipeline(FlowTable& out);

// The sources that a port with port security may use. `number` is the switch's.
void TranslateSources(const tables::Claimant<tables::Port>& winner, uint32_t number, FlowTable& out);

// Without port security: everything, and what it sends is learned to be at `place` (learned_places.h).
void AddAnySource(const vswitch::Owner& owner, uint32_t number, uint32_t place, FlowTable& out);

}  // namespace kasane::ovs
