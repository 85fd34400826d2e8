// What Delete does: one transaction that removes resources. Free of gRPC.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include "controller/store/state_hub.h"

namespace kasane::v1 {
class DeleteRequest;
class DeleteResponse;
}  // namespace kasane::v1

namespace kasane::controller {

// What is not there is unchanged. `is_connected`: a host with a live agent is not deleted, for it would come
// back at once. With faults and without dry_run: an error with the first of them as details.
absl::Status Delete(StateHub& hub, absl::FunctionRef<bool(const HostId&)> is_connected,
                    const v1::DeleteRequest& request, size_t max_listed, v1::DeleteResponse& response);

}  // namespace kasane::controller
