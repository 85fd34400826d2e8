// A host that comes into being, or changes its addresses, by its agent's Hello.
#pragma once

#include <absl/status/status.h>

#include "controller/store/state_hub.h"

namespace kasane::controller {

// Makes the host known with the tunnel addresses that its agent announces. FAILED_PRECONDITION if its
// addresses are pinned to others, or if another host has one of them.
absl::Status AdmitHost(StateHub& hub, const model::Host& announced);

}  // namespace kasane::controller
