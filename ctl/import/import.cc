#include "ctl/import/import.h"

#include "base/status.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {

absl::StatusOr<v1::ApplyResponse> Import(ImportPlan& plan, bool dry_run, ApplyCall apply) {
  // Each round takes something out of the plan, so that it ends.
  while (true) {
    ASSIGN_OR_RETURN(v1::ApplyResponse reply, apply(plan.Request(dry_run)));
    if (reply.faults().empty()) {
      plan.NoteNotEnforced();
      return reply;
    }
    std::vector<model::Fault> faults;
    for (const v1::Fault& fault : reply.faults()) faults.push_back({fault.path(), fault.message()});
    if (!plan.TakeFaults(faults)) return Error(absl::StatusCode::kInternal, "{}", ToString(faults.front()));
  }
}

}  // namespace kasane::ctl
