// Text of people in UTF-8, by utf8proc: whether it is valid, how many characters it has, how wide it prints.
#pragma once

#include <cstddef>
#include <string_view>

namespace kasane {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

// Code points, which is what Neutron limits names by. An invalid byte counts as one.
size_t CountCharacters(std::string_view text);

// The columns of a terminal that `text` takes: two for wide characters of East Asia, none for marks that
// combine. An invalid byte takes one.
size_t DisplayWidth(std::string_view text);

// The longest beginning of `text` that takes at most `columns`, whole characters with their marks.
std::string_view FirstColumns(std::string_view text, size_t columns);

}  // namespace kasane
