// From the forwarding tables' answers and probes to flows: one entry at a time. Used by compiler.cc only.
#pragma once

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

void TranslateAnswer(const tables::AddressKey& key, const tables::Claimant<tables::Answer>& winner,
                     const Bindings& bindings, FlowTable& out);

void TranslateProbe(const tables::ProbeKey& key, const tables::Claimant<tables::Probe>& winner,
                    const Bindings& bindings, FlowTable& out);

}  // namespace kasane::ovs
