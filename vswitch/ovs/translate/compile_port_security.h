// Port security (anti-spoofing) in the OVS compiler. Used by compiler.cc only.
#pragma once

#include <cstdint>
#include <optional>

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// What holds for every port.
void CompilePortSecurityPipeline(FlowTable& out);

// The sources that the port may use; everything, when its port security is off: then what it sends is learned
// to be at `place` (learned_places.h).
void CompilePortSecurity(const vswitch::LocalPort& port, uint32_t ofport, std::optional<uint32_t> place,
                         FlowTable& out);

}  // namespace kasane::ovs
