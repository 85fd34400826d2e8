// A set of prefixes that tells whether any of them holds an address, in time that depends on how many
// different lengths there are and not on how many prefixes. Internal to validation.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/ip_address.h"

namespace kasane::controller::validation {

class PrefixSet {
 public:
  void Add(const IpPrefix& prefix) {
    prefixes_.insert(prefix.Network());
    lengths_.emplace(prefix.family(), prefix.length());
  }

  bool Contains(const IpAddress& address) const {
    return std::any_of(lengths_.begin(), lengths_.end(), [&](const std::pair<IpFamily, int>& entry) {
      return entry.first == address.family() && prefixes_.contains(IpPrefix(address, entry.second).Network());
    });
  }

 private:
  absl::flat_hash_set<IpPrefix> prefixes_;
  std::set<std::pair<IpFamily, int>> lengths_;  // Those that occur.
};

}  // namespace kasane::controller::validation
