// Shares of a room that many spend: nobody holds more than its own bound, nor more than there is room left, and
// who holds nothing finds room for one, however many hold how much. So the room holds `total`, and one of each
// further holder. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

namespace kasane {

template <typename Key>
class FairShare {
 public:
  FairShare(size_t total, size_t each) : total_(total), each_(each) {}

  bool HasRoom(const Key& key) const {
    const auto held = held_.find(key);
    const size_t has = held == held_.end() ? 0 : held->second;
    const size_t room = sum_ < total_ ? total_ - sum_ : 0;
    return has < std::clamp(room, size_t{1}, each_);
  }

  void Take(const Key& key) {
    ++held_[key];
    ++sum_;
  }
  // Of one that was taken.
  void Release(const Key& key) {
    const auto held = held_.find(key);
    if (--held->second == 0) held_.erase(held);
    --sum_;
  }
  void Clear() {
    held_.clear();
    sum_ = 0;
  }

 private:
  size_t total_;
  size_t each_;
  std::map<Key, size_t> held_;  // None is 0.
  size_t sum_ = 0;
};

}  // namespace kasane
