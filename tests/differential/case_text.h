// A divergence as a case file: what `kasane-lab run` takes, so that a fault that was found once stays found.
#pragma once

#include <string>

#include "model/network_state.h"
#include "tests/random/random_frames.h"

namespace kasane::differential {

// The topology, the announcements that make its claims, the frame, and who must receive what by the reference.
// `why` is the case's sentence.
std::string CaseText(const model::NetworkState& state, const random::Stimulus& stimulus,
                     const std::string& why);

}  // namespace kasane::differential
