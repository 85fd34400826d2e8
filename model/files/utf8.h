// UTF-8 for text of people: whether it is valid, and how wide it prints.
#pragma once

#include <cstddef>
#include <string_view>

namespace kasane::files {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Code points, which is what a terminal shows as columns for the scripts that names are written in but
// the wide ones of East Asia.
size_t CodePoints(std::string_view text);

// The first `count` code points of `text`.
std::string_view FirstCodePoints(std::string_view text, size_t count);

}  // namespace kasane::files
