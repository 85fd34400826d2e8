// A topology as the lab needs it: the resources for the controller, and the same as values to plan from.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "model/files/resource_file.h"
#include "model/network_state.h"

namespace kasane::lab {

struct Topology {
  files::ResourceFile file;
  model::NetworkState state;
  std::vector<std::string> left_out;  // What of the file is not taken, a line each, with the reason.
};

// Reads a resource file or a dump of a real cloud: what `kasanectl import` would take of it.
absl::StatusOr<Topology> LoadTopology(const std::string& path);

}  // namespace kasane::lab
