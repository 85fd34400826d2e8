// Bytes as people write and read them: two hexadecimal digits each, nothing between.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kasane::packet {

std::string HexText(std::span<const uint8_t> bytes);

}  // namespace kasane::packet
