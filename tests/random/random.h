// Draws from a seed, for the generators of the differential test.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/check.h"

namespace kasane::random {

using Random = std::mt19937_64;

inline uint64_t Below(Random& random, uint64_t limit) {
  return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random);
}

inline bool Chance(Random& random, uint64_t one_in) { return Below(random, one_in) == 0; }

template <typename T>
const T& Pick(const std::vector<T>& from, Random& random) {
  KASANE_CHECK(!from.empty());
  return from[Below(random, from.size())];
}

}  // namespace kasane::random
