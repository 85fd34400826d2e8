// From the forwarding tables' MACs to flows: one entry at a time. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <map>

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

void TranslateMac(const tables::MacKey& key, const tables::Claimant<tables::MacPlace>& winner,
                  const Bindings& bindings, const std::map<RouterId, uint32_t>& router_keys, FlowTable& out);

}  // namespace kasane::ovs
