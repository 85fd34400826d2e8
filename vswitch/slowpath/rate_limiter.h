// Token buckets, one for each asker, so that one that storms takes nothing from the others. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
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
    if (buckets_.size() >= sweep_at_) Sweep(now);
    Bucket& bucket = buckets_.try_emplace(key, Bucket{limit_.burst, now}).first->second;
    bucket.tokens = TokensAt(bucket, now);
    bucket.filled = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  size_t size() const { return buckets_.size(); }

 private:
  static constexpr size_t kFirstSweep = 1024;

  struct Bucket {
    double tokens;
    Time filled;
  };

  double TokensAt(const Bucket& bucket, Time now) const {
    const std::chrono::duration<double> passed = now - bucket.filled;
    return std::min(limit_.burst, bucket.tokens + passed.count() * limit_.per_second);
  }

  // A full bucket says no more than none. Those that are left have been used within the last moments, so that
  // keys which are gone take no memory for long.
  void Sweep(Time now) {
    std::erase_if(buckets_, [&](const auto& entry) { return TokensAt(entry.second, now) >= limit_.burst; });
    sweep_at_ = std::max(kFirstSweep, 2 * buckets_.size());
  }

  RateLimit limit_;
  std::map<Key, Bucket> buckets_;
  size_t sweep_at_ = kFirstSweep;
};

}  // namespace kasane::slowpath
