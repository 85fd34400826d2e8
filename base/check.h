// CHECK for broken invariants: says where and what, then aborts. Input never reaches a CHECK; it is
// refused with a Status at the edge.
#pragma once

#include <cstdio>
#include <cstdlib>

#define KASANE_CHECK(condition)                                                              \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
