// Results of cases as text for people and as JSON.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "tests/lab/case/runner.h"

namespace kasane::lab {

// "ok   arp_probe_not_answered  sim 0.01 s", and for a failure the step, what was expected and what was seen.
std::string ResultText(const CaseResult& result);

std::string ResultJson(const CaseResult& result);  // One line.
absl::StatusOr<CaseResult> ResultFromJson(const std::string& text);

std::string ReportJson(const std::vector<CaseResult>& results, double seconds);
std::string SummaryText(const std::vector<CaseResult>& results, double seconds);
bool AllPassed(const std::vector<CaseResult>& results);

}  // namespace kasane::lab
