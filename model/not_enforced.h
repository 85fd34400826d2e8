// What resources ask for that this version does not do, so that nothing is silently inert.
#pragma once

#include <string>
#include <vector>

#include "model/network_state.h"

namespace kasane::model {

struct NotEnforcedItem {
  ResourceKey key;
  std::string name;     // The resource's name, for people.
  std::string feature;  // "security_groups", "gateway", "floating_ip", "dhcp", ...
  std::string detail;   // One sentence for the operator.

  bool operator==(const NotEnforcedItem&) const = default;
};

// Everything in `state` that is asked for and not enforced, sorted by key.
std::vector<NotEnforcedItem> NotEnforced(const NetworkState& state);

}  // namespace kasane::model
