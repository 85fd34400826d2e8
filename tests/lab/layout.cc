#include "tests/lab/layout.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "tests/lab/netns.h"
#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

// Bounds the length of Unix socket paths (107 bytes) below a node's directory.
constexpr size_t kMaxNodeName = 48;
constexpr size_t kMaxLabName = 16;

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

absl::Status CheckLabName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxLabName && std::all_of(name.begin(), name.end(), IsWordCharacter)) {
    return absl::OkStatus();
  }
  return Invalid("\"{}\" cannot be a lab's name: use 1 to {} letters, digits and '_'", name, kMaxLabName);
}

bool IsNodeName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNodeName && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '.'; });
}

std::vector<std::string> FindLabs() {
  std::set<std::string> labs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(Layout::Root(), error)) {
    const std::string name = entry.path().stem().string();
    if (CheckLabName(name).ok()) labs.insert(name);
  }
  for (const std::string& name : ListNetns("kl-")) {
    const size_t end = name.find('-', 3);
    if (end == std::string::npos) continue;
    const std::string lab = name.substr(3, end - 3);
    if (CheckLabName(lab).ok()) labs.insert(lab);
  }
  return {labs.begin(), labs.end()};
}

}  // namespace kasane::lab
