#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/status.h"

namespace kasane {
namespace {

// The holder may not have written its pid yet.
std::string ReadHolder(int fd) {
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

absl::StatusOr<FileLock> FileLock::Take(const std::string& path, mode_t mode) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) {
    return Error(errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
                 "lock file {} cannot be opened: {}", path, std::strerror(errno));
  }
  FileLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Error(absl::StatusCode::kAlreadyExists, "{}", ReadHolder(fd));
    return Error(absl::StatusCode::kUnavailable, "lock file {} cannot be locked: {}", path,
                 std::strerror(errno));
  }
  RETURN_IF_ERROR(WritePid(fd, path));
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace kasane
