// Faults of a request as messages, and as the status of a call that they fail.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "controller/validate/validate.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::controller {

// Faults of what the resources say, and of revisions that were expected to be others. Each list in the order of
// items.
struct RequestFaults {
  std::vector<ItemFault> invalid;
  std::vector<ItemFault> mismatched;

  bool empty() const { return invalid.empty() && mismatched.empty(); }
};

// Both lists, in the order of the items.
std::vector<ItemFault> InOrder(RequestFaults faults);
std::vector<ItemFault> Merged(std::vector<ItemFault> a, std::vector<ItemFault> b);

// Appends at most so many that `to` has `max_listed`. Returns how many are left out.
uint32_t AppendFaults(const std::vector<ItemFault>& from, size_t max_listed,
                      google::protobuf::RepeatedPtrField<v1::Fault>& to);

// INVALID_ARGUMENT, or FAILED_PRECONDITION if only revisions are other than expected, with the first faults as
// details. `outcome` says what was not done: "nothing was stored".
absl::Status FaultStatus(const RequestFaults& faults, std::string_view outcome);

}  // namespace kasane::controller
