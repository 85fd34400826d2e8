// Claims on addresses: what hosts have observed becomes a resource that goes to the hosts in scope, and leaves
// with the port that made it.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "controller/store/state_hub.h"

namespace kasane::v1 {
class Report;
}  // namespace kasane::v1

namespace kasane::controller {

// Of one port; one with port security off could claim addresses without end.
inline constexpr size_t kMaxClaimsPerPort = 256;
inline constexpr int kMaxClaimsPerReport = 4096;

// Stores the claims that `host` reports as one transaction: those by ports bound to it, for what these may
// send, and newer than what is stored. The others are left out. An error if the report is out of bounds, or the
// store cannot write.
absl::Status TakeObserved(StateHub& hub, const HostId& host, const v1::Report& report);

// Adds to `changes` the deletions of the claims whose port they delete, move to another network or no longer
// allow to make them.
void DropStaleClaims(const Snapshot& before, std::vector<Change>& changes);

}  // namespace kasane::controller
