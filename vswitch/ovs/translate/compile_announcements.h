// The part of the OVS compiler that shows announcements (gratuitous ARP, unsolicited neighbour advertisements)
// to the agent. They are flooded like any group frame; the agent gets a copy, sends it on to the hosts that
// only route into the network, and follows the address. Used by compiler.cc only.
#pragma once

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

void CompileAnnouncements(const vswitch::HostView& view, const Bindings& bindings, FlowTable& out);

}  // namespace kasane::ovs
