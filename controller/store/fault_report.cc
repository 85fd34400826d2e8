#include "controller/store/fault_report.h"

#include <absl/strings/cord.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"
#include "controller/store/messages.h"
#include "model/fault_details.h"
#include "rpc/status.h"

namespace kasane::controller {

std::vector<ItemFault> Merged(std::vector<ItemFault> a, std::vector<ItemFault> b) {
  std::vector<ItemFault> all;
  all.reserve(a.size() + b.size());
  std::merge(std::make_move_iterator(a.begin()), std::make_move_iterator(a.end()),
             std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()), std::back_inserter(all),
             [](const ItemFault& x, const ItemFault& y) { return x.item < y.item; });
  return all;
}

std::vector<ItemFault> InOrder(RequestFaults faults) {
  return Merged(std::move(faults.invalid), std::move(faults.mismatched));
}

uint32_t AppendFaults(const std::vector<ItemFault>& from, size_t max_listed,
                      google::protobuf::RepeatedPtrField<v1::Fault>& to) {
  const size_t room = max_listed - std::min(max_listed, static_cast<size_t>(to.size()));
  const size_t listed = std::min(from.size(), room);
  for (size_t i = 0; i < listed; ++i) {
    const ItemFault& fault = from[i];
    *to.Add() =
        MakeFault(fault.key.id.empty() ? std::nullopt : std::optional(fault.key), fault.path, fault.message);
  }
  return static_cast<uint32_t>(from.size() - listed);
}

absl::Status FaultStatus(const RequestFaults& faults, std::string_view outcome) {
  const bool invalid = !faults.invalid.empty();
  const std::vector<ItemFault> all = InOrder(faults);
  model::FaultDetails details;
  details.reason = invalid ? "INVALID_RESOURCES" : "REVISION_MISMATCH";
  details.total = all.size();
  for (size_t i = 0; i < std::min(all.size(), model::kMaxFaultsInDetails); ++i) {
    details.faults.push_back({all[i].path, all[i].message});
  }
  const auto code = invalid ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kFailedPrecondition;
  absl::Status status = Error(code, "{} fault{}, {}; the first: {}", all.size(), all.size() == 1 ? "" : "s",
                              outcome, model::ToString(details.faults.front()));
  const std::string bytes = model::EncodeFaultDetails(static_cast<int>(code), Message(status), details);
  status.SetPayload(rpc::kDetailsUrl, absl::Cord(bytes));
  return status;
}

}  // namespace kasane::controller
