// Builds the packets that `kasanectl trace` sends through the agent's model, with valid checksums.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vswitch/base/ip_address.h"
#include "vswitch/base/mac_address.h"

namespace kasane::ctl {

enum class Protocol { kIcmp, kTcp, kUdp, kArp, kNd };

std::optional<Protocol> ProtocolFromText(std::string_view text);
std::string_view Label(Protocol protocol);

struct PacketSpec {
  Protocol protocol = Protocol::kIcmp;  // kIcmp: an echo request, of ICMPv6 between IPv6 addresses.
  MacAddress source_mac;
  MacAddress destination_mac;
  IpAddress source;       // Of the family of `destination`.
  IpAddress destination;  // For kArp (IPv4) and kNd (IPv6): the address asked for.
  uint16_t source_port = 40000;
  uint16_t destination_port = 80;
  uint8_t ttl = 64;     // Or hop limit. Neighbour discovery always has 255.
  size_t payload = 56;  // Bytes behind the transport header; kArp and kNd have none.
};

inline constexpr size_t kMaxPayload = 65000;

// The Ethernet frame, without FCS, padded to 60 bytes. INVALID_ARGUMENT if the families do not fit.
absl::StatusOr<std::vector<uint8_t>> BuildFrame(const PacketSpec& spec);

// Hexadecimal text, colons and blanks allowed between octets: a frame as tcpdump or tshark shows it.
absl::StatusOr<std::vector<uint8_t>> FrameFromHex(std::string_view text);

// "fa:16:... > fa:16:..., 10.0.0.5 > 10.0.1.7 icmp echo request, ttl 63, 98 bytes", as far as it can be read.
std::string DescribeFrame(std::span<const uint8_t> frame);

}  // namespace kasane::ctl
