// Pages of what matches a filter, in the order of keys: List and ListKeys.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <set>
#include <string>

#include "controller/store/snapshot.h"

namespace kasane::v1 {
class ResourceFilter;
}  // namespace kasane::v1

namespace kasane::controller {

// The kinds that a filter names; all if none. INVALID_ARGUMENT: one is not known.
absl::StatusOr<std::set<model::Kind>> KindsOf(const v1::ResourceFilter& filter);

class Filter {
 public:
  static absl::StatusOr<Filter> Make(const v1::ResourceFilter& filter, const Snapshot& snapshot);

  bool Matches(const model::ResourceKey& key, const v1::Resource& resource) const;
  const std::set<model::Kind>& kinds() const { return kinds_; }

 private:
  bool OnNetwork(const model::ResourceKey& key, const v1::Resource& resource) const;

  std::set<model::Kind> kinds_;
  std::string network_;
  std::string host_;
  std::string project_;
  absl::flat_hash_set<std::string> routers_;  // With a port on network_.
};

// Calls `add` for each match behind `token` until it returns false. Returns the token of the next page, "" if
// there is none. INVALID_ARGUMENT: the token is none of ours.
absl::StatusOr<std::string> ReadPage(
    const Snapshot& snapshot, const Filter& filter, const std::string& token,
    absl::FunctionRef<bool(const model::ResourceKey&, const v1::Resource&)> add);

}  // namespace kasane::controller
