// Everything that is stored, at one revision. Immutable; unchanged resources are the same pointers in the
// next snapshot.
#pragma once

#include <map>
#include <memory>

#include "agent/state/decode.h"
#include "agent/state/network_state.h"

namespace kasane {

struct Snapshot {
  Revision revision;   // Of the last transaction; counter 0: there was none yet.
  NetworkState state;  // The same resources, decoded.
  std::map<ResourceKey, std::shared_ptr<const v1::Resource>> resources;  // As sent out, with their revisions.
};

}  // namespace kasane
