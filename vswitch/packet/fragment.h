// Fragments of IP datagrams: read, put together, cut (RFC 791, 3.2; RFC 8200, 4.5). What may be put together is
// for the caller to judge (slowpath/reassembly.h). Pure; any thread; frames are hostile input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vswitch/packet/packet.h"

namespace kasane::packet {

inline constexpr size_t kIpv4Header = 20;  // Bytes, without options.
inline constexpr size_t kIpv6Header = 40;

struct Fragment {
  uint32_t id = 0;                // Identification: 16 bits in IPv4.
  size_t offset = 0;              // Bytes.
  bool more = false;              // It is not the last one.
  std::vector<uint8_t> head;      // What stands before the data, as it would in the whole datagram's frame, ...
  std::span<const uint8_t> data;  // ... and the data, in the frame that it was read from.
};

// Nothing if `packet` is no fragment.
std::optional<Fragment> ReadFragment(const Packet& packet);

// The frame of an IP packet with `data` behind the headers in `head`, which ends where the data begins: its
// length, and in IPv4 the checksum of the header, are put in, and it is no fragment. Nothing if it is longer
// than a length field can say.
std::optional<std::vector<uint8_t>> MakeDatagram(std::vector<uint8_t> head, std::span<const uint8_t> data);

// `frame`, an IP packet without options or extension headers, as it is if its packet has at most `mtu` bytes,
// else in fragments of at most as many. There is room for 8 bytes of data in `mtu` at least.
std::vector<std::vector<uint8_t>> CutIntoFragments(const std::vector<uint8_t>& frame, uint32_t id, size_t mtu);

}  // namespace kasane::packet
