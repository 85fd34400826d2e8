// Port security (anti-spoofing) in the OVS compiler. Used by compiler.cc only.
#pragma once

#include <cstdint>

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// What holds for every port.
void CompilePortSecurityPipeline(FlowTable& out);

// The sources that the port may use; everything, when its port security is off.
void CompilePortSecurity(const vswitch::LocalPort& port, uint32_t ofport, FlowTable& out);

}  // namespace kasane::ovs
