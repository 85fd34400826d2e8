#include "vswitch/packet/packet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "vswitch/packet/checksum.h"

namespace kasane::packet {
namespace {

constexpr size_t kNdOptions = 24;  // Behind the ICMPv6 header's start.

std::string_view ProtoName(uint8_t proto) {
  switch (proto) {
    case kProtoIcmp:
      return "icmp";
    case kProtoTcp:
      return "tcp";
    case kProtoUdp:
      return "udp";
    case kProtoIcmpv6:
      return "icmp6";
    default:
      return "ip";
  }
}

}  // namespace

Packet::Packet(std::vector<uint8_t> frame) : frame_(std::move(frame)) {
  if (!has_ethernet()) {
    malformed_ = true;
    return;
  }
  if (eth_type() == kEtherArp) ParseArp();
  if (eth_type() == kEtherIpv4) ParseIpv4();
  if (eth_type() == kEtherIpv6) ParseIpv6();
}

void Packet::ParseArp() {
  arp_ = frame_.size() >= kEthernet + 28 && U16(14) == 1 && U16(16) == kEtherIpv4 && frame_[18] == 6 &&
         frame_[19] == 4;
  // No operation above 255 is assigned (IANA, ARP parameters), and switches read such a one as 0.
  malformed_ = !arp_ || arp_op() == 0 || arp_op() > 255;
}

void Packet::ParseIpv4() {
  malformed_ = true;
  if (frame_.size() < kEthernet + 20) return;
  const size_t header = static_cast<size_t>(frame_[14] & 0x0f) * 4;
  const size_t total = U16(16);
  if (header < 20 || total < header || kEthernet + total > frame_.size()) return;
  malformed_ = false;
  ip_ = IpFamily::kV4;
  proto_ = frame_[23];
  const uint16_t fragment = U16(20);
  fragment_ = (fragment & 0x3fff) != 0;
  later_fragment_ = (fragment & 0x1fff) != 0;
  if (!later_fragment_) FindL4(kEthernet + header, kEthernet + total);
}

void Packet::ParseIpv6() {
  malformed_ = true;
  if (frame_.size() < kEthernet + 40) return;
  const size_t end = kEthernet + 40 + U16(18);
  if (end > frame_.size()) return;
  ip_ = IpFamily::kV6;
  proto_ = frame_[20];
  size_t at = kEthernet + 40;
  // Hop-by-hop, routing, fragment, authentication (RFC 4302), destination options (RFC 8200, 4).
  while (proto_ == 0 || proto_ == 43 || proto_ == 44 || proto_ == 51 || proto_ == 60) {
    if (at + 8 > end) return;
    const bool is_fragment = proto_ == 44;
    if (is_fragment) {
      // With all zeros it is the whole packet, and treated as such (RFC 6946).
      fragment_ = fragment_ || U16(at + 2) != 0;
      later_fragment_ = later_fragment_ || (U16(at + 2) & 0xfff8) != 0;
    }
    const size_t units = frame_[at + 1];
    const size_t length = is_fragment ? 8 : proto_ == 51 ? (units + 2) * 4 : (units + 1) * 8;
    proto_ = frame_[at];
    at += length;
    if (at > end) return;
    if (later_fragment_) break;
  }
  malformed_ = false;
  if (!later_fragment_) FindL4(at, end);
}

void Packet::FindL4(size_t at, size_t end) {
  const size_t needed = proto_ == kProtoTcp ? 20 : 8;  // Of UDP, ICMP and ICMPv6.
  if (at + needed > end) return;
  l4_ = at;
  l4_end_ = end;
}

MacAddress Packet::Mac(size_t at) const {
  MacAddress::Bytes bytes{};
  std::copy_n(frame_.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
  return MacAddress(bytes);
}

IpAddress Packet::Ip4(size_t at) const { return IpAddress::V4(std::span<const uint8_t, 4>(&frame_[at], 4)); }

void Packet::SetMac(size_t at, const MacAddress& mac) {
  std::copy(mac.bytes().begin(), mac.bytes().end(), frame_.begin() + static_cast<std::ptrdiff_t>(at));
}

IpAddress Packet::ip_src() const {
  return is_v4() ? Ip4(26) : IpAddress::V6(std::span<const uint8_t, 16>(&frame_[22], 16));
}

IpAddress Packet::ip_dst() const {
  return is_v4() ? Ip4(30) : IpAddress::V6(std::span<const uint8_t, 16>(&frame_[38], 16));
}

std::span<const uint8_t> Packet::ip_packet() const {
  const size_t length = is_v4() ? U16(16) : size_t{40} + U16(18);
  return std::span(frame_).subspan(kEthernet, length);
}

uint16_t Packet::Icmpv6Sum() const {
  // The pseudo header: addresses, length, protocol (RFC 8200, 8.1).
  const std::span<const uint8_t> frame(frame_);
  const uint32_t sum =
      OnesComplementSum(frame.subspan(22, 32), static_cast<uint32_t>(l4_end_ - l4_) + kProtoIcmpv6);
  return static_cast<uint16_t>(OnesComplementSum(icmp_message(), sum));
}

bool Packet::icmpv6_checksum_right() const { return Icmpv6Sum() == 0xffff; }

void Packet::SetSummed(size_t at, std::span<const uint8_t> bytes, size_t sum) {
  KASANE_CHECK(bytes.size() % 2 == 0);
  uint32_t total = sum == 0 ? 0 : static_cast<uint16_t>(~U16(sum));
  for (size_t i = 0; i < bytes.size(); i += 2) {
    total += static_cast<uint16_t>(~U16(at + i));
    total += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  }
  std::copy(bytes.begin(), bytes.end(), frame_.begin() + static_cast<std::ptrdiff_t>(at));
  if (sum == 0) return;
  while (total > 0xffff) total = (total & 0xffff) + (total >> 16);
  const auto result = static_cast<uint16_t>(~total);
  frame_[sum] = static_cast<uint8_t>(result >> 8);
  frame_[sum + 1] = static_cast<uint8_t>(result);
}

size_t Packet::L4Checksum() const {
  if (l4_ == 0) return 0;
  switch (proto_) {
    case kProtoTcp:
      return l4_ + 16;
    case kProtoUdp:
      return U16(l4_ + 6) == 0 ? 0 : l4_ + 6;  // No checksum (RFC 768).
    case kProtoIcmpv6:
      return l4_ + 2;
    default:
      return 0;
  }
}

void Packet::SetIp(size_t at, const IpAddress& ip) {
  KASANE_CHECK(ip.is_v4() == is_v4());
  const auto bytes = ip.bytes();
  const std::vector<uint8_t> old(frame_.begin() + static_cast<std::ptrdiff_t>(at),
                                 frame_.begin() + static_cast<std::ptrdiff_t>(at + bytes.size()));
  if (const size_t sum = L4Checksum(); sum != 0) {
    SetSummed(at, bytes, sum);
    if (proto_ == kProtoUdp && U16(sum) == 0) frame_[sum] = frame_[sum + 1] = 0xff;
    std::copy(old.begin(), old.end(), frame_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  SetSummed(at, bytes, is_v4() ? 24 : 0);
}

void Packet::set_ttl(uint8_t ttl) {
  if (!is_v4()) {
    frame_[21] = ttl;
    return;
  }
  const std::array<uint8_t, 2> ttl_and_proto = {ttl, frame_[23]};
  SetSummed(22, ttl_and_proto, 24);
}

void Packet::set_icmp_type(uint8_t type) {
  const std::array<uint8_t, 2> type_and_code = {type, icmp_code()};
  SetSummed(l4_, type_and_code, l4_ + 2);
}

void Packet::MakeArpReply(const MacAddress& mac) {
  const IpAddress asked = arp_tpa();
  set_eth_dst(eth_src());
  set_eth_src(mac);
  frame_[21] = 2;
  SetMac(32, Mac(22));
  SetMac(22, mac);
  std::copy_n(frame_.begin() + 28, 4, frame_.begin() + 38);
  std::copy(asked.bytes().begin(), asked.bytes().end(), frame_.begin() + 28);
}

bool Packet::has_neighbour_message(uint8_t type) const {
  return has_icmp() && proto_ == kProtoIcmpv6 && icmp_type() == type && icmp_code() == 0 && l4_ + 24 <= l4_end_;
}

size_t Packet::FindNdOption(uint8_t type) const {
  size_t at = l4_ + kNdOptions;
  while (at + 8 <= l4_end_ && frame_[at + 1] != 0) {
    if (frame_[at] == type && frame_[at + 1] == 1) return at;
    at += static_cast<size_t>(frame_[at + 1]) * 8;
  }
  return 0;
}

std::optional<MacAddress> Packet::nd_option(uint8_t type) const {
  const size_t at = FindNdOption(type);
  if (at == 0) return std::nullopt;
  return Mac(at + 2);
}

IpAddress Packet::nd_target() const {
  return IpAddress::V6(std::span<const uint8_t, 16>(&frame_[l4_ + 8], 16));
}

void Packet::MakeNeighbourAdvertisement(const MacAddress& mac, uint32_t flags) {
  const IpAddress target = nd_target();
  set_eth_dst(eth_src());
  set_eth_src(mac);
  set_ip_dst(ip_src());
  set_ip_src(target);
  set_icmp_type(136);
  const std::array<uint8_t, 4> reserved = {static_cast<uint8_t>(flags >> 24), static_cast<uint8_t>(flags >> 16),
                                           static_cast<uint8_t>(flags >> 8), static_cast<uint8_t>(flags)};
  SetSummed(l4_ + 4, reserved, l4_ + 2);
  // The source's link-layer address option becomes the target's.
  if (const size_t at = FindNdOption(1); at != 0) {
    std::array<uint8_t, 8> option = {2, 1};
    std::copy(mac.bytes().begin(), mac.bytes().end(), option.begin() + 2);
    SetSummed(at, option, l4_ + 2);
  }
  // Whatever it was: switches compute it anew.
  SumIcmpv6();
}

void Packet::SumIcmpv6() {
  frame_[l4_ + 2] = frame_[l4_ + 3] = 0;
  const auto sum = static_cast<uint16_t>(~Icmpv6Sum());
  frame_[l4_ + 2] = static_cast<uint8_t>(sum >> 8);
  frame_[l4_ + 3] = static_cast<uint8_t>(sum);
}

std::string Packet::Summary() const {
  if (!has_ethernet()) return fmt::format("{} bytes, no Ethernet header", frame_.size());
  if (has_arp()) {
    return fmt::format("arp {} {} tells {}", arp_op() == 1 ? "who has" : "reply about", arp_tpa(), arp_spa());
  }
  if (!has_ip()) return fmt::format("{} > {} type {:#06x}", eth_src(), eth_dst(), eth_type());
  std::string text = fmt::format("{} {} > {}", ProtoName(proto_), ip_src(), ip_dst());
  if (has_icmp()) text += fmt::format(" type {} code {}", icmp_type(), icmp_code());
  if (l4_ != 0 && (proto_ == kProtoTcp || proto_ == kProtoUdp)) {
    text += fmt::format(" ports {} > {}", U16(l4_), U16(l4_ + 2));
  }
  return text + fmt::format(" ttl {}", ttl());
}

}  // namespace kasane::packet
