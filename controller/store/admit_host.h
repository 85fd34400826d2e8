// A host that comes into being, or changes its addresses, by its agent's Hello.
#pragma once

#include <absl/status/status.h>

#include <map>
#include <mutex>

#include "controller/store/state_hub.h"

namespace kasane::controller {

// Admits hosts with the tunnel addresses that their agents announce. Two hosts never have one address: who
// announces another's is refused. What it announced is remembered: hosts that exchange addresses are all
// refused until the last of them has come, and then change in one transaction.
//
// Threads: any.
class HostAdmission {
 public:
  explicit HostAdmission(StateHub& hub) : hub_(hub) {}

  // FAILED_PRECONDITION if its addresses are pinned to others, or if another host has one of them and has not
  // announced others in its place.
  absl::Status Admit(const model::Host& announced);

 private:
  absl::StatusOr<std::vector<Change>> Plan(const model::NetworkState& state, const model::Host& announced);

  StateHub& hub_;
  std::mutex mutex_;                       // Held through a transaction, before the hub's.
  std::map<HostId, model::Host> refused_;  // What known hosts announced last, where it was refused.
};

}  // namespace kasane::controller
