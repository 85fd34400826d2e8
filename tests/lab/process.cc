#include "tests/lab/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/status.h"
#include "tests/lab/netns.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

// What a child needs, made before fork: between fork and exec only system calls are safe.
struct Image {
  explicit Image(const Command& command) {
    for (const std::string& argument : command.argv) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    for (char** variable = environ; *variable != nullptr; ++variable) envp.push_back(*variable);
    // getenv finds the first of a name, so the additions go before what is inherited.
    for (const std::string& addition : command.environment) {
      envp.insert(envp.begin(), const_cast<char*>(addition.c_str()));
    }
    envp.push_back(nullptr);
    if (!command.netns.empty()) netns_path = NetnsPath(command.netns);
  }

  std::vector<char*> argv;
  std::vector<char*> envp;
  std::string netns_path;
  const pid_t parent = getpid();
};

// The child's side. Returns only by _exit: 127 with errno in `report` if the program cannot be executed.
[[noreturn]] void Become(const Image& image, int in, int out, int inherited_fd, bool daemon, int report) {
  bool ok = true;
  if (!image.netns_path.empty()) {
    const int netns = open(image.netns_path.c_str(), O_RDONLY | O_CLOEXEC);
    ok = netns >= 0 && setns(netns, CLONE_NEWNET) == 0;
  }
  if (ok && daemon) ok = setsid() >= 0;
  // What runs for a killed `up` must not go on building: `down` could not find it. The parent may have died
  // before it was told.
  if (ok && !daemon) ok = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == image.parent;
  if (ok) ok = dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0;
  if (ok && inherited_fd >= 0) ok = fcntl(inherited_fd, F_SETFD, 0) == 0;
  if (ok) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(image.argv[0], image.argv.data(), image.envp.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

// Forks and executes; returns when the program runs.
absl::StatusOr<pid_t> Launch(const Command& command, int in, int out, bool daemon) {
  const Image image(command);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return Error(absl::StatusCode::kInternal, "pipe: {}", std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) Become(image, in, out, command.inherited_fd, daemon, report[1]);
  const int fork_error = errno;
  close(report[1]);
  int child_error = 0;
  const ssize_t size = pid < 0 ? 0 : read(report[0], &child_error, sizeof child_error);
  close(report[0]);
  if (pid < 0) return Error(absl::StatusCode::kInternal, "fork: {}", std::strerror(fork_error));
  if (size == 0) return pid;
  waitpid(pid, nullptr, 0);
  return Error(absl::StatusCode::kInternal, "running {}{}{}: {}", command.argv[0],
               command.netns.empty() ? "" : " in namespace ", command.netns, std::strerror(child_error));
}

std::string Text(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) text += (text.empty() ? "" : " ") + argument;
  return text.size() <= 200 ? text : text.substr(0, 200) + "...";
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t size = 0; (size = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, size);
  return text;
}

// Field 22 of /proc/PID/stat: when the process started, in clock ticks. Empty if there is none, or if it
// ended and was not reaped yet.
std::string StartTime(pid_t pid) {
  const auto read = ReadFile(fmt::format("/proc/{}/stat", pid));
  if (!read.ok()) return "";
  const std::string& text = *read;
  const size_t name_end = text.rfind(')');  // The name before it may hold spaces.
  if (name_end == std::string::npos) return "";
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return "";
  for (int number = 4; number <= 22; ++number) fields >> field;
  return field;
}

}  // namespace

std::string OwnDirectory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(
      fmt::format("{}:{}:/usr/sbin:/sbin:/usr/bin:/bin", OwnDirectory(), path == nullptr ? "" : path));
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = directory + "/" + name;
    if (!directory.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  if (name.compare(0, 6, "kasane") == 0) {
    return Error(absl::StatusCode::kNotFound, "{} is not in {}: build it (ninja {})", name, OwnDirectory(),
                 name);
  }
  return Error(absl::StatusCode::kNotFound, "{} is not installed: deploy/install-deps.sh installs it", name);
}

