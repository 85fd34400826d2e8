// What kasanectl prints: tables for people, JSON and YAML for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace kasane::ctl {

enum class Format { kTable, kJson, kYaml };

// Every field under its name in the .proto, empty ones too. Bytes as hexadecimal text, enums by name.
nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// Block style; every string that a YAML reader could take for something else is quoted. With a newline
// at its end.
std::string ToYaml(const nlohmann::ordered_json& json);

// `json` as `format` (not kTable) wants it, with a newline at its end.
std::string Render(const nlohmann::ordered_json& json, Format format);

struct Column {
  std::string title;
  size_t width = 0;    // Longer text is cut, or wrapped, to this many columns of a terminal. 0: no limit.
  bool wrap = false;   // Continue on the next line, broken after ',' or ' ', instead of cutting.
  bool right = false;  // Flush right, for numbers.
};

// What stands in a cell.
std::string YesNo(bool value);
std::string Number(uint64_t value);
// "shop-front", or the id without a name.
std::string NameOr(const std::string& name, const std::string& id);

// Columns aligned, two spaces between. Empty cells show as "-". Control characters, which could come from
// a peer of another version, show as '?', tabs as a space.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string ToString() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::vector<std::string>>> rows_;  // Row, cell, line.
};

// "a, b, c"
std::string Join(const std::vector<std::string>& items, std::string_view separator = ", ");

// "1 port", "2 ports"
std::string Count(size_t count, std::string_view noun);

// "3d 4h", "2h 5m", "17s"
std::string Duration(uint64_t seconds);

}  // namespace kasane::ctl
