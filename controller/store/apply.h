// What Apply and Import do: decode items as they arrive, then validate and commit all of them as one
// transaction. Free of gRPC.
#pragma once

#include <absl/status/status.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/state_hub.h"
#include "controller/validate/validate.h"

namespace kasane::v1 {
class ApplyItem;
class ApplyOptions;
class ApplyResponse;
}  // namespace kasane::v1

namespace kasane::controller {

inline constexpr size_t kMaxPathBytes = 512;
inline constexpr size_t kMaxSourceBytes = 64;

// The items of a request, decoded. Each takes the item's resource, so that it is in memory once.
class ApplyInput {
 public:
  // An error only if the item is out of bounds; what is wrong with the resource is a fault of it.
  absl::Status Add(v1::ApplyItem&& item);
  size_t size() const { return items_.size(); }

 private:
  friend class ApplyTransaction;
  std::vector<RequestItem> items_;
  std::vector<std::shared_ptr<v1::Resource>> resources_;  // One per item, as it is to be stored.
  std::vector<ItemFault> faults_;                         // Of decoding, in the order of the items.
  std::map<size_t, model::Revision> expected_;            // By item.
};

// How many faults, warnings and unenforced features a response lists; it counts the others.
struct ListedLimits {
  size_t faults = 0;
  size_t not_enforced = 0;
};

// With faults, and neither best_effort nor dry_run: an error with the first of them as details. Nothing has
// changed after an error.
absl::Status Apply(StateHub& hub, ApplyInput input, const v1::ApplyOptions& options, const ListedLimits& limits,
                   v1::ApplyResponse& response);

// Why a resource is not at the revision that a request expects (counter 0: not to be there). `stored` is null
// if it is not there. Empty: it is.
std::string RevisionMismatch(const model::Revision& expected, const v1::Resource* stored);

std::string NameOfStored(const v1::Resource& resource);

}  // namespace kasane::controller
