// Everything that is stored, at one revision. Immutable; unchanged resources are the same pointers in the
// next snapshot.
#pragma once

#include <map>
#include <memory>

#include "model/decode.h"
#include "model/network_state.h"

namespace kasane::controller {

struct Snapshot {
  model::Revision revision;   // Of the last transaction; counter 0: there was none yet.
  model::NetworkState state;  // The same resources, decoded.
  std::map<model::ResourceKey, std::shared_ptr<const v1::Resource>>
      resources;  // As sent out, with their revisions.
};

}  // namespace kasane::controller
