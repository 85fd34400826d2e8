// From the forwarding tables' ports to flows: the way in and out of each port of this host. One entry at a
// time. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <map>

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// Nothing for a port that is elsewhere, or not plugged. `learned_ports`: the places of the ports of this host
// without port security (numbers.h).
void TranslatePort(const tables::PortKey& key, const tables::Claimant<tables::Port>& winner,
                   const Bindings& bindings, const std::map<PortId, uint32_t>& learned_ports, FlowTable& out);

}  // namespace kasane::ovs
