#include "tests/lab/case/frame_text.h"

#include "base/status.h"
#include "vswitch/packet/packet_text.h"

namespace kasane::lab {

absl::StatusOr<FrameBytes> FrameFromText(std::string_view text) {
  auto frame = packet::ParsePacketText(text);
  if (frame.ok()) return *std::move(frame);
  return Annotate(frame.status(), fmt::format("\"{}\"", text));
}

absl::StatusOr<std::optional<std::string>> FrameMismatch(std::string_view text, const FrameBytes& frame) {
  if (text.empty()) return std::optional<std::string>();
  const auto match = packet::FieldMatch::Parse(text);
  if (!match.ok()) return Annotate(match.status(), fmt::format("\"{}\"", text));
  return match->Mismatch(frame);
}

std::string FrameToText(const FrameBytes& frame) { return packet::PacketText(frame); }

}  // namespace kasane::lab
