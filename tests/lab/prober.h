// Sends probes from the VMs of a lab and says who answered.
//
// That nobody answers is proved by a fence, never by a timer: in each round a VM sends first the probes
// that nobody should answer, then those that somebody should. The round is complete when all of the
// latter were answered. A probe is silent if it went unanswered through kRounds complete rounds.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "tests/lab/layout.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

inline constexpr int kRounds = 3;

struct Probe {
  size_t vm = 0;  // Sender: index in LabPlan::vms.
  IpAddress to;
  bool fence = false;  // Somebody should answer: the VM's rounds wait for it.
};

struct ProbeResult {
  std::set<std::string> answered_by;
  // False: nobody answered, and the fence behind it did not stand either, so that this says nothing.
  bool proved = false;
  absl::Status sent = absl::OkStatus();  // The first fault of sending it, which makes silence say nothing.
};

// One result per probe. Takes as long as the slowest VM's rounds, at most `deadline`. A fence probe that
// stays silent for a third of that is given up, and the others are the fence.
absl::StatusOr<std::vector<ProbeResult>> RunProbes(const Layout& layout, const LabPlan& plan,
                                                   const std::vector<Probe>& probes,
                                                   std::chrono::milliseconds deadline);

}  // namespace kasane::lab
