// A VXLAN Network Identifier (RFC 7348): 24 bits, 0 is not used.
#pragma once

#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <compare>
#include <cstdint>

#include "base/status.h"

namespace kasane {

class Vni {
 public:
  static constexpr uint32_t kMax = (1U << 24) - 1;

  static absl::StatusOr<Vni> From(uint64_t value) {
    if (value == 0 || value > kMax) return Invalid("{} is not a VNI: it must be 1 to {}", value, kMax);
    return Vni(static_cast<uint32_t>(value));
  }

  uint32_t value() const { return value_; }

  auto operator<=>(const Vni&) const = default;
  bool operator==(const Vni&) const = default;

 private:
  explicit Vni(uint32_t value) : value_(value) {}
  uint32_t value_;
};

}  // namespace kasane

template <>
struct fmt::formatter<kasane::Vni> : fmt::formatter<uint32_t> {
  template <typename Context>
  auto format(const kasane::Vni& vni, Context& context) const {
    return fmt::formatter<uint32_t>::format(vni.value(), context);
  }
};
