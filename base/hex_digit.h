// A hexadecimal digit in either case, as people write bytes.
#pragma once

namespace kasane {

// 0 to 15; -1 if it is none.
constexpr int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace kasane
