// An IP packet as fields: what a VM's stack in sim sends and understands. No options, no extension headers but
// the fragment header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ip_address.h"

namespace kasane::lab {

struct IpPacket {
  IpAddress src;
  IpAddress dst;
  uint8_t protocol = 0;
  uint8_t ttl = 64;
  bool df = false;      // IPv4 only.
  uint32_t id = 0;      // Of the datagram, for fragments.
  uint32_t offset = 0;  // Bytes; of a fragment.
  bool more = false;    // Fragments follow.
  std::vector<uint8_t> payload;

  bool fragment() const { return more || offset != 0; }
};

// The transport checksum of `packet` is computed and put in, if its protocol is ICMP, ICMPv6, UDP or TCP and it
// is no fragment.
void SetChecksum(IpPacket& packet);

std::vector<uint8_t> Serialise(const IpPacket& packet);
// Nothing if it is no IP packet that this stack understands.
std::optional<IpPacket> ParseIpPacket(std::span<const uint8_t> bytes);

// Splits `packet` into fragments whose packets have at most `mtu` bytes.
std::vector<IpPacket> Fragment(const IpPacket& packet, uint32_t mtu);

}  // namespace kasane::lab
