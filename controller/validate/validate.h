// Validation across references: judges the state as it would be after the whole transaction, and finds
// every fault at once. Pure.
//
// Only faults that the request causes are found: at its own resources, or at stored ones that it would
// break (those are named in the message, at the path of the item that breaks them). What was stored is
// taken to be sound. Time and memory are linear in the state, apart from sorting what is on one network
// or router.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/decode.h"
#include "model/network_state.h"

namespace kasane::controller {

// One resource of a request. With a value: create or replace. Without, and not a deletion: it could not be
// decoded, so it is taken to exist and judged no further.
struct RequestItem {
  std::string path;                       // "ports[3]"
  std::optional<model::ResourceKey> key;  // Absent only if it could not even be read.
  std::optional<model::AnyResource> value;
  bool deletion = false;
};

struct ItemFault {
  size_t item = 0;         // Index of the item that causes it.
  model::ResourceKey key;  // The resource that is wrong: the item's, or a stored one.
  std::string path;
  std::string message;

  bool operator==(const ItemFault&) const = default;
};

struct Judgement {
  std::vector<ItemFault> faults;    // In the order of the items.
  std::vector<ItemFault> warnings;  // Worth a look, but no reason to refuse.
};

// `before` is what is stored.
Judgement Validate(const model::NetworkState& before, const std::vector<RequestItem>& items);

}  // namespace kasane::controller
