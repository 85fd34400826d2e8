#include "tests/lab/netns.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

constexpr std::string_view kNetnsDir = "/run/netns";

// What identifies a namespace: device and inode of its file in nsfs.
using NetnsIdentity = std::pair<dev_t, ino_t>;

std::optional<NetnsIdentity> IdentityOf(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return NetnsIdentity{info.st_dev, info.st_ino};
}

}  // namespace

std::string NetnsPath(std::string_view name) { return fmt::format("{}/{}", kNetnsDir, name); }

std::vector<std::string> ListNetns(std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kNetnsDir, error)) {
    std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) == 0) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status DeleteNetns(std::string_view name) {
  const std::string path = NetnsPath(name);
  umount2(path.c_str(), MNT_DETACH);  // Fails if what is left is a mere file.
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "removing {}: {}", path, std::strerror(errno));
}

absl::Status EnterNetns(std::string_view name) {
  const int fd = open(NetnsPath(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Error(absl::StatusCode::kNotFound, "network namespace {}: {}", name, std::strerror(errno));
  }
  const int result = setns(fd, CLONE_NEWNET);
  const int saved = errno;
  close(fd);
  if (result == 0) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "entering network namespace {}: {}", name, std::strerror(saved));
}

absl::StatusOr<NetnsScope> NetnsScope::Enter(std::string_view name) {
  // /proc/self is the process, whose main thread may be somewhere else than this one.
  const int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (home < 0) return Error(absl::StatusCode::kInternal, "/proc/thread-self/ns/net: {}", std::strerror(errno));
  NetnsScope scope(home);
  RETURN_IF_ERROR(EnterNetns(name));
  return scope;
}

NetnsScope::NetnsScope(NetnsScope&& other) noexcept : home_(std::exchange(other.home_, -1)) {}

NetnsScope::~NetnsScope() {
  if (home_ < 0) return;
  KASANE_CHECK(setns(home_, CLONE_NEWNET) == 0);
  close(home_);
}

absl::Status SetSysctl(std::string_view name, std::string_view value) {
  const std::string path = fmt::format("/proc/sys/net/{}", name);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && write(fd, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const int saved = errno;
  if (fd >= 0) close(fd);
  if (written) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "setting {} to {}: {}", path, value, std::strerror(saved));
}

std::vector<pid_t> ProcessesIn(const std::vector<std::string>& namespaces) {
  std::set<NetnsIdentity> wanted;
  for (const std::string& name : namespaces) {
    if (auto identity = IdentityOf(NetnsPath(name))) wanted.insert(*identity);
  }
  std::vector<pid_t> processes;
  for (const pid_t pid : OtherProcesses()) {
    const auto identity = IdentityOf(fmt::format("/proc/{}/ns/net", pid));
    if (identity && wanted.count(*identity) != 0) processes.push_back(pid);
  }
  return processes;
}

}  // namespace kasane::lab
