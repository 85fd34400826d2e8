// A response that may be too large for one message, in parts that merge into it.
#pragma once

#include <vector>

#include "kasane/v1/controller.pb.h"

namespace kasane::controller {

// At least one.
std::vector<v1::ImportResponse> PartsOf(v1::ApplyResponse whole);

}  // namespace kasane::controller
