#include "tests/lab/case/ip_packet.h"

#include <algorithm>

#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/checksum.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

constexpr uint8_t kFragmentHeader = 44;
constexpr size_t kIpv4Header = 20;
constexpr size_t kIpv6Header = 40;
constexpr size_t kFragmentBytes = 8;

using packet::Append;
using packet::Append16;
using packet::Get16;
using packet::OnesComplementSum;

std::vector<uint8_t> SerialiseV4(const IpPacket& packet) {
  std::vector<uint8_t> out = {0x45, 0};
  Append16(out, static_cast<uint32_t>(kIpv4Header + packet.payload.size()));
  Append16(out, packet.id & 0xffff);
  Append16(out, (packet.df ? 0x4000U : 0U) | (packet.more ? 0x2000U : 0U) | packet.offset / 8);
  out.push_back(packet.ttl);
  out.push_back(packet.protocol);
  Append16(out, 0);
  Append(out, packet.src.bytes());
  Append(out, packet.dst.bytes());
  packet::Put16(out, 10, ~OnesComplementSum(out));
  Append(out, packet.payload);
  return out;
}

std::vector<uint8_t> SerialiseV6(const IpPacket& packet) {
  const size_t extension = packet.fragment() ? kFragmentBytes : 0;
  std::vector<uint8_t> out = {0x60, 0, 0, 0};
  Append16(out, static_cast<uint32_t>(extension + packet.payload.size()));
  out.push_back(packet.fragment() ? kFragmentHeader : packet.protocol);
  out.push_back(packet.ttl);
  Append(out, packet.src.bytes());
  Append(out, packet.dst.bytes());
  if (packet.fragment()) {
    out.push_back(packet.protocol);
    out.push_back(0);
    Append16(out, packet.offset | (packet.more ? 1U : 0U));
    Append16(out, packet.id >> 16);
    Append16(out, packet.id & 0xffff);
  }
  Append(out, packet.payload);
  return out;
}

std::optional<IpPacket> ParseV4(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv4Header || (bytes[0] & 0x0f) != 5) return std::nullopt;
  const size_t length = Get16(bytes, 2);
  if (length < kIpv4Header || length > bytes.size()) return std::nullopt;
  IpPacket packet;
  packet.src = IpAddress::V4(std::span<const uint8_t, 4>(&bytes[12], 4));
  packet.dst = IpAddress::V4(std::span<const uint8_t, 4>(&bytes[16], 4));
  packet.id = Get16(bytes, 4);
  packet.df = (bytes[6] & 0x40) != 0;
  packet.more = (bytes[6] & 0x20) != 0;
  packet.offset = (Get16(bytes, 6) & 0x1fff) * 8;
  packet.ttl = bytes[8];
  packet.protocol = bytes[9];
  packet.payload.assign(bytes.begin() + kIpv4Header, bytes.begin() + static_cast<std::ptrdiff_t>(length));
  return packet;
}

std::optional<IpPacket> ParseV6(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv6Header) return std::nullopt;
  const size_t length = kIpv6Header + Get16(bytes, 4);
  if (length > bytes.size()) return std::nullopt;
  IpPacket packet;
  packet.src = IpAddress::V6(std::span<const uint8_t, 16>(&bytes[8], 16));
  packet.dst = IpAddress::V6(std::span<const uint8_t, 16>(&bytes[24], 16));
  packet.protocol = bytes[6];
  packet.ttl = bytes[7];
  size_t at = kIpv6Header;
  if (packet.protocol == kFragmentHeader) {
    if (length < at + kFragmentBytes) return std::nullopt;
    packet.protocol = bytes[at];
    packet.offset = Get16(bytes, at + 2) & 0xfff8;
    packet.more = (bytes[at + 3] & 1) != 0;
    packet.id = packet::Get32(bytes, at + 4);
    at += kFragmentBytes;
  }
  packet.payload.assign(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(length));
  return packet;
}

}  // namespace

void SetChecksum(IpPacket& packet) {
  const uint8_t protocol = packet.protocol;
  if (protocol != packet::kProtoIcmp && protocol != packet::kProtoIcmpv6 && protocol != packet::kProtoUdp &&
      protocol != packet::kProtoTcp)
    return;
  const size_t at = protocol == packet::kProtoTcp ? 16 : protocol == packet::kProtoUdp ? 6 : 2;
  if (packet.fragment() || packet.payload.size() < at + 2) return;
  packet.payload[at] = packet.payload[at + 1] = 0;
  uint32_t sum = 0;
  if (protocol != packet::kProtoIcmp) {
    sum = OnesComplementSum(
        packet.dst.bytes(),
        OnesComplementSum(packet.src.bytes(), static_cast<uint32_t>(packet.payload.size()) + protocol));
  }
  uint32_t checksum = ~OnesComplementSum(packet.payload, sum) & 0xffff;
  if (protocol == packet::kProtoUdp && checksum == 0) checksum = 0xffff;
  packet.payload[at] = static_cast<uint8_t>(checksum >> 8);
  packet.payload[at + 1] = static_cast<uint8_t>(checksum);
}

std::vector<uint8_t> Serialise(const IpPacket& packet) {
  return packet.src.is_v4() ? SerialiseV4(packet) : SerialiseV6(packet);
}

std::optional<IpPacket> ParseIpPacket(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return std::nullopt;
  if (bytes[0] >> 4 == 4) return ParseV4(bytes);
  if (bytes[0] >> 4 == 6) return ParseV6(bytes);
  return std::nullopt;
}

std::vector<IpPacket> Fragment(const IpPacket& packet, uint32_t mtu) {
  const size_t headers = packet.src.is_v4() ? kIpv4Header : kIpv6Header + kFragmentBytes;
  const size_t most = (mtu - headers) / 8 * 8;
  std::vector<IpPacket> fragments;
  for (size_t at = 0; at < packet.payload.size(); at += most) {
    const size_t end = std::min(at + most, packet.payload.size());
    IpPacket fragment = packet;
    fragment.offset = packet.offset + static_cast<uint32_t>(at);
    fragment.more = packet.more || end < packet.payload.size();
    fragment.payload.assign(packet.payload.begin() + static_cast<std::ptrdiff_t>(at),
                            packet.payload.begin() + static_cast<std::ptrdiff_t>(end));
    fragments.push_back(std::move(fragment));
  }
  return fragments;
}

}  // namespace kasane::lab
