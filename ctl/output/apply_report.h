// What `kasanectl apply` and `delete` tell of a transaction.
#pragma once

#include <string>
#include <vector>

#include "model/files/resource_file.h"

namespace kasane::v1 {
class ApplyResponse;
class ChangedResource;
class NotEnforced;
}  // namespace kasane::v1

namespace kasane::ctl {

// A table of kinds: how many created, updated, unchanged, deleted. Columns of zeros are left out.
std::string ChangesTable(const std::vector<v1::ChangedResource>& changes);

// A line for each feature with the number of resources; with `verbose`, a line for each resource.
std::string NotEnforcedTable(const std::vector<v1::NotEnforced>& items, bool verbose);

// A line for each known field that is not used.
std::string UnusedTable(const std::vector<files::ResourceFile>& files);

// All of a successful apply, for people.
std::string ApplyReport(const v1::ApplyResponse& reply, const std::vector<files::ResourceFile>& files,
                        bool dry_run, bool verbose);

}  // namespace kasane::ctl
