// Named network namespaces, as ip-netns(8) keeps them.
//
// A process enters with setns(2) alone. `ip netns exec` would also remount /sys, which hides what is
// mounted below it from long-running programs.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace kasane::lab {

std::string NetnsPath(std::string_view name);

// Names that begin with `prefix`, sorted.
std::vector<std::string> ListNetns(std::string_view prefix);

// Removes the name. The namespace goes with the last process in it.
absl::Status DeleteNetns(std::string_view name);

// Moves the calling thread, and with it threads and processes that it starts later, into `name` for good.
absl::Status EnterNetns(std::string_view name);

// The calling thread is in a namespace while this lives.
class NetnsScope {
 public:
  static absl::StatusOr<NetnsScope> Enter(std::string_view name);
  NetnsScope(NetnsScope&& other) noexcept;
  NetnsScope& operator=(NetnsScope&&) = delete;
  ~NetnsScope();

 private:
  explicit NetnsScope(int home) : home_(home) {}
  int home_;  // Descriptor of the namespace to return to; -1 after a move.
};

// Writes to /proc/sys/net in the calling thread's namespace: "ipv4/ip_forward", "1".
absl::Status SetSysctl(std::string_view name, std::string_view value);

// Processes that are in one of these namespaces now, this one excluded.
std::vector<pid_t> ProcessesIn(const std::vector<std::string>& namespaces);

}  // namespace kasane::lab
