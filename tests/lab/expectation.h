// What a lab is expected to do, written down by hand from its topology: a judge that shares no code with
// what it judges.
//
//   reach:                      # These VMs reach each other; nobody else reaches them.
//     - name: two networks and the router between them
//       families: [v4, v6]
//       vms: [a1, a2]
//   probes:                     # Addresses beside the VMs' own.
//     - from: [a1]
//       to: 192.0.2.1
//       answered_by: a2         # Or `nobody`.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

struct ReachGroup {
  std::string name;
  std::vector<IpFamily> families;
  std::vector<std::string> vms;

  bool operator==(const ReachGroup&) const = default;
};

struct ExtraProbe {
  std::vector<std::string> from;
  IpAddress to;
  std::optional<std::string> answered_by;  // Absent: nobody.

  bool operator==(const ExtraProbe&) const = default;
};

struct Expectation {
  std::vector<ReachGroup> groups;
  std::vector<ExtraProbe> probes;

  bool operator==(const Expectation&) const = default;
};

// `name` begins each message, with the line.
absl::StatusOr<Expectation> ParseExpectation(const std::string& name, const std::string& text);

// That every VM named is in the plan, and every VM of the plan in a group.
absl::Status CheckExpectation(const Expectation& expectation, const LabPlan& plan);

// True if `from` and `to` share a group that holds for the family.
bool ExpectsReach(const Expectation& expectation, const std::string& from, const std::string& to,
                  IpFamily family);

}  // namespace kasane::lab
