// Wrong and rare forms of a frame: what a hostile or broken VM sends. From a seed, for the differential test.
#pragma once

#include <random>
#include <string_view>

#include "vswitch/packet/testing/frames.h"

namespace kasane::random {

struct Mutated {
  std::string_view kind;  // "truncated", "ip_options", ... For reports.
  frames::Bytes frame;    // At least 14 bytes, or the NIC would not take it.
};

// One mutation, drawn at random, of a well-formed frame. A kind that does not apply to it (IPv4 options of an
// ARP message) leaves the frame as it is, with the kind "none".
Mutated Mutate(const frames::Bytes& frame, std::mt19937_64& random);

}  // namespace kasane::random
