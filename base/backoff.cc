#include "base/backoff.h"

#include <algorithm>
#include <chrono>

namespace kasane {

std::chrono::milliseconds Backoff::Ceiling(const BackoffOptions& options, int failures) {
  std::chrono::milliseconds ceiling = options.first;
  for (int i = 0; i < failures && ceiling < options.max; ++i) ceiling *= 2;
  return std::min(ceiling, options.max);
}

std::chrono::milliseconds Backoff::Next() {
  const std::chrono::milliseconds ceiling = Ceiling(options_, failures_);
  if (ceiling < options_.max) ++failures_;
  std::uniform_int_distribution<std::chrono::milliseconds::rep> wait(0, ceiling.count());
  return std::chrono::milliseconds(wait(random_));
}

}  // namespace kasane
