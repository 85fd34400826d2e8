// Reads the fields of a mapping of a case file, and collects what is wrong with its line and path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/document.h"

namespace kasane::lab {

class CaseFaults {
 public:
  explicit CaseFaults(std::string file) : file_(std::move(file)) {}

  // "FILE:LINE: PATH: MESSAGE"
  void Add(int line, const std::string& path, const std::string& message);
  void AddWhole(const std::string& line) { lines_.push_back(line); }
  bool empty() const { return lines_.empty(); }
  std::string Text() const;

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

// One mapping. A field that is asked for is known; Done() makes a fault of every other.
class Fields {
 public:
  // A value that is no mapping is a fault, and has no fields.
  Fields(const files::Value& value, std::string path, CaseFaults& faults);

  bool Has(std::string_view name);
  int line() const { return line_; }
  std::string Path(std::string_view name) const;
  CaseFaults& faults() { return faults_; }

  // The value, or nullptr if it is absent or null.
  const files::Value* Get(std::string_view name);
  // The same; its absence is a fault, which names what was expected.
  const files::Value* Require(std::string_view name, std::string_view expected);

  std::string Text(std::string_view name, std::string_view expected);  // Required.
  std::optional<std::string> OptionalText(std::string_view name);
  uint32_t Number(std::string_view name, uint32_t fallback, uint32_t min, uint32_t max);
  bool Boolean(std::string_view name, bool fallback);

  void Fail(std::string_view name, const std::string& message);
  void Done();

 private:
  const files::Value* Find(std::string_view name) const;

  const files::Value* map_ = nullptr;
  int line_ = 0;
  std::string path_;
  CaseFaults& faults_;
  std::vector<std::string> known_;
};

}  // namespace kasane::lab
