// One random cloud on the switch: frames through it, changes of it, and what differs from the reference.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

#include "tests/differential/switch_under_test.h"
#include "tests/random/kinds.h"

namespace kasane::differential {

struct CloudOptions {
  uint64_t seed = 1;
  int packets = 200;
  random::Kinds kinds;
  bool drops_of_each = false;  // Drops are compared behind each frame, which takes its time, not at the end.
  std::string case_directory;  // Where a divergence is written as a case. Empty: nowhere.
};

struct CloudOutcome {
  int frames = 0;
  int divergences = 0;
};

// Stops at the first divergence, which is printed. An error means that the switch could not be used.
absl::StatusOr<CloudOutcome> RunCloud(SwitchUnderTest& under_test, const CloudOptions& options);

}  // namespace kasane::differential
