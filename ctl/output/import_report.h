// What `kasanectl import` says of a dump: how much of it was taken whole, in part, or left out, and why.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kasane::v1 {
class ApplyResponse;
}  // namespace kasane::v1

namespace kasane::ctl {

class ImportPlan;

struct ImportCounts {
  size_t whole = 0;
  size_t in_part = 0;
  size_t left_out = 0;
};

ImportCounts CountImport(const ImportPlan& plan);

// For people. Without `verbose` features are summed up and only the first resources that are left out are
// named.
std::string ImportText(const ImportPlan& plan, const v1::ApplyResponse& reply, bool dry_run, bool verbose);

// For programs: everything.
nlohmann::ordered_json ImportJson(const ImportPlan& plan, const v1::ApplyResponse& reply, bool dry_run);

}  // namespace kasane::ctl
