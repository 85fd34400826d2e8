#include "tests/differential/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/status.h"
#include "tests/lab/process.h"

namespace kasane::differential {
namespace {

// The guard's side. Daemons that ended in good order are gone: a pidfd never means a later process.
[[noreturn]] void WaitAndEnd(int from_parent, const std::string& directory) {
  setsid();  // What interrupts the terminal's foreground is not for it.
  std::vector<int> daemons;
  pid_t daemon = 0;
  ssize_t size = 0;
  while ((size = read(from_parent, &daemon, sizeof daemon)) != 0) {
    if (size < 0 && errno != EINTR) break;
    if (size != static_cast<ssize_t>(sizeof daemon)) continue;
    if (auto fd = lab::OpenPidfd(daemon); fd.ok()) daemons.push_back(*fd);
  }
  for (const int fd : daemons) syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  _exit(0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Guard>> Guard::Start(const std::string& directory) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error(absl::StatusCode::kInternal, "pipe: {}", std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[1]);
    WaitAndEnd(ends[0], directory);
  }
  const int fork_error = errno;
  close(ends[0]);
  if (pid > 0) return std::unique_ptr<Guard>(new Guard(ends[1], pid));
  close(ends[1]);
  return Error(absl::StatusCode::kInternal, "fork: {}", std::strerror(fork_error));
}

Guard::~Guard() {
  close(to_guard_);
  waitpid(guard_, nullptr, 0);
}

absl::Status Guard::Watch(pid_t daemon) {
  if (write(to_guard_, &daemon, sizeof daemon) == static_cast<ssize_t>(sizeof daemon)) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "the guard of the daemons is gone: {}", std::strerror(errno));
}

}  // namespace kasane::differential
