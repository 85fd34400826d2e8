// Runs a case's steps in a world and judges what comes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/case/case_file.h"
#include "tests/lab/case/world.h"

namespace kasane::lab {

struct CaseFailure {
  std::string where;  // "tests/cases/x.yaml:12: steps[3].ping"
  std::string expected;
  std::string seen;
};

struct CaseResult {
  std::string name;
  std::string datapath;
  std::optional<CaseFailure> failure;
  double seconds = 0;
  std::vector<std::string> notes;  // "stream a1 -> b1: 0 of 512 lost"
};

// Up to the first step that fails. Never an error: what goes wrong is the failure.
CaseResult RunCase(const Case& subject, CaseWorld& world);

}  // namespace kasane::lab
