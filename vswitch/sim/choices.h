// The choices of next hops that one walk makes, so that the next walk can make others: an odometer.
#pragma once

#include <cstddef>
#include <vector>

namespace kasane::sim {

class Choices {
 public:
  // Of `n` next hops, at least one, the one to take here.
  size_t Pick(size_t n) {
    if (at_ == made_.size()) made_.push_back({0, n});
    return made_[at_++].pick;
  }

  // To the next combination; false after the last.
  bool Next() {
    at_ = 0;
    while (!made_.empty() && ++made_.back().pick == made_.back().of) made_.pop_back();
    return !made_.empty();
  }

 private:
  struct Choice {
    size_t pick;
    size_t of;
  };
  std::vector<Choice> made_;
  size_t at_ = 0;
};

}  // namespace kasane::sim
