// Restarts a hypervisor's agent, as an operator or a crash does.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace kasane::lab {

// Ends the agent of `host`, by SIGKILL if `kill`, else by SIGTERM, and starts it again. Returns once the new
// one has everything from the controller and the datapath has acknowledged it.
absl::Status RestartAgent(const std::string& lab, const std::string& host, bool kill);

}  // namespace kasane::lab
