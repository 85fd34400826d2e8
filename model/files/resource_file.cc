#include "model/files/resource_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"
#include "model/files/document.h"
#include "model/files/resource_reader.h"

namespace kasane::files {
namespace {

absl::StatusOr<std::string> ReadAll(std::istream& stream, size_t most) {
  std::string text;
  char chunk[1 << 16];
  while (stream.read(chunk, sizeof chunk) || stream.gcount() > 0) {
    text.append(chunk, static_cast<size_t>(stream.gcount()));
    if (text.size() > most) return Invalid("longer than {} bytes; split it", most);
  }
  return text;
}

absl::StatusOr<std::string> ReadFile(const std::string& name, size_t most) {
  if (name == "-") return ReadAll(std::cin, most);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) return Invalid("is a directory; name the files in it");
  errno = 0;
  std::ifstream stream(name, std::ios::binary);
  if (!stream) return Error(absl::StatusCode::kNotFound, "cannot be read: {}", std::strerror(errno));
  return ReadAll(stream, most);
}

DocumentLimits LimitsOf(Unknown unknown) { return unknown == Unknown::kNote ? kDumpLimits : DocumentLimits(); }

// The item or field of that name, or nullptr.
const Value* Child(const Value& value, std::string_view name, bool is_index) {
  if (!is_index) {
    for (const auto& [field, child] : value.fields) {
      if (field == name) return child.get();
    }
    return nullptr;
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  return error == std::errc() && index < value.items.size() ? value.items[index].get() : nullptr;
}

}  // namespace

ResourceFile::ResourceFile() = default;
ResourceFile::~ResourceFile() = default;
ResourceFile::ResourceFile(ResourceFile&&) noexcept = default;
ResourceFile& ResourceFile::operator=(ResourceFile&&) noexcept = default;

absl::StatusOr<ResourceFile> ParseResourceFile(const std::string& name, const std::string& text,
                                               Unknown unknown) {
  const auto document = ParseDocument(text, LimitsOf(unknown));
  if (!document.ok()) return Annotate(document.status(), name);
  ResourceFile out = ResourcesFromDocument(name, **document, unknown);
  out.document = *document;
  return out;
}

ResourceFile ResourcesFromDocument(const std::string& name, const Value& document, Unknown unknown) {
  ResourceFile out;
  out.name = name;
  ReadResources(document, unknown, out);
  return out;
}

absl::StatusOr<ResourceFile> ReadResourceFile(const std::string& name, Unknown unknown) {
  const std::string shown = name == "-" ? "standard input" : name;
  const auto text = ReadFile(name, LimitsOf(unknown).bytes);
  if (!text.ok()) return Annotate(text.status(), shown);
  return ParseResourceFile(shown, *text, unknown);
}

int LineOf(const ResourceFile& file, std::string_view path) {
  const Value* at = file.document.get();
  int line = 0;
  while (at != nullptr && !path.empty()) {
    const bool is_index = path.front() == '[';
    if (is_index || path.front() == '.') path.remove_prefix(1);
    const size_t end = std::min(path.find_first_of(is_index ? "]" : ".["), path.size());
    at = Child(*at, path.substr(0, end), is_index);
    if (at != nullptr && at->line > 0) line = at->line;
    path.remove_prefix(std::min(path.size(), end + (is_index ? 1 : 0)));
  }
  return line;
}

}  // namespace kasane::files
