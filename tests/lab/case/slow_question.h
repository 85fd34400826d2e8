// A question that only the agent's slow path answers, as a fence behind frames that take it.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/lab/case/fence.h"
#include "tests/lab/case/resources.h"

namespace kasane::lab {

struct SlowQuestion {
  std::string frame;   // Packet text.
  std::string answer;  // Fields of what comes back to the asker.
};

// A solicitation of a neighbour's IPv6 address without a link-layer option, or a packet whose TTL ends at the
// IPv4 router. Nothing if the VM's network has neither, or the VM is not up.
std::optional<SlowQuestion> QuestionFor(const CaseResources& resources, const Vm& vm);

// Takes the answer out of `captured`; false if it is not there.
absl::StatusOr<bool> TakeAnswer(const SlowQuestion& question, const Vm& vm,
                                std::vector<CapturedFrame>& captured);

}  // namespace kasane::lab
