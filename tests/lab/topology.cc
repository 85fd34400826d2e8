#include "tests/lab/topology.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "controller/validate/validate.h"
#include "ctl/import/import.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::lab {
namespace {

// As a controller that stores nothing yet answers.
absl::StatusOr<v1::ApplyResponse> ValidateOnly(const v1::ApplyRequest& request) {
  v1::ApplyResponse response;
  std::vector<controller::RequestItem> items;
  std::vector<model::Fault> faults;
  for (const v1::ApplyItem& item : request.items()) {
    items.push_back({item.path(), model::DecodeKey(item.resource()),
                     model::Decode(item.resource(), item.path(), faults), false});
  }
  for (const controller::ItemFault& fault : controller::Validate({}, items).faults)
    faults.push_back({fault.path, fault.message});
  for (model::Fault& fault : faults) {
    v1::Fault& out = *response.add_faults();
    out.set_path(std::move(fault.path));
    out.set_message(std::move(fault.message));
  }
  return response;
}

}  // namespace

absl::StatusOr<Topology> LoadTopology(const std::string& path) {
  ASSIGN_OR_RETURN(files::ResourceFile read, files::ReadResourceFile(path, files::Unknown::kNote));
  std::vector<files::ResourceFile> files;
  files.push_back(std::move(read));
  ctl::ImportPlan plan(std::move(files));
  RETURN_IF_ERROR(ctl::Import(plan, /*dry_run=*/true, ValidateOnly).status());
  Topology topology;
  for (const ctl::ImportItem* item : plan.Items()) {
    if (item->left_out) topology.left_out.push_back(fmt::format("{}: {}", item->path, *item->left_out));
  }
  topology.file.name = path;
  v1::ApplyRequest taken = plan.Request(false);
  std::vector<model::Fault> none;
  for (v1::ApplyItem& item : *taken.mutable_items()) {
    if (auto resource = Decode(item.resource(), item.path(), none)) Upsert(topology.state, *resource);
    topology.file.items.push_back(std::move(item));
  }
  return topology;
}

}  // namespace kasane::lab
