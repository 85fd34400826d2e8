// Runs a command in a node of a lab.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

namespace kasane::lab {

// Becomes `command`, in the network namespace of `node`: a VM, a hypervisor, or "controller". Programs find
// the node's switch, agent and controller by themselves. Returns only on an error.
absl::Status Exec(const std::string& lab, const std::string& node, const std::vector<std::string>& command);

}  // namespace kasane::lab
