// From the forwarding tables' replication to flows: the copies of group addresses, and of unknown unicast in
// networks that have ports with port security off. One entry at a time. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <map>

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// `learned_ports`: the places of the ports of this host without port security (numbers.h).
void TranslateReplication(const tables::Claimant<tables::Replication>& winner, const Bindings& bindings,
                          const std::map<PortId, uint32_t>& learned_ports, FlowTable& out);

}  // namespace kasane::ovs
