#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/status.h"

namespace kasane {
namespace {

std::array<uint8_t, 16> Masked(std::array<uint8_t, 16> bytes, int length) {
  for (int i = 0; i < 16; ++i) {
    const int keep = std::clamp(length - i * 8, 0, 8);
    bytes[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xff00 >> keep);
  }
  return bytes;
}

absl::StatusOr<IpPrefix> ParsePrefix(std::string_view text, bool length_required) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (length_required) return Invalid("'{}' is not a CIDR: it lacks a length such as /24", text);
    ASSIGN_OR_RETURN(const IpAddress address, IpAddress::Parse(text));
    return IpPrefix::Host(address);
  }
  const auto address = IpAddress::Parse(text.substr(0, slash));
  if (!address.ok()) return Invalid("'{}' is not a CIDR: {}", text, Message(address.status()));
  const std::string_view digits = text.substr(slash + 1);
  int length = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size() || length < 0 || length > address->bits()) {
    return Invalid("'{}' is not a CIDR: the length must be 0 to {}", text, address->bits());
  }
  return IpPrefix(*address, length);
}

}  // namespace

absl::StatusOr<IpAddress> IpAddress::Parse(std::string_view text) {
  const std::string copy(text);
  IpAddress ip;
  if (copy.find('\0') == std::string::npos) {
    if (inet_pton(AF_INET, copy.c_str(), ip.bytes_.data()) == 1) return ip;
    ip.family_ = IpFamily::kV6;
    if (inet_pton(AF_INET6, copy.c_str(), ip.bytes_.data()) == 1) return ip;
  }
  return Invalid("'{}' is not an IPv4 or IPv6 address", text);
}

IpAddress IpAddress::V4(uint32_t host_order) {
  const uint32_t wire = htonl(host_order);
  std::array<uint8_t, 4> bytes{};
  std::memcpy(bytes.data(), &wire, bytes.size());
  return V4(bytes);
}

IpAddress IpAddress::V4(std::span<const uint8_t, 4> wire) {
  IpAddress ip;
  std::copy(wire.begin(), wire.end(), ip.bytes_.begin());
  return ip;
}

IpAddress IpAddress::V6(std::span<const uint8_t, 16> wire) {
  IpAddress ip;
  ip.family_ = IpFamily::kV6;
  std::copy(wire.begin(), wire.end(), ip.bytes_.begin());
  return ip;
}

IpAddress IpAddress::LinkLocal(const MacAddress& mac) {
  const auto& m = mac.bytes();
  const std::array<uint8_t, 16> bytes = {
      0xfe, 0x80, 0,    0,    0,    0,    0,   0, static_cast<uint8_t>(m[0] ^ 0x02),
      m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]};
  return V6(bytes);
}

uint32_t IpAddress::v4_host_order() const {
  KASANE_CHECK(is_v4());
  uint32_t wire = 0;
  std::memcpy(&wire, bytes_.data(), sizeof wire);
  return ntohl(wire);
}

bool IpAddress::IsUnspecified() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](uint8_t b) { return b == 0; });
}

bool IpAddress::IsLoopback() const {
  if (is_v4()) return bytes_[0] == 127;
  return std::all_of(bytes_.begin(), bytes_.end() - 1, [](uint8_t b) { return b == 0; }) && bytes_[15] == 1;
}

bool IpAddress::IsMulticast() const { return is_v4() ? (bytes_[0] & 0xf0) == 0xe0 : bytes_[0] == 0xff; }

bool IpAddress::IsLinkLocal() const {
  return is_v4() ? bytes_[0] == 169 && bytes_[1] == 254 : bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), text, sizeof text);
  return text;
}

IpAddress SolicitedNode(const IpAddress& v6) {
  KASANE_CHECK(v6.is_v6());
  std::array<uint8_t, 16> bytes = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 0};
  std::copy(v6.bytes().end() - 3, v6.bytes().end(), bytes.end() - 3);
  return IpAddress::V6(bytes);
}

MacAddress MulticastMac(const IpAddress& group) {
  const auto b = group.bytes();
  if (group.is_v4()) return MacAddress({0x01, 0x00, 0x5e, static_cast<uint8_t>(b[1] & 0x7f), b[2], b[3]});
  return MacAddress({0x33, 0x33, b[12], b[13], b[14], b[15]});
}

IpPrefix::IpPrefix(const IpAddress& address, int length) : address_(address), length_(length) {
  KASANE_CHECK(length >= 0 && length <= address.bits());
}

absl::StatusOr<IpPrefix> IpPrefix::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(const IpPrefix prefix, ParsePrefix(text, true));
  if (prefix != prefix.Network()) {
    return Invalid("'{}' has bits set beyond its length; the network is {}", text, prefix.Network().ToString());
  }
  return prefix;
}

absl::StatusOr<IpPrefix> IpPrefix::ParseLenient(std::string_view text) {
  ASSIGN_OR_RETURN(const IpPrefix prefix, ParsePrefix(text, false));
  return prefix.Network();
}

IpPrefix IpPrefix::Network() const {
  std::array<uint8_t, 16> bytes{};
  std::copy(address_.bytes().begin(), address_.bytes().end(), bytes.begin());
  bytes = Masked(bytes, length_);
  if (address_.is_v6()) return {IpAddress::V6(bytes), length_};
  return {IpAddress::V4(std::span<const uint8_t, 4>(bytes.data(), 4)), length_};
}

bool IpPrefix::Contains(const IpAddress& address) const {
  return address.family() == family() && IpPrefix(address, length_).Network().address_ == Network().address_;
}

bool IpPrefix::Overlaps(const IpPrefix& other) const {
  return length_ <= other.length_ ? Contains(other.address_) : other.Contains(address_);
}

std::string IpPrefix::ToString() const { return fmt::format("{}/{}", address_.ToString(), length_); }

}  // namespace kasane
