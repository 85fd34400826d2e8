// Frames as case files write them.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/lab/case/world.h"

namespace kasane::lab {

absl::StatusOr<FrameBytes> FrameFromText(std::string_view text);

// How `frame` differs from what `text` says of it; nothing if it does not. Empty text matches any frame.
absl::StatusOr<std::optional<std::string>> FrameMismatch(std::string_view text, const FrameBytes& frame);

// For people.
std::string FrameToText(const FrameBytes& frame);

}  // namespace kasane::lab
