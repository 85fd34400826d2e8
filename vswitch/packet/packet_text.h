// A frame as text that people write and read, for kasanectl, case files and tests:
//
//   icmp(src=10.0.0.1, dst=10.0.0.2, eth_src=fa:16:3e:00:00:01, eth_dst=fa:16:3e:00:00:02, ttl=64, size=56)
//   arp(op=request, eth_src=fa:16:3e:00:00:01, spa=10.0.0.1, tpa=10.0.0.2)
//   vxlan(vni=5001, src=192.0.2.1, dst=192.0.2.2, ..., udp(src=10.0.0.1, ...))     the frame in it
//   icmp(type=3, code=4, mtu=1400, ..., udp(src=10.0.0.1, dst=10.0.0.2))           the packet that it quotes
//   hex:fa163e000002fa163e0000010800...                                            any bytes
//
// Layers: eth, vlan, arp, ip, icmp, icmp6, udp, tcp, ns, na, rs, ra, mld, vxlan; packet_layer.cc lists their
// fields. What is left out is filled in so that the frame is right; a length or checksum that is given is
// believed, so that wrong frames can be written too. Pure; any thread; text and frames are hostile.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vswitch/packet/packet_layer.h"

namespace kasane::packet {

// The frame, without FCS. INVALID_ARGUMENT with the column, the field and what was expected:
// "column 14: ttl: 300 is not 0 to 255".
absl::StatusOr<std::vector<uint8_t>> ParsePacketText(std::string_view text);

// Text that ParsePacketText turns into the same bytes; what the syntax cannot say
// is eth(...) with a payload, and hex: if it has less than an Ethernet header.
std::string PacketText(std::span<const uint8_t> frame);

// What a frame must be like: packet text in which only the fields given count. The checksums of its outer layer
// must be right as well, unless one is given. A layer also fits what it is more general than: icmp6 any ND
// message, ip any IP packet, eth any frame. hex: is all of the frame's bytes.
class FieldMatch {
 public:
  static absl::StatusOr<FieldMatch> Parse(std::string_view text);

  // Nothing if the frame fits; else the field, what was expected and what was seen.
  std::optional<std::string> Mismatch(std::span<const uint8_t> frame) const;

 private:
  std::vector<uint8_t> exact_;  // Of hex:.
  std::optional<Layer> layer_;  // Of all else.
};

}  // namespace kasane::packet
