// Headers put between the IP header and what it carries, in a frame that is made already.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/random/random.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::random {

using frames::Bytes;

inline constexpr uint8_t kHopByHop = 0;
inline constexpr uint8_t kRouting = 43;
inline constexpr uint8_t kFragmentHeader = 44;
inline constexpr uint8_t kAuthentication = 51;
inline constexpr uint8_t kNoNextHeader = 59;
inline constexpr uint8_t kDestinationOptions = 60;

bool IsIpv4(const Bytes& frame);
bool IsIpv6(const Bytes& frame);
uint16_t GetU16(const Bytes& frame, size_t at);
void SetU16(Bytes& frame, size_t at, uint64_t value);
void InsertBytes(Bytes& frame, size_t at, const Bytes& bytes);
void FixIpv4Checksum(Bytes& frame);  // RFC 1071, over the header alone.

// A header of this kind, its first byte the kind of the next. Authentication (RFC 4302) has a value of 12
// bytes.
Bytes HeaderBytes(uint8_t kind, uint8_t next, Random& random);

// Becomes the first behind the IP header; what was first becomes its next. True if the frame is of IP.
bool InsertHeader(Bytes& frame, uint8_t kind, Random& random);

// The fragment of an IPv6 packet that holds `size` bytes from `offset` of what is behind the IP header.
Bytes FragmentOf(const Bytes& frame, size_t offset, size_t size, bool more);

}  // namespace kasane::random
