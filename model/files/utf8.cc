#include "model/files/utf8.h"

#include <cstdint>

namespace kasane::files {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Length of the sequence that a lead byte begins, with the bits that it carries; 0 for no lead byte.
size_t Lead(unsigned char byte, uint32_t& bits) {
  if (byte < 0x80) return bits = byte, 1;
  if (byte >= 0xc2 && byte < 0xe0) return bits = byte & 0x1f, 2;
  if (byte >= 0xe0 && byte < 0xf0) return bits = byte & 0x0f, 3;
  if (byte >= 0xf0 && byte < 0xf5) return bits = byte & 0x07, 4;
  return 0;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    uint32_t point = 0;
    const size_t length = Lead(static_cast<unsigned char>(text[i]), point);
    if (length == 0 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if (!IsContinuation(text[i + k])) return false;
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    if (length == 3 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) return false;
    if (length == 4 && (point < 0x10000 || point > 0x10ffff)) return false;
    i += length;
  }
  return true;
}

size_t CodePoints(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += IsContinuation(c) ? 0 : 1;
  return count;
}

std::string_view FirstCodePoints(std::string_view text, size_t count) {
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (!IsContinuation(text[i]) && count-- == 0) break;
  }
  return text.substr(0, i);
}

}  // namespace kasane::files
