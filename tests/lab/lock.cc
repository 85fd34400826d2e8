#include "tests/lab/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/status.h"

namespace kasane::lab {
namespace {

absl::Status SystemError(const std::string& path) {
  return Error(absl::StatusCode::kInternal, "{}: {}", path, std::strerror(errno));
}

// False if the file was removed, and perhaps made anew, since it was opened.
bool IsStillAt(int fd, const std::string& path) {
  struct stat held = {};
  struct stat present = {};
  return fstat(fd, &held) == 0 && stat(path.c_str(), &present) == 0 && held.st_ino == present.st_ino &&
         held.st_dev == present.st_dev;
}

}  // namespace

absl::StatusOr<LabLock> LabLock::Take(const Layout& layout) {
  const std::string path = layout.LockFile();
  while (true) {
    std::error_code error;
    std::filesystem::create_directories(kLabsDir, error);
    if (error) return Error(absl::StatusCode::kInternal, "{}: {}", kLabsDir, error.message());
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 && errno == ENOENT) continue;  // The last lab's `down` removed the directory just now.
    if (fd < 0) return SystemError(path);
    LabLock lock(path, fd);
    int result = 0;
    while ((result = flock(fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (result != 0) return SystemError(path);
    if (IsStillAt(fd, path)) return lock;
  }
}

LabLock::LabLock(LabLock&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

LabLock::~LabLock() {
  if (fd_ >= 0) close(fd_);
}

void LabLock::RemoveFile() {
  unlink(path_.c_str());
  rmdir(std::string(kLabsDir).c_str());  // Fails while other labs use it.
}

}  // namespace kasane::lab
