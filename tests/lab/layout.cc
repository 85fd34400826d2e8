#include "tests/lab/layout.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/status.h"
#include "tests/lab/netns.h"

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

std::string Layout::NamespacePrefix() const { return fmt::format("kl-{}-", name_); }
std::string Layout::Namespace(std::string_view node) const { return fmt::format("kl-{}-{}", name_, node); }

std::string Layout::StateDir() const { return fmt::format("{}/{}", kLabsDir, name_); }
std::string Layout::LockFile() const { return fmt::format("{}/{}.lock", kLabsDir, name_); }
std::string Layout::TopologyFile() const { return fmt::format("{}/topology", StateDir()); }
std::string Layout::TopologyNameFile() const { return fmt::format("{}/topology-name", StateDir()); }
std::string Layout::ProcessDir() const { return fmt::format("{}/processes", StateDir()); }
std::string Layout::ControllerDir() const { return fmt::format("{}/controller", StateDir()); }
std::string Layout::ControllerLog() const { return fmt::format("{}/kasane-controller.log", ControllerDir()); }

std::string Layout::HostDir(std::string_view host) const {
  return fmt::format("{}/hosts/{}", StateDir(), host);
}
std::string Layout::OvsDir(std::string_view host) const { return fmt::format("{}/ovs", HostDir(host)); }
std::string Layout::AgentSocket(std::string_view host) const {
  return fmt::format("{}/kasaned.sock", HostDir(host));
}
std::string Layout::AgentConfig(std::string_view host) const {
  return fmt::format("{}/agent.yaml", HostDir(host));
}
std::string Layout::AgentLog(std::string_view host) const {
  return fmt::format("{}/kasaned.log", HostDir(host));
}

std::vector<std::string> FindLabs() {
  std::set<std::string> labs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kLabsDir, error)) {
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
