#include "tests/lab/case/frame_text.h"

#include <cctype>

#include "vswitch/base/status.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string Hex(const FrameBytes& frame) {
  std::string text = "hex:";
  for (const uint8_t byte : frame) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

absl::StatusOr<FrameBytes> FrameFromText(std::string_view text) {
  if (text.substr(0, 4) != "hex:") return Invalid("\"{}\": expected hex:...", std::string(text));
  FrameBytes frame;
  int high = -1;
  for (const char c : text.substr(4)) {
    if (c == ' ' || c == ':') continue;
    const int digit = Digit(c);
    if (digit < 0) return Invalid("'{}' is no hexadecimal digit", c);
    if (high < 0) {
      high = digit;
    } else {
      frame.push_back(static_cast<uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) return Invalid("an odd number of hexadecimal digits");
  return frame;
}

absl::StatusOr<std::optional<std::string>> FrameMismatch(std::string_view text, const FrameBytes& frame) {
  if (text.empty()) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const FrameBytes expected, FrameFromText(text));
  if (expected == frame) return std::optional<std::string>();
  return std::optional<std::string>("is " + Hex(frame));
}

std::string FrameToText(const FrameBytes& frame) { return Packet(frame).Summary() + " " + Hex(frame); }

}  // namespace kasane::lab
