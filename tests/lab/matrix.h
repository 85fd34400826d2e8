// The reachability matrix: which VM reaches which, against what was expected.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/lab/expectation.h"
#include "tests/lab/plan.h"
#include "tests/lab/prober.h"

namespace kasane::lab {

// One question and its answer. For an address of a VM: does `from` reach `to` by it? For another address:
// who answers?
struct Verdict {
  std::string from;
  std::optional<std::string> to;  // The VM that owns the address; absent for extra probes.
  IpAddress address;
  std::optional<std::string> expected;   // Who should answer; absent: `to` should not (or nobody).
  std::set<std::string> saw;             // Who answered, as far as it concerns this question.
  bool proved = true;                    // False: silence that proves nothing.
  absl::Status sent = absl::OkStatus();  // Not OK: silence because the question was not asked.

  bool AsExpected() const;
  // "shop-front1 -> ads-front1 (172.16.0.103): expected no answer, saw ads-front1"
  std::string ToString() const;
};

// The probes that answer all questions: one per VM and address. An error if two VMs that a VM should reach
// have the same address.
absl::StatusOr<std::vector<Probe>> ProbesFor(const LabPlan& plan, const Expectation& expectation);

// `results` are those of ProbesFor's probes.
std::vector<Verdict> Judge(const LabPlan& plan, const Expectation& expectation,
                           const std::vector<Probe>& probes, const std::vector<ProbeResult>& results);

// Rows are senders, columns the VMs that they reach, numbered like the rows; then each verdict that is not
// as expected, then the count.
std::string MatrixText(const LabPlan& plan, const std::vector<Verdict>& verdicts);
std::string MatrixJson(const LabPlan& plan, const std::vector<Verdict>& verdicts);

bool AllAsExpected(const std::vector<Verdict>& verdicts);

}  // namespace kasane::lab
