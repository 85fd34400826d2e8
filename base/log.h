// The agent's log: one line per event, a sentence and key=value fields, as text or as JSON. Any thread.
#pragma once

#include <absl/status/status.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kText, kJson };

struct Options {
  Level level = Level::kInfo;
  Format format = Format::kText;
  std::string file;  // Appended to. Empty: standard error.
};

// Until it is called, log lines go to standard error as text. Call it before other threads log. An
// error if the file cannot be opened.
absl::Status Configure(const Options& options);

struct Field {
  std::string_view key;
  std::string value;
};

void Write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void Debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kDebug, message, fields);
}
inline void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kInfo, message, fields);
}
inline void Warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kWarning, message, fields);
}
inline void Error(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kError, message, fields);
}

// The part of a line after time and level. Text: `message key=value key="with space"`, control characters
// escaped, so that input cannot forge a line. JSON: `"message":"...","key":"value"`.
std::string Render(Format format, std::string_view message, std::initializer_list<Field> fields);

}  // namespace kasane::log
