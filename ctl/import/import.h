// Imports a dump: asks for the whole plan, takes out what the controller refuses, and asks again until it takes
// what is left.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include "ctl/import/import_plan.h"

namespace kasane::v1 {
class ApplyResponse;
class ApplyRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

using ApplyCall = absl::FunctionRef<absl::StatusOr<v1::ApplyResponse>(const v1::ApplyRequest&)>;

// The reply that has no faults; `plan` then says what became of each resource. An error if a call failed, or if
// the controller has faults that are of nothing in the dump.
absl::StatusOr<v1::ApplyResponse> Import(ImportPlan& plan, bool dry_run, ApplyCall apply);

}  // namespace kasane::ctl
