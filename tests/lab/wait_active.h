// Waits until a lab forwards.
#pragma once

#include <absl/status/status.h>

#include <chrono>

#include "tests/lab/controller_client.h"
#include "tests/lab/layout.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

// Returns when the controller says that every VM's port is ACTIVE. An error names the ports that are not,
// with their hosts and why as far as it is known, and where the logs are; at once if a daemon ends.
absl::Status WaitUntilActive(const ControllerClient& client, const Layout& layout, const LabPlan& plan,
                             std::chrono::milliseconds deadline);

}  // namespace kasane::lab
