// Says how a lab fares.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace kasane::lab {

// Text for people: the controller, each hypervisor's daemons and ports, the VMs. An error if the lab is not
// up.
absl::StatusOr<std::string> StatusText(const std::string& lab);

}  // namespace kasane::lab
