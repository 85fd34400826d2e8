// How the kernel of each namespace behaves. Set before there are links, so that these take the defaults.
#pragma once

#include <absl/status/status.h>

#include "tests/lab/layout.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

// For all namespaces of the lab. Moves the calling thread through them and back.
absl::Status SetSysctls(const Layout& layout, const LabPlan& plan);

}  // namespace kasane::lab
