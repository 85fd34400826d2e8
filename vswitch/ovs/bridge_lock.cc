#include "vswitch/ovs/bridge_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "base/status.h"

namespace kasane::ovs {
namespace {

// "pid 4711"; the holder may not have written it yet.
std::string Holder(int fd) {
  char text[16];
  const ssize_t size = pread(fd, text, sizeof text, 0);
  int pid = 0;
  if (size <= 0 || std::from_chars(text, text + size, pid).ec != std::errc()) return "pid unknown";
  return fmt::format("pid {}", pid);
}

absl::Status WritePid(int fd, const std::string& path) {
  const std::string text = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kUnavailable, "lock file {} cannot be written: {}", path,
               std::strerror(errno));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BridgeLock>> BridgeLock::Take(const OvsConfig& config) {
  const std::string path = fmt::format("{}/kasaned.{}.lock", config.run_dir, config.bridge);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    if (errno == ENOENT) return nullptr;
    return Error(absl::StatusCode::kUnavailable,
                 "lock file {} cannot be opened: {}; kasaned must be able to write there", path,
                 std::strerror(errno));
  }
  std::unique_ptr<BridgeLock> lock(new BridgeLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Error(absl::StatusCode::kUnavailable, "lock file {} cannot be locked: {}", path,
                   std::strerror(errno));
    }
    return Error(absl::StatusCode::kAlreadyExists,
                 "another kasaned ({}) works on bridge {} of {}: stop it first", Holder(fd), config.bridge,
                 config.run_dir);
  }
  RETURN_IF_ERROR(WritePid(fd, path));
  return lock;
}

BridgeLock::~BridgeLock() { close(fd_); }

}  // namespace kasane::ovs
