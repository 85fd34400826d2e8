// The choices of next hops that one walk makes, so that the next walk can make others: an odometer.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"

namespace kasane::sim {

class Choices {
 public:
  // Where the packets of a flow choose alike: a router, and where they go.
  using Flow = std::pair<RouterId, IpAddress>;

  // Of `n` next hops, at least one, the one to take here.
  size_t Pick(size_t n) {
    if (at_ == made_.size()) made_.push_back({0, n});
    return made_[at_++].pick;
  }

  // The same for each packet of `flow` in this walk.
  size_t PickFor(const Flow& flow, size_t n) {
    const auto [known, is_new] = flows_.try_emplace(flow, 0);
    if (is_new) known->second = Pick(n);
    return known->second;
  }

  // To the next combination; false after the last.
  bool Next() {
    at_ = 0;
    flows_.clear();
    while (!made_.empty() && ++made_.back().pick == made_.back().of) made_.pop_back();
    return !made_.empty();
  }

 private:
  struct Choice {
    size_t pick;
    size_t of;
  };
  std::vector<Choice> made_;
  std::map<Flow, size_t> flows_;
  size_t at_ = 0;
};

}  // namespace kasane::sim
