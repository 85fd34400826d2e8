// Finds what an operator means by a few letters: an id, a name, or the beginning of an id.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::inspect {

struct Candidate {
  vswitch::Owner owner;
  std::string name;  // Empty: none.

  bool operator==(const Candidate&) const = default;
};

inline constexpr size_t kMinPrefix = 4;

// The one of `candidates` that `text` names: by its id, else by its name, else by the beginning of its id
// (kMinPrefix characters or more). NOT_FOUND with what may be meant, or FAILED_PRECONDITION with the candidates
// if it is several. `what` says what is looked for: "local port".
absl::StatusOr<Candidate> LookUp(std::string_view text, const std::vector<Candidate>& candidates,
                                 std::string_view what);

std::vector<Candidate> LocalPortCandidates(const vswitch::HostView& view);
// Everything in the view that can own a flow, and the pipeline.
std::vector<Candidate> OwnerCandidates(const vswitch::HostView& view);

// The name of an owner, for people. Empty: it has none, or is not in the view.
std::string OwnerName(const vswitch::HostView& view, const vswitch::Owner& owner);

}  // namespace kasane::inspect
