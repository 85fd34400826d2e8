// Errors as values: absl::Status with fmt messages, and the bridge between absl's string_view and ours.
//
// Debian's absl is built with its own string_view, which does not convert from std::string_view.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kasane {

inline absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

// A status of `code` whose message is formatted like fmt::format.
template <typename... Args>
absl::Status Error(absl::StatusCode code, fmt::format_string<Args...> format, Args&&... args) {
  return absl::Status(code, Absl(fmt::format(format, std::forward<Args>(args)...)));
}

// The input is wrong: the message names the value and what was expected.
template <typename... Args>
absl::Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return Error(absl::StatusCode::kInvalidArgument, format, std::forward<Args>(args)...);
}

// `status` with what was being attempted put before its message.
inline absl::Status Annotate(const absl::Status& status, std::string_view what) {
  if (status.ok()) return status;
  return Error(status.code(), "{}: {}", what, Std(status.message()));
}

// A system call failed: `what`, and errno's text.
inline absl::Status FromErrno(std::string_view what) {
  return Error(absl::StatusCode::kInternal, "{}: {}", what, std::generic_category().message(errno));
}

inline std::string Message(const absl::Status& status) { return std::string(Std(status.message())); }

}  // namespace kasane

#define KASANE_CONCAT_INNER(a, b) a##b
#define KASANE_CONCAT(a, b) KASANE_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                         \
  do {                                                                      \
    if (absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_IMPL(KASANE_CONCAT(status_or_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_IMPL(temporary, declaration, expression) \
  auto temporary = (expression);                                  \
  if (!temporary.ok()) return temporary.status();                 \
  declaration = std::move(temporary).value()
