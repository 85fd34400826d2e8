#include "vswitch/packet/fragment.h"

#include <algorithm>

#include "base/check.h"
#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/checksum.h"

namespace kasane::packet {
namespace {

constexpr uint8_t kFragmentHeader = 44;
constexpr uint8_t kAuthentication = 51;
constexpr size_t kFragmentHeaderBytes = 8;
constexpr size_t kMaxLength = 0xffff;
constexpr uint16_t kMoreFragments = 0x2000;  // IPv4's flag; IPv6's is 1.

using Bytes = std::span<const uint8_t>;

bool IsIpv4(Bytes frame) { return Get16(frame, 12) == kEtherIpv4; }

std::vector<uint8_t> Copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

Fragment ReadIpv4(Bytes frame, Bytes ip) {
  const size_t header = size_t{ip[0] & 0x0fU} * 4;
  const uint16_t place = Get16(ip, 6);
  return {Get16(ip, 4), size_t{place & 0x1fffU} * 8, (place & kMoreFragments) != 0,
          Copy(frame.first(kEthernet + header)), ip.subspan(header)};
}

// The chain is whole up to the fragment header, which packet::Packet has seen.
std::optional<Fragment> ReadIpv6(Bytes frame, Bytes ip) {
  size_t next = 6;  // Where the number of the next header stands.
  size_t at = kIpv6Header;
  while (at + kFragmentHeaderBytes <= ip.size()) {
    const uint16_t place = Get16(ip, at + 2);
    // With all zeros it is the whole packet (RFC 6946).
    if (ip[next] == kFragmentHeader && place != 0) {
      Fragment out{Get32(ip, at + 4), place & 0xfff8U, (place & 1) != 0, Copy(frame.first(kEthernet + at)),
                   ip.subspan(at + kFragmentHeaderBytes)};
      out.head[kEthernet + next] = ip[at];
      return out;
    }
    const size_t units = ip[at + 1];
    const size_t length = ip[next] == kFragmentHeader   ? kFragmentHeaderBytes
                          : ip[next] == kAuthentication ? (units + 2) * 4
                                                        : (units + 1) * 8;
    next = at;
    at += length;
  }
  return std::nullopt;
}

void FinishIpv4(std::span<uint8_t> ip, size_t header, uint16_t place) {
  Put16(ip, 2, ip.size());
  Put16(ip, 6, place);
  Put16(ip, 10, 0);
  Put16(ip, 10, ~OnesComplementSum(ip.first(header)));
}

// The piece of `frame` that holds `data`, which begins at `offset`.
std::vector<uint8_t> Piece(Bytes frame, uint32_t id, size_t offset, Bytes data, bool more) {
  const bool v4 = IsIpv4(frame);
  std::vector<uint8_t> out = Copy(frame.first(kEthernet + (v4 ? kIpv4Header : kIpv6Header)));
  if (v4) {
    Append(out, data);
    const std::span<uint8_t> ip = std::span(out).subspan(kEthernet);
    Put16(ip, 4, id);
    FinishIpv4(ip, kIpv4Header, static_cast<uint16_t>((more ? kMoreFragments : 0U) | offset / 8));
    return out;
  }
  out.push_back(out[kEthernet + 6]);
  out[kEthernet + 6] = kFragmentHeader;
  out.push_back(0);
  Append16(out, offset | (more ? 1U : 0U));
  Append32(out, id);
  Append(out, data);
  Put16(out, kEthernet + 4, kFragmentHeaderBytes + data.size());
  return out;
}

}  // namespace

std::optional<Fragment> ReadFragment(const Packet& packet) {
  if (!packet.has_ip() || !packet.fragment()) return std::nullopt;
  const Bytes frame(packet.frame());
  if (packet.is_v4()) return ReadIpv4(frame, packet.ip_packet());
  return ReadIpv6(frame, packet.ip_packet());
}

std::optional<std::vector<uint8_t>> MakeDatagram(std::vector<uint8_t> head, std::span<const uint8_t> data) {
  const bool v4 = IsIpv4(head);
  const size_t headers = head.size() - kEthernet;
  const size_t length = headers + data.size() - (v4 ? 0 : kIpv6Header);
  if (length > kMaxLength) return std::nullopt;
  Append(head, data);
  if (v4) {
    FinishIpv4(std::span(head).subspan(kEthernet), headers, 0);
  } else {
    Put16(head, kEthernet + 4, length);
  }
  return head;
}

std::vector<std::vector<uint8_t>> CutIntoFragments(const std::vector<uint8_t>& frame, uint32_t id, size_t mtu) {
  if (frame.size() <= kEthernet + mtu) return {frame};
  const bool v4 = IsIpv4(frame);
  const size_t headers = v4 ? kIpv4Header : kIpv6Header + kFragmentHeaderBytes;
  KASANE_CHECK(mtu >= headers + 8);
  const Bytes data = Bytes(frame).subspan(kEthernet + (v4 ? kIpv4Header : kIpv6Header));
  const size_t most = (mtu - headers) / 8 * 8;
  std::vector<std::vector<uint8_t>> fragments;
  for (size_t at = 0; at < data.size(); at += most) {
    const size_t size = std::min(most, data.size() - at);
    fragments.push_back(Piece(frame, id, at, data.subspan(at, size), at + size < data.size()));
  }
  return fragments;
}

}  // namespace kasane::packet
