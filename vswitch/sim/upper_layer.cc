#include "vswitch/sim/upper_layer.h"

#include <algorithm>
#include <array>

namespace kasane::sim {
namespace {

constexpr size_t kEthernet = 14;
constexpr uint8_t kHopByHop = 0;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kRouting = 43;
constexpr uint8_t kFragment = 44;
constexpr uint8_t kAuthentication = 51;
constexpr uint8_t kIcmpv6 = 58;
constexpr uint8_t kDestination = 60;

using Bytes = std::span<const uint8_t>;

uint16_t Number(Bytes bytes, size_t at) { return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]); }

MacAddress ReadMac(Bytes bytes) {
  MacAddress::Bytes mac{};
  std::copy_n(bytes.begin(), mac.size(), mac.begin());
  return MacAddress(mac);
}

std::optional<UpperLayer> FromIpv4(Bytes ip) {
  if (ip.size() < 20) return std::nullopt;
  const size_t header = size_t{ip[0] & 0x0fU} * 4;
  const size_t total = Number(ip, 2);
  if (header < 20 || total < header || total > ip.size()) return std::nullopt;
  const uint16_t fragment = Number(ip, 6);
  const bool later = (fragment & 0x1fff) != 0;
  return UpperLayer{ip[9], !later && (fragment & 0x2000) != 0, later, ip.subspan(header, total - header)};
}

bool IsExtension(uint8_t protocol) {
  constexpr std::array kExtensions = {kHopByHop, kRouting, kFragment, kAuthentication, kDestination};
  return std::find(kExtensions.begin(), kExtensions.end(), protocol) != kExtensions.end();
}

// RFC 8200, 4; RFC 4302, 2.2 for the authentication header, which counts in 4 bytes.
size_t LengthOf(uint8_t protocol, Bytes header) {
  if (protocol == kFragment) return 8;
  const size_t units = header[1];
  return protocol == kAuthentication ? (units + 2) * 4 : (units + 1) * 8;
}

std::optional<UpperLayer> FromIpv6(Bytes ip) {
  if (ip.size() < 40 || ip.size() - 40 < Number(ip, 4)) return std::nullopt;
  UpperLayer upper{ip[6], false, false, ip.subspan(40, Number(ip, 4))};
  while (IsExtension(upper.protocol) && !upper.later_fragment) {
    const Bytes header = upper.message;
    if (header.size() < 8) return std::nullopt;
    if (upper.protocol == kFragment) {
      upper.later_fragment = Number(header, 2) >= 8;
      // An atomic fragment header behind it makes it no whole packet.
      upper.first_fragment = !upper.later_fragment && (upper.first_fragment || (header[3] & 1) != 0);
    }
    const size_t length = LengthOf(upper.protocol, header);
    if (length > header.size()) return std::nullopt;
    upper.protocol = header[0];
    upper.message = header.subspan(length);
  }
  return upper;
}

}  // namespace

std::optional<UpperLayer> FindUpperLayer(std::span<const uint8_t> frame) {
  if (frame.size() < kEthernet) return std::nullopt;
  switch (Number(frame, 12)) {
    case 0x0800:
      return FromIpv4(frame.subspan(kEthernet));
    case 0x86dd:
      return FromIpv6(frame.subspan(kEthernet));
    default:
      return std::nullopt;
  }
}

bool HidesItsHeader(const UpperLayer& upper) {
  if (!upper.first_fragment) return false;
  const auto hidden = [&](size_t header, size_t zeros) {
    if (upper.message.size() < header) return true;
    const auto first = upper.message.begin();
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(zeros),
                       [](uint8_t byte) { return byte == 0; });
  };
  switch (upper.protocol) {
    case kTcp:
      return hidden(20, 4);
    case kUdp:
      return hidden(8, 4);
    case kIcmpv6:
      return hidden(8, 2);
    default:
      return false;
  }
}

std::optional<NeighbourMessage> ReadNeighbourMessage(const UpperLayer& upper) {
  constexpr size_t kFixed = 24;
  const Bytes message = upper.message;
  if (upper.later_fragment || upper.protocol != kIcmpv6 || message.size() < 8) return std::nullopt;
  if (message[0] != 135 && message[0] != 136) return std::nullopt;
  NeighbourMessage out;
  out.solicitation = message[0] == 135;
  out.code_is_zero = message[1] == 0;
  if (message.size() < kFixed) return out;
  out.target = IpAddress::V6(std::span<const uint8_t, 16>(&message[8], 16));
  // By type; 0 is not used. An option of zeros says nothing.
  std::array<MacAddress, 3> link_layer{};
  for (size_t at = kFixed; at + 8 <= message.size();) {
    const size_t length = size_t{message[at + 1]} * 8;
    if (length == 0 || at + length > message.size()) break;  // No receiver takes it (RFC 4861, 7.1).
    const uint8_t type = message[at];
    if ((type == 1 || type == 2) && length == 8) {
      out.repeats_an_option = out.repeats_an_option || link_layer[type] != MacAddress();
      link_layer[type] = ReadMac(message.subspan(at + 2, 6));
    }
    at += length;
  }
  const MacAddress& named = link_layer[out.solicitation ? 1 : 2];
  if (named != MacAddress()) out.link_layer = named;
  return out;
}

}  // namespace kasane::sim
