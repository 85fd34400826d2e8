// From the forwarding tables' announcements to flows that show them to the agent: one entry at a time. The
// frames go on as any other; the agent gets a copy, sends it on to hosts that must be told apart, and follows
// the address. Used by compiler.cc only.
#pragma once

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

void TranslateAnnouncer(const PortId& port, const tables::Claimant<tables::Announcer>& winner,
                        const Bindings& bindings, FlowTable& out);

void TranslateAnnouncements(const tables::Claimant<tables::Announcements>& winner, FlowTable& out);

}  // namespace kasane::ovs
