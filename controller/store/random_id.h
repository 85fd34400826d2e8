// Random identifiers: of stores and of timelines.
#pragma once

#include <string>

namespace kasane::controller {

// 128 random bits from the operating system, as 32 hexadecimal digits.
std::string RandomId();

}  // namespace kasane::controller
