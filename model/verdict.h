// What an agent holds of the network state, and what became of what it was sent.
#pragma once

#include <vector>

#include "model/decode.h"
#include "model/network_state.h"

namespace kasane::model {

struct HeldResource {
  ResourceKey key;
  Revision revision;

  bool operator==(const HeldResource&) const = default;
};

// What became of one version of a resource. No faults: accepted.
struct Verdict {
  ResourceKey key;
  Revision revision;
  std::vector<Fault> faults;

  bool operator==(const Verdict&) const = default;
};

}  // namespace kasane::model
