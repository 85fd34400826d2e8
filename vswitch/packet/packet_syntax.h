// Text to layers and back: the grammar of the packet syntax, without what the fields mean.
//
//   packet = layer | "hex:" digits
//   layer  = name "(" [item {"," item}] ")"
//   item   = field "=" value | flag | layer        value: up to the next , or ), or "text in quotes"
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "vswitch/packet/packet_layer.h"

namespace kasane::packet {

// INVALID_ARGUMENT with the column, the field and what was expected: "column 14: ttl: 300 is not 0 to 255".
absl::StatusOr<Layer> ParseLayers(std::string_view text);
std::string LayersText(const Layer& layer);

// Whether `text` is a frame in hexadecimal: "hex:fa163e...".
bool IsHexFrame(std::string_view text);
// Its bytes; blanks, line ends and colons are allowed between octets.
absl::StatusOr<std::vector<uint8_t>> ParseHexFrame(std::string_view text);

}  // namespace kasane::packet
