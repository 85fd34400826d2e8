#include "ctl/output/output.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <yaml-cpp/emitter.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"
#include "vswitch/packet/hex.h"

namespace kasane::ctl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::ordered_json;

std::string Hex(const std::string& bytes) {
  return packet::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

ordered_json TextToJson(const FieldDescriptor& field, const std::string& text) {
  return field.type() == FieldDescriptor::TYPE_BYTES ? Hex(text) : text;
}

ordered_json ItemToJson(const Message& message, const FieldDescriptor& field, int i) {
  const auto& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
    return ToJson(reflection.GetRepeatedMessage(message, &field, i));
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return TextToJson(field, reflection.GetRepeatedString(message, &field, i));
  }
  // Our messages repeat messages, strings and enums.
  KASANE_CHECK(field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM);
  return reflection.GetRepeatedEnum(message, &field, i)->name();
}

ordered_json FieldToJson(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return TextToJson(field, reflection.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetFloat(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.GetEnum(message, &field)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(reflection.GetMessage(message, &field));
  }
  return nullptr;
}

// Whether a YAML reader takes `text` for a string without quotes, whatever version of YAML it reads.
bool IsPlain(const std::string& text) {
  static constexpr std::string_view kWords[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0 || text.back() == ':')
    return false;
  std::string lower;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && std::string_view("_-./:").find(c) == std::string_view::npos) return false;
    lower += static_cast<char>(std::tolower(byte));
  }
  return std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords);
}

std::string JsonText(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// yaml-cpp quotes a string only where it would not be one line of text: "1" and "no" would come back as
// something else.
void Emit(const ordered_json& json, YAML::Emitter& out) {
  if (json.is_object()) {
    out << (json.empty() ? YAML::Flow : YAML::Block) << YAML::BeginMap;
    for (const auto& [key, item] : json.items()) {
      out << YAML::Key;
      Emit(key, out);
      out << YAML::Value;
      Emit(item, out);
    }
    out << YAML::EndMap;
  } else if (json.is_array()) {
    out << (json.empty() ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const auto& item : json) Emit(item, out);
    out << YAML::EndSeq;
  } else if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (!IsPlain(text)) out << YAML::DoubleQuoted;
    out << text;
  } else if (json.is_null()) {
    out << YAML::Null;
  } else {
    out << json.dump();  // Numbers and booleans are written alike.
  }
}

std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t') c = ' ';
    if (static_cast<unsigned char>(c) < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

// The first line of at most `width` characters, broken behind a ',' or before a ' '. A word that is longer,
// such as an IPv6 address, stays whole as far as kLongestWord.
std::string_view FirstLine(std::string_view text, size_t width) {
  constexpr size_t kLongestWord = 64;
  const std::string_view line = FirstColumns(text, width);
  if (line.size() == text.size()) return line;
  for (size_t end = line.size(); end > 0; --end) {
    if (text[end] == ' ' || text[end - 1] == ',') return text.substr(0, end);
  }
  const size_t space = text.find(' ');
  const size_t comma = text.find(',');
  const size_t end = std::min(space, comma == std::string_view::npos ? comma : comma + 1);
  const std::string_view longest = FirstColumns(text, std::max(width, kLongestWord));
  return text.substr(0, std::min(end, longest.size()));
}

std::vector<std::string> Lines(std::string_view text, const Column& column) {
  if (text.empty()) return {"-"};
  if (column.width == 0 || DisplayWidth(text) <= column.width) return {std::string(text)};
  if (!column.wrap) return {std::string(FirstColumns(text, column.width - 1)) + "…"};
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(FirstLine(text, column.width));
    text.remove_prefix(lines.back().size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return lines;
}

}  // namespace

ordered_json ToJson(const google::protobuf::Message& message) {
  ordered_json out = ordered_json::object();
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    if (field.is_repeated()) {
      ordered_json list = ordered_json::array();
      const int size = message.GetReflection()->FieldSize(message, &field);
      for (int k = 0; k < size; ++k) list.push_back(ItemToJson(message, field, k));
      out[field.name()] = std::move(list);
    } else if (!field.has_presence() || message.GetReflection()->HasField(message, &field)) {
      out[field.name()] = FieldToJson(message, field);
    }
  }
  return out;
}

std::string ToYaml(const ordered_json& json) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  Emit(json, out);
  return std::string(out.c_str(), out.size()) + "\n";
}

std::string Render(const ordered_json& json, Format format) {
  return format == Format::kYaml ? ToYaml(json) : JsonText(json, 2) + "\n";
}

std::string YesNo(bool value) { return value ? "yes" : "no"; }
std::string Number(uint64_t value) { return fmt::format("{}", value); }
std::string NameOr(const std::string& name, const std::string& id) { return name.empty() ? id : name; }

void Table::Add(std::vector<std::string> cells) {
  KASANE_CHECK(cells.size() == columns_.size());
  std::vector<std::vector<std::string>> row;
  for (size_t i = 0; i < cells.size(); ++i) row.push_back(Lines(Printable(cells[i]), columns_[i]));
  rows_.push_back(std::move(row));
}

std::string Table::ToString() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) {
      for (const std::string& line : row[i]) width = std::max(width, DisplayWidth(line));
    }
    widths.push_back(width);
  }
  std::string out;
  const auto print = [&](const std::vector<std::vector<std::string>>& row, size_t line) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = line < row[i].size() ? row[i][line] : "";
      const std::string padding(widths[i] - DisplayWidth(cell), ' ');
      if (i > 0) text += "  ";
      text += columns_[i].right ? padding + cell : cell + padding;
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::vector<std::vector<std::string>> titles;
  for (const Column& column : columns_) titles.push_back({column.title});
  print(titles, 0);
  for (const auto& row : rows_) {
    size_t height = 1;
    for (const auto& cell : row) height = std::max(height, cell.size());
    for (size_t line = 0; line < height; ++line) print(row, line);
  }
  return out;
}

std::string Join(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string Count(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string Duration(uint64_t seconds) {
  if (seconds >= 86400) return fmt::format("{}d {}h", seconds / 86400, seconds % 86400 / 3600);
  if (seconds >= 3600) return fmt::format("{}h {}m", seconds / 3600, seconds % 3600 / 60);
  if (seconds >= 60) return fmt::format("{}m {}s", seconds / 60, seconds % 60);
  return fmt::format("{}s", seconds);
}

}  // namespace kasane::ctl
