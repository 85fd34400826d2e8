// How a flow hands a packet to the agent: OVS's controller action, whose userdata says why. Written by the
// compiler, read by the slow path's worker.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "vswitch/slowpath/slow_path.h"

namespace kasane::ovs {

// In userdata: a mark, the cause, and the MTU in network order.
inline constexpr uint8_t kUserdataMark = 0x4b;
inline constexpr size_t kUserdataBytes = 6;

inline std::string ToAgent(slowpath::SlowPathCause cause, uint32_t mtu = 0) {
  return fmt::format("controller(userdata={:02x}.{:02x}.{:02x}.{:02x}.{:02x}.{:02x})", kUserdataMark,
                     static_cast<uint8_t>(cause), mtu >> 24, mtu >> 16 & 0xff, mtu >> 8 & 0xff, mtu & 0xff);
}

struct SlowPathUserdata {
  slowpath::SlowPathCause cause = slowpath::SlowPathCause::kNeighbour;
  uint32_t mtu = 0;
};

// Nothing if it is not ToAgent()'s.
inline std::optional<SlowPathUserdata> ParseUserdata(std::span<const uint8_t> bytes) {
  if (bytes.size() != kUserdataBytes || bytes[0] != kUserdataMark) return std::nullopt;
  if (bytes[1] < static_cast<uint8_t>(slowpath::SlowPathCause::kNeighbour) ||
      bytes[1] > static_cast<uint8_t>(slowpath::SlowPathCause::kEcho)) {
    return std::nullopt;
  }
  const uint32_t mtu = uint32_t{bytes[2]} << 24 | uint32_t{bytes[3]} << 16 | uint32_t{bytes[4]} << 8 | bytes[5];
  return SlowPathUserdata{static_cast<slowpath::SlowPathCause>(bytes[1]), mtu};
}

}  // namespace kasane::ovs
