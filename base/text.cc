#include "base/text.h"

#include <utf8proc.h>

#include <algorithm>

namespace kasane {
namespace {

struct Character {
  utf8proc_int32_t point = -1;  // -1: an invalid byte.
  size_t bytes = 1;
};

// The character that `text`, which is not empty, begins with.
Character First(std::string_view text) {
  Character out;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size(), 4)), &out.point);
  if (length > 0) {
    out.bytes = static_cast<size_t>(length);
  } else {
    out.point = -1;
  }
  return out;
}

size_t Width(const Character& character) {
  return character.point < 0 ? 1 : static_cast<size_t>(std::max(0, utf8proc_charwidth(character.point)));
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Character character = First(text);
    if (character.point < 0) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(First(text).bytes);
  return count;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = First(text);
    width += Width(character);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string_view FirstColumns(std::string_view text, size_t columns) {
  size_t end = 0;
  size_t width = 0;
  while (end < text.size()) {
    const Character character = First(text.substr(end));
    width += Width(character);
    if (width > columns) break;
    end += character.bytes;
  }
  return text.substr(0, end);
}

}  // namespace kasane
