#include "tests/lab/case/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace kasane::lab {

void CaseFaults::Add(int line, const std::string& path, const std::string& message) {
  lines_.push_back(fmt::format("{}:{}: {}: {}", file_, line, path, message));
}

std::string CaseFaults::Text() const {
  std::string text;
  for (const std::string& line : lines_) text += (text.empty() ? "" : "\n") + line;
  return text;
}

Fields::Fields(const files::Value& value, std::string path, CaseFaults& faults)
    : line_(value.line), path_(std::move(path)), faults_(faults) {
  if (value.type == files::Value::Type::kMap) {
    map_ = &value;
  } else {
    faults_.Add(line_, path_, fmt::format("expected a mapping, found {}", TypeName(value)));
  }
}

std::string Fields::Path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

const files::Value* Fields::Find(std::string_view name) const {
  if (map_ == nullptr) return nullptr;
  const auto found = std::find_if(map_->fields.begin(), map_->fields.end(),
                                  [&](const auto& field) { return field.first == name; });
  return found == map_->fields.end() || found->second->type == files::Value::Type::kNull ? nullptr
                                                                                         : found->second.get();
}

bool Fields::Has(std::string_view name) { return Get(name) != nullptr; }

const files::Value* Fields::Get(std::string_view name) {
  known_.emplace_back(name);
  return Find(name);
}

const files::Value* Fields::Require(std::string_view name, std::string_view expected) {
  const files::Value* value = Get(name);
  if (value == nullptr && map_ != nullptr) {
    faults_.Add(line_, Path(name), fmt::format("is missing; expected {}", expected));
  }
  return value;
}

std::string Fields::Text(std::string_view name, std::string_view expected) {
  const files::Value* value = Require(name, expected);
  if (value == nullptr) return "";
  if (value->type == files::Value::Type::kScalar && !value->text.empty()) return value->text;
  faults_.Add(value->line, Path(name), fmt::format("expected {}, found {}", expected, TypeName(*value)));
  return "";
}

std::optional<std::string> Fields::OptionalText(std::string_view name) {
  const files::Value* value = Get(name);
  if (value == nullptr) return std::nullopt;
  if (value->type == files::Value::Type::kScalar) return value->text;
  faults_.Add(value->line, Path(name), fmt::format("expected text, found {}", TypeName(*value)));
  return std::nullopt;
}

uint32_t Fields::Number(std::string_view name, uint32_t fallback, uint32_t min, uint32_t max) {
  const files::Value* value = Get(name);
  if (value == nullptr) return fallback;
  uint32_t number = 0;
  const std::string& text = value->text;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (value->IsNumber() && parsed.ec == std::errc() && number >= min && number <= max) return number;
  faults_.Add(value->line, Path(name),
              fmt::format("expected a number from {} to {}, found {}", min, max,
                          value->type == files::Value::Type::kScalar ? fmt::format("\"{}\"", text)
                                                                     : std::string(TypeName(*value))));
  return fallback;
}

bool Fields::Boolean(std::string_view name, bool fallback) {
  const files::Value* value = Get(name);
  if (value == nullptr) return fallback;
  if (value->IsBoolean()) return value->text[0] == 't' || value->text[0] == 'T';
  faults_.Add(value->line, Path(name), fmt::format("expected true or false, found {}", TypeName(*value)));
  return fallback;
}

void Fields::Fail(std::string_view name, const std::string& message) {
  const files::Value* value = Find(name);
  faults_.Add(value == nullptr ? line_ : value->line, Path(name), message);
}

void Fields::Done() {
  if (map_ == nullptr) return;
  std::vector<std::string> seen;
  for (const auto& [name, value] : map_->fields) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      faults_.Add(value->line, Path(name),
                  fmt::format("unknown field; expected one of {}", fmt::join(known_, ", ")));
    } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      faults_.Add(value->line, Path(name), "is there twice; remove one");
    }
    seen.push_back(name);
  }
}

}  // namespace kasane::lab
