// Numbers in packets: network byte order, at any alignment. For those that build or take apart a packet byte by
// byte; everything else uses Packet (packet.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kasane::packet {

// `at` and what follows of the number lie within `bytes`: the caller has checked the length.
inline uint16_t Get16(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}
inline uint32_t Get32(std::span<const uint8_t> bytes, size_t at) {
  return uint32_t{Get16(bytes, at)} << 16 | Get16(bytes, at + 2);
}

// The low 16 bits of `value`.
inline void Put16(std::span<uint8_t> bytes, size_t at, uint64_t value) {
  bytes[at] = static_cast<uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<uint8_t>(value);
}

inline void Append(std::vector<uint8_t>& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}
// The low 16 or 32 bits of `value`.
inline void Append16(std::vector<uint8_t>& out, uint64_t value) {
  out.push_back(static_cast<uint8_t>(value >> 8));
  out.push_back(static_cast<uint8_t>(value));
}
inline void Append32(std::vector<uint8_t>& out, uint64_t value) {
  Append16(out, value >> 16);
  Append16(out, value);
}

}  // namespace kasane::packet
