#include "vswitch/packet/hex.h"

#include <fmt/format.h>

namespace kasane::packet {

std::string HexText(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace kasane::packet
