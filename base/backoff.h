// Back-off: how long to wait before trying again, growing with each failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace kasane {

struct BackoffOptions {
  std::chrono::milliseconds first{250};
  std::chrono::milliseconds max{30'000};
};

// Exponential with full jitter: the n-th wait is uniform between 0 and min(max, first * 2^n), so that
// many agents that lost one controller do not come back together. One owner.
class Backoff {
 public:
  Backoff(BackoffOptions options, uint64_t seed) : options_(options), random_(seed) {}

  // The wait after one more failure.
  std::chrono::milliseconds Next();
  void Reset() { failures_ = 0; }

  // The longest that the wait after `failures` earlier ones can be.
  static std::chrono::milliseconds Ceiling(const BackoffOptions& options, int failures);

 private:
  BackoffOptions options_;
  std::mt19937_64 random_;
  int failures_ = 0;
};

}  // namespace kasane
