// A topology as the lab needs it: the resources for the controller, and the same as values to plan from.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "model/files/resource_file.h"
#include "model/network_state.h"

namespace kasane::lab {

struct Topology {
  files::ResourceFile file;
  model::NetworkState state;
};

// Reads a resource file. The error names every fault of the file and of its resources, a line each.
// References between resources are the controller's to judge.
absl::StatusOr<Topology> LoadTopology(const std::string& path);

}  // namespace kasane::lab
