// The packet syntax: any text, and any frame, which must come back the same from its own text.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "vswitch/packet/packet.h"
#include "vswitch/packet/packet_text.h"

namespace kasane {
namespace {

void CheckFrame(std::span<const uint8_t> frame) {
  const auto again = packet::ParsePacketText(packet::PacketText(frame));
  KASANE_CHECK(again.ok());
  KASANE_CHECK(std::equal(again->begin(), again->end(), frame.begin(), frame.end()));
  KASANE_CHECK(!packet::Packet({frame.begin(), frame.end()}).Summary().empty());
}

void CheckText(std::string_view text) {
  const auto frame = packet::ParsePacketText(text);
  if (frame.ok()) CheckFrame(*frame);
  const auto match = packet::FieldMatch::Parse(text);
  if (match.ok() && frame.ok()) (void)match->Mismatch(*frame);
}

}  // namespace
}  // namespace kasane

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kasane::CheckText({reinterpret_cast<const char*>(data), size});
  kasane::CheckFrame({data, size});
  return 0;
}
