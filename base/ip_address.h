// IPv4 and IPv6 addresses and prefixes. Values; wire (network) byte order inside.
#pragma once

#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/mac_address.h"

namespace kasane {

enum class IpFamily : uint8_t { kV4 = 4, kV6 = 6 };

class IpAddress {
 public:
  IpAddress() = default;  // 0.0.0.0

  // Strict: dotted quad without leading zeros, or RFC 4291 text without a zone. IPv4-mapped IPv6 text
  // stays IPv6. A failure never yields a wildcard.
  static absl::StatusOr<IpAddress> Parse(std::string_view text);
  static IpAddress V4(uint32_t host_order);
  static IpAddress V4(std::span<const uint8_t, 4> wire);
  static IpAddress V6(std::span<const uint8_t, 16> wire);
  // fe80::/64 with the modified EUI-64 of `mac` (RFC 4291, appendix A).
  static IpAddress LinkLocal(const MacAddress& mac);

  IpFamily family() const { return family_; }
  bool is_v4() const { return family_ == IpFamily::kV4; }
  bool is_v6() const { return family_ == IpFamily::kV6; }
  int bits() const { return is_v4() ? 32 : 128; }
  // Wire order; 4 or 16 octets.
  std::span<const uint8_t> bytes() const { return {bytes_.data(), is_v4() ? size_t{4} : size_t{16}}; }
  uint32_t v4_host_order() const;  // CHECKs that the family is v4.

  bool IsUnspecified() const;  // 0.0.0.0 or ::
  bool IsLoopback() const;
  bool IsMulticast() const;      // 224.0.0.0/4 or ff00::/8
  bool IsLinkLocal() const;      // 169.254.0.0/16 or fe80::/10
  std::string ToString() const;  // RFC 5952.

  auto operator<=>(const IpAddress&) const = default;  // All of IPv4 before all of IPv6.
  bool operator==(const IpAddress&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const IpAddress& ip) {
    return H::combine(std::move(state), ip.family_, ip.bytes_);
  }

 private:
  IpFamily family_ = IpFamily::kV4;
  std::array<uint8_t, 16> bytes_{};  // IPv4 in the first four, the rest zero.
};

// Solicited-node multicast address (RFC 4291, 2.7.1).
IpAddress SolicitedNode(const IpAddress& v6);
// The Ethernet group for an IPv4 or IPv6 multicast address (RFC 1112, RFC 2464).
MacAddress MulticastMac(const IpAddress& group);

// An address and a length. `address` keeps its host bits: 10.0.0.5/24 is an interface address,
// Network() the prefix it is in.
class IpPrefix {
 public:
  IpPrefix() = default;  // 0.0.0.0/0
  // CHECKs that `length` fits the family.
  IpPrefix(const IpAddress& address, int length);

  // "10.0.0.0/24". The length is required; host bits must be zero, the message gives the fixed text.
  static absl::StatusOr<IpPrefix> Parse(std::string_view text);
  // Like Parse, but a bare address means its full length, and host bits are masked off (Neutron's
  // allowed_address_pairs and remote_ip_prefix).
  static absl::StatusOr<IpPrefix> ParseLenient(std::string_view text);
  static IpPrefix Host(const IpAddress& address) { return {address, address.bits()}; }

  const IpAddress& address() const { return address_; }
  int length() const { return length_; }
  IpFamily family() const { return address_.family(); }
  IpPrefix Network() const;
  bool Contains(const IpAddress& address) const;
  bool Overlaps(const IpPrefix& other) const;
  std::string ToString() const;

  auto operator<=>(const IpPrefix&) const = default;
  bool operator==(const IpPrefix&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const IpPrefix& prefix) {
    return H::combine(std::move(state), prefix.address_, prefix.length_);
  }

 private:
  IpAddress address_;
  int length_ = 0;
};

}  // namespace kasane

template <>
struct fmt::formatter<kasane::IpAddress> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const kasane::IpAddress& ip, Context& context) const {
    return fmt::formatter<std::string>::format(ip.ToString(), context);
  }
};

template <>
struct fmt::formatter<kasane::IpPrefix> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const kasane::IpPrefix& prefix, Context& context) const {
    return fmt::formatter<std::string>::format(prefix.ToString(), context);
  }
};
