// Daemons that detach themselves outlive the process that started them when it is killed: a guard ends them.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace kasane::differential {

// A process beside this one that waits for its end, however it comes, then kills what it was told of and
// removes `directory`.
class Guard {
 public:
  // Forks: to be called before this process has threads.
  static absl::StatusOr<std::unique_ptr<Guard>> Start(const std::string& directory);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  absl::Status Watch(pid_t daemon);

 private:
  Guard(int to_guard, pid_t guard) : to_guard_(to_guard), guard_(guard) {}

  int to_guard_;  // A pipe: it ends with this process.
  pid_t guard_;
};

}  // namespace kasane::differential
