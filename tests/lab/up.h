// Brings a lab up.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace kasane::lab {

struct UpOptions {
  std::string lab;
  std::string topology;                  // A resource file.
  bool wait = true;                      // Until every VM's port is ACTIVE.
  std::string datapath_type = "netdev";  // Of every hypervisor; see Hypervisor::datapath_type.
};

// Leaves the lab running. Progress goes to standard error. On an error before the controller accepted the
// topology nothing is left; after that the lab stays, so that its logs can be read, until `down`.
absl::Status Up(const UpOptions& options);

// The lab of this name is up, or was left over by one that failed.
bool Exists(const std::string& lab);

}  // namespace kasane::lab
