// An Ethernet address (IEEE 802), six octets in wire order.
#pragma once

#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kasane {

class MacAddress {
 public:
  using Bytes = std::array<uint8_t, 6>;

  MacAddress() = default;  // 00:00:00:00:00:00
  explicit MacAddress(const Bytes& bytes) : bytes_(bytes) {}

  // "fa:16:3e:00:00:01", either case. Anything else is an error that shows the text.
  static absl::StatusOr<MacAddress> Parse(std::string_view text);
  static MacAddress Broadcast() { return MacAddress({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}); }

  const Bytes& bytes() const { return bytes_; }
  std::string ToString() const;  // Lower case with colons.
  bool IsZero() const { return *this == MacAddress(); }
  bool IsBroadcast() const { return *this == Broadcast(); }
  bool IsMulticast() const { return (bytes_[0] & 1) != 0; }  // Broadcast included.

  auto operator<=>(const MacAddress&) const = default;
  bool operator==(const MacAddress&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const MacAddress& mac) {
    return H::combine(std::move(state), mac.bytes_);
  }

 private:
  Bytes bytes_{};
};

}  // namespace kasane

template <>
struct fmt::formatter<kasane::MacAddress> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const kasane::MacAddress& mac, Context& context) const {
    return fmt::formatter<std::string>::format(mac.ToString(), context);
  }
};
