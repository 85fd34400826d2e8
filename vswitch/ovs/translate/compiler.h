// The OVS compiler: the forwarding tables and the switch's port numbers become the flows of br-int. Each entry
// is translated alone (translate_*.h); here is what holds on every host, and which family goes where.
//
// Pure and complete: the result is every flow that the bridge must hold, a function of the arguments
// alone, so that any two runs agree.
#pragma once

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// `tables` built with PluggedPorts(bindings): all ports that forward have a number.
FlowTable Compile(const tables::ForwardingTables& tables, const Bindings& bindings);

}  // namespace kasane::ovs
