// FileLock: one process at a time, by a lock file that says who holds it.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <string>

namespace kasane {

// The kernel releases it when the process ends, however it ends; the file stays. Movable.
class FileLock {
 public:
  // Opens or makes `path` with `mode` and locks it; never waits. ALREADY_EXISTS if another process holds it:
  // the message is "pid 4711" (or "pid unknown"), for the caller to say what is locked. NOT_FOUND if the
  // directory is missing, UNAVAILABLE if the file cannot be opened, locked or written.
  static absl::StatusOr<FileLock> Take(const std::string& path, mode_t mode);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;  // -1: moved from.
};

}  // namespace kasane
