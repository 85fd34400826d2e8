#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"

namespace kasane::log {
namespace {

std::atomic<Format> format = Format::kText;

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// As the inside of a JSON string, so that a value cannot forge a line. What is not UTF-8 is replaced.
std::string Escaped(std::string_view text, bool inside_quotes) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(quoted.size());
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    const bool plain = !inside_quotes && quoted[i] == '\\' && (quoted[i + 1] == '"' || quoted[i + 1] == '\\');
    if (plain) ++i;
    if (quoted[i] == 0x7f) {
      out += "\\u007f";
    } else {
      out += quoted[i];
    }
  }
  return out;
}

std::string TextValue(const std::string& value) {
  const std::string escaped = Escaped(value, true);
  const bool bare = !value.empty() && escaped == value && value.find_first_of(" =") == std::string::npos;
  return bare ? value : '"' + escaped + '"';
}

void UsePattern(spdlog::logger& logger, const Options& options) {
  const char* pattern = options.format == Format::kJson ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                                        : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
  logger.set_pattern(pattern, spdlog::pattern_time_type::utc);
  logger.set_level(ToSpdlog(options.level));
  logger.flush_on(spdlog::level::trace);
}

std::shared_ptr<spdlog::logger> MakeLogger(const Options& options) {
  std::shared_ptr<spdlog::logger> logger;
  if (options.file.empty()) {
    logger = std::make_shared<spdlog::logger>("kasaned", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  } else {
    logger = std::make_shared<spdlog::logger>(
        "kasaned", std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
  }
  UsePattern(*logger, options);
  return logger;
}

std::shared_ptr<spdlog::logger>& Logger() {
  static std::shared_ptr<spdlog::logger> logger = MakeLogger({});
  return logger;
}

}  // namespace

absl::Status Configure(const Options& options) {
  try {
    Logger() = MakeLogger(options);
  } catch (const spdlog::spdlog_ex& error) {
    return kasane::Error(absl::StatusCode::kUnavailable, "log file {}: {}", options.file, error.what());
  }
  format = options.format;
  return absl::OkStatus();
}

void Write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  spdlog::logger& logger = *Logger();
  const spdlog::level::level_enum at = ToSpdlog(level);
  if (logger.should_log(at)) logger.log(at, "{}", Render(format, message, fields));
}

std::string Render(Format as, std::string_view message, std::initializer_list<Field> fields) {
  if (as == Format::kText) {
    std::string line = Escaped(message, false);
    for (const Field& field : fields) line += fmt::format(" {}={}", field.key, TextValue(field.value));
    return line;
  }
  std::string line = fmt::format("\"message\":\"{}\"", Escaped(message, true));
  for (const Field& field : fields) {
    line += fmt::format(",\"{}\":\"{}\"", field.key, Escaped(field.value, true));
  }
  return line;
}

}  // namespace kasane::log
