// What Apply and Delete do: decode, judge and commit a request as one transaction. Free of gRPC.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include "controller/store/state_hub.h"

namespace kasane::v1 {
class ApplyResponse;
class ApplyRequest;
class DeleteResponse;
class DeleteRequest;
}  // namespace kasane::v1

namespace kasane::controller {

// Bounds of one request.
inline constexpr int kMaxItems = 200'000;
inline constexpr size_t kMaxPathBytes = 512;

// What is wrong with the resources comes back in `reply`. An error only if the request is out of bounds, or
// if the store cannot write: then nothing has changed.
absl::Status Apply(StateHub& hub, const v1::ApplyRequest& request, v1::ApplyResponse& reply);

// `is_connected`: a host with a live agent is not deleted, for it would come back at once.
absl::Status Delete(StateHub& hub, absl::FunctionRef<bool(const HostId&)> is_connected,
                    const v1::DeleteRequest& request, v1::DeleteResponse& reply);

// Makes the host known with the tunnel addresses that its agent announces. FAILED_PRECONDITION if its
// addresses are pinned to others, or if another host has one of them.
absl::Status AdmitHost(StateHub& hub, const model::Host& announced);

}  // namespace kasane::controller
