// A VM: a namespace with one interface, and a responder that answers probes with its name.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "tests/lab/layout.h"
#include "tests/lab/plan.h"
#include "tests/lab/programs.h"

namespace kasane::lab {

// How probes are answered: by processes, which stay, or by threads of this one, which end with it.
enum class Responders { kProcesses, kThreads };

// Gives all VMs their addresses and routes and starts their responders; returns when these answer. The
// links must be there.
absl::Status StartVms(const Layout& layout, const LabPlan& plan, const Programs& programs,
                      Responders responders);

}  // namespace kasane::lab
