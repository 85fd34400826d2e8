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

// Something that is asked for and not done.
struct Unenforced {
  std::string kind;  // The plural: "ports", "trunks".
  std::string id;
  std::string name;
  std::string feature;
  std::string detail;
};

// A line for each feature with the number of resources; with `verbose`, a line for each resource.
std::string UnenforcedTable(const std::vector<Unenforced>& items, bool verbose);
std::string NotEnforcedTable(const std::vector<v1::NotEnforced>& items, bool verbose);

// The known fields that are not used: a line for each, those that are no more than remarks in one. Empty if
// there are none.
std::string UnusedText(const std::vector<files::UnusedField>& fields);

// What the files ask for by fields and sections that are not stored, beside what the reply lists.
void AddNotEnforcedOfFiles(const std::vector<files::ResourceFile>& files, v1::ApplyResponse& reply);

// All of a successful apply, for people.
std::string ApplyReport(const v1::ApplyResponse& reply, const std::vector<files::ResourceFile>& files,
                        bool dry_run, bool verbose);

}  // namespace kasane::ctl
