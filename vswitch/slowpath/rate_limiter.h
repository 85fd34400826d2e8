// Token buckets, one for each asker, so that one that storms takes nothing from the others. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>

namespace kasane::slowpath {

// At most `burst` at once and `per_second` in the long run.
struct RateLimit {
  double per_second = 100;
  double burst = 100;
};

template <typename Key>
class RateLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RateLimiter(RateLimit limit) : limit_(limit) {}

  // Whether `key` may go on at `now`. Times do not go backwards.
  bool Allow(const Key& key, Time now) {
    const auto [entry, is_new] = buckets_.try_emplace(key, Bucket{limit_.burst, now});
    Bucket& bucket = entry->second;
    const std::chrono::duration<double> passed = now - bucket.filled;
    bucket.tokens = std::min(limit_.burst, bucket.tokens + passed.count() * limit_.per_second);
    bucket.filled = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  template <typename Predicate>
  void EraseIf(const Predicate& gone) {
    std::erase_if(buckets_, [&](const auto& entry) { return gone(entry.first); });
  }

 private:
  struct Bucket {
    double tokens;
    Time filled;
  };

  RateLimit limit_;
  std::map<Key, Bucket> buckets_;
};

}  // namespace kasane::slowpath
