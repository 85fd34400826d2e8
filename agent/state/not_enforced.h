// What resources ask for that this version does not do, so that nothing is silently inert.
#pragma once

#include <string>
#include <vector>

#include "agent/state/network_state.h"

namespace kasane {

struct NotEnforcedItem {
  ResourceKey key;
  std::string name;     // The resource's name, for people.
  std::string feature;  // "security_groups", "gateway", "floating_ip", "dhcp", ...
  std::string detail;   // One sentence for the operator.

  bool operator==(const NotEnforcedItem&) const = default;
};

// Everything in `state` that is asked for and not enforced, sorted by key.
std::vector<NotEnforcedItem> NotEnforced(const NetworkState& state);

}  // namespace kasane
