// A dump of a real cloud as what can be taken of it: each resource whole, in part with what is missing named,
// or left out with its reason. Nothing that is in a dump refuses the dump.
//
// Checks that concern one resource alone are done here. What only the controller can see (a reference to
// nothing, two owners of one address) comes back from it as faults, which TakeFaults() takes out in the same
// way: ask again until it has none. What depends on a resource that is left out goes with it, at once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ctl/import/repair.h"
#include "model/decode.h"
#include "model/files/resource_file.h"

namespace kasane::v1 {
class ApplyRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

// One resource of a dump.
struct ImportItem {
  std::string kind;  // The plural: "ports", "trunks".
  std::string id;    // Empty: it has none.
  std::string name;  // The same.
  std::string path;  // "dump.json: ports[3]"
  int line = 0;
  std::vector<Shortfall> shortfalls;    // What of it is not enforced, or not as the dump says.
  std::optional<std::string> left_out;  // Why. Absent: it is taken.
};

class ImportPlan {
 public:
  // Of files that were read with Unknown::kNote.
  explicit ImportPlan(std::vector<files::ResourceFile> files);
  ImportPlan(ImportPlan&&) noexcept;
  ImportPlan& operator=(ImportPlan&&) noexcept;
  ~ImportPlan();

  // What is taken, to be applied.
  v1::ApplyRequest Request(bool dry_run) const;

  // Takes out what the controller found wrong in a Request(). False: none of it is anything of this dump.
  bool TakeFaults(const std::vector<model::Fault>& faults);
  // Notes what of the resources that are taken is not enforced. Found here and not taken from the controller's
  // reply, which names no more than some thousands.
  void NoteNotEnforced();

  // In the order of the files: of the kinds that Kasane has, then others.
  std::vector<const ImportItem*> Items() const;
  // Fields and sections that say nothing that would matter, by path.
  const std::map<std::string, files::UnusedField>& unused() const { return unused_; }
  bool empty() const;

 private:
  struct Candidate;

  void AddFile(files::ResourceFile file);
  bool TakeEach(const std::vector<model::Fault>& faults);
  void TakeFormFaults(const std::vector<model::Fault>& faults, const std::string& file);
  // Leaves out what is not delegated yet, and the addresses on it.
  void TakeProvisionalSubnets();
  void Decode(Candidate& candidate);
  // One round of faults of one resource.
  void Take(Candidate& candidate, const std::vector<PartFault>& faults);
  void LeaveOut(Candidate& candidate, std::string reason);
  void LeaveOutDependents();
  // The candidate whose path `path` begins with, and the rest of it.
  std::optional<std::pair<size_t, std::string>> Find(const std::string& path) const;

  std::vector<Candidate> candidates_;
  std::vector<ImportItem> others_;
  std::map<std::string, files::UnusedField> unused_;
  std::map<std::string, size_t, std::less<>> by_path_;
  std::map<model::ResourceKey, size_t> by_key_;
  std::set<model::ResourceKey> new_gone_;  // Left out, and their dependents not yet.
};

}  // namespace kasane::ctl
