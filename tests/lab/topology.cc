#include "tests/lab/topology.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::lab {

absl::StatusOr<Topology> LoadTopology(const std::string& path) {
  ASSIGN_OR_RETURN(files::ResourceFile file, files::ReadResourceFile(path));
  Topology topology{std::move(file), {}};
  std::vector<model::Fault> faults = topology.file.faults;
  for (const v1::ApplyItem& item : topology.file.items) {
    if (auto resource = Decode(item.resource(), item.path(), faults)) Upsert(topology.state, *resource);
  }
  if (faults.empty()) return topology;
  std::string message;
  for (const model::Fault& fault : faults)
    message += fmt::format("{}{}: {}", message.empty() ? "" : "\n", path, ToString(fault));
  return absl::InvalidArgumentError(Absl(message));
}

}  // namespace kasane::lab
