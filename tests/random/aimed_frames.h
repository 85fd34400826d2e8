// Frames for situations that a view holds and that frames drawn blindly rarely meet.
#pragma once

#include <optional>

#include "tests/random/random_frames.h"

namespace kasane::random {

// Of one of the situations, from a port of this host that may send it; nothing if the view does not hold it.
std::optional<Stimulus> AimedStimulus(const vswitch::HostView& view, Random& random);

}  // namespace kasane::random
