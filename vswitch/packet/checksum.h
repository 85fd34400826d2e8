// The Internet checksum (RFC 1071), for those that build packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kasane::packet {

// The one's complement sum of `bytes` in wire order, added to `sum`; not yet inverted. Only the last span of a
// sum may have an odd length.
inline uint32_t OnesComplementSum(std::span<const uint8_t> bytes, uint32_t sum = 0) {
  for (size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? static_cast<uint32_t>(bytes[i]) << 8 : bytes[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

}  // namespace kasane::packet