absl::StatusOr<std::string> Run(const Command& command) {
  // Files in memory, not pipes: neither side can block on the other, and a daemon that the program leaves
  // behind cannot keep the reader waiting.
  const int in = memfd_create("input", MFD_CLOEXEC);
  const int out = memfd_create("output", MFD_CLOEXEC);
  if (in < 0 || out < 0 ||
      write(in, command.input.data(), command.input.size()) != static_cast<ssize_t>(command.input.size())) {
    const int saved = errno;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return Error(absl::StatusCode::kInternal, "memfd: {}", std::strerror(saved));
  }
  lseek(in, 0, SEEK_SET);
  auto pid = Launch(command, in, out, /*daemon=*/false);
  int exit_status = 0;
  if (pid.ok()) waitpid(*pid, &exit_status, 0);
  std::string output = ReadAll(out);
  close(in);
  close(out);
  if (!pid.ok()) return pid.status();
  if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 0) return output;
  return Error(absl::StatusCode::kInternal, "{}{}{}: {}", command.netns, command.netns.empty() ? "" : ": ",
               Text(command.argv), output.empty() ? fmt::format("status {}", exit_status) : output);
}

absl::StatusOr<pid_t> Start(const Command& command) {
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::string log = command.log.empty() ? "/dev/null" : command.log;
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int open_error = errno;
  absl::StatusOr<pid_t> pid = Error(absl::StatusCode::kInternal, "{}: {}", log, std::strerror(open_error));
  if (in >= 0 && out >= 0) pid = Launch(command, in, out, /*daemon=*/true);
  if (in >= 0) close(in);
  if (out >= 0) close(out);
  return pid;
}

absl::Status RecordProcess(const std::string& path, pid_t pid) {
  return WriteFile(path, fmt::format("{} {}\n", pid, StartTime(pid)));
}

pid_t RecordedProcess(const std::string& path) {
  std::ifstream file(path);
  pid_t pid = 0;
  std::string start_time;
  if (!(file >> pid >> start_time) || pid <= 1 || start_time != StartTime(pid)) return 0;
  return pid;
}

std::vector<pid_t> OtherProcesses() {
  std::vector<pid_t> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string text = entry.path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (parsed.ec == std::errc() && *parsed.ptr == '\0' && pid != getpid()) processes.push_back(pid);
  }
  return processes;
}

absl::StatusOr<int> OpenPidfd(pid_t pid) {
  const auto fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return Error(absl::StatusCode::kNotFound, "process {}: {}", pid, std::strerror(errno));
  return fd;
}

void EndProcesses(const std::vector<pid_t>& processes, int patience_ms) {
  std::vector<pollfd> ends;
  for (const pid_t pid : processes) {
    auto fd = OpenPidfd(pid);
    if (!fd.ok()) continue;
    syscall(SYS_pidfd_send_signal, *fd, SIGTERM, nullptr, 0);
    ends.push_back({*fd, POLLIN, 0});
  }
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
  bool killed = false;
  while (!ends.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && !killed) {
      for (const pollfd& end : ends) syscall(SYS_pidfd_send_signal, end.fd, SIGKILL, nullptr, 0);
      killed = true;
    }
    poll(ends.data(), ends.size(), killed ? -1 : static_cast<int>(left));
    std::vector<pollfd> alive;
    for (const pollfd& end : ends) {
      if (end.revents == 0) {
        alive.push_back({end.fd, POLLIN, 0});
      } else {
        close(end.fd);
      }
    }
    ends = std::move(alive);
  }
}

absl::Status WriteFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.good()) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "writing {}: {}", path, std::strerror(errno));
}

// By system calls: a stream throws when a process ends while its file in /proc is read.
absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error(absl::StatusCode::kNotFound, "{}: {}", path, std::strerror(errno));
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(fd, buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR)) {
    if (size > 0) text.append(buffer, static_cast<size_t>(size));
  }
  const int saved = errno;
  close(fd);
  if (size == 0) return text;
  return Error(absl::StatusCode::kInternal, "{}: {}", path, std::strerror(saved));
}

std::string TailOfFile(const std::string& path, int lines) {
  auto text = ReadFile(path);
  if (!text.ok()) return "";
  size_t begin = text->size();
  for (int line = 0; line <= lines && begin != std::string::npos && begin != 0; ++line) {
    begin = text->rfind('\n', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? *text : text->substr(begin + 1);
}

}  // namespace kasane::lab
