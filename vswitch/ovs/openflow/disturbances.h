// What others changed of what this agent keeps in the switch.
#pragma once

#include <cstdint>
#include <string>

namespace kasane::ovs {

struct Disturbances {
  uint64_t count = 0;
  std::string last;  // What was seen, for people.

  bool operator==(const Disturbances&) const = default;
};

}  // namespace kasane::ovs
