#include "ctl/output/import_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "ctl/import/import_plan.h"
#include "ctl/output/apply_report.h"
#include "ctl/output/output.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"

namespace kasane::ctl {
namespace {

using nlohmann::ordered_json;

void Add(ImportCounts& counts, const ImportItem& item) {
  if (item.left_out) {
    ++counts.left_out;
  } else if (item.shortfalls.empty()) {
    ++counts.whole;
  } else {
    ++counts.in_part;
  }
}

// In the order of the dump's sections.
std::vector<std::pair<std::string, ImportCounts>> CountByKind(const ImportPlan& plan) {
  std::vector<std::pair<std::string, ImportCounts>> out;
  for (const ImportItem* item : plan.Items()) {
    auto found =
        std::find_if(out.begin(), out.end(), [&](const auto& kind) { return kind.first == item->kind; });
    if (found == out.end()) found = out.insert(out.end(), {item->kind, ImportCounts()});
    Add(found->second, *item);
  }
  return out;
}

std::vector<std::string> CountsRow(std::string title, const ImportCounts& counts) {
  return {std::move(title), fmt::format("{}", counts.whole), fmt::format("{}", counts.in_part),
          fmt::format("{}", counts.left_out)};
}

std::string CountsTable(const ImportPlan& plan) {
  Table table({{"KIND"},
               {.title = "WHOLE", .right = true},
               {.title = "IN PART", .right = true},
               {.title = "LEFT OUT", .right = true}});
  for (const auto& [kind, counts] : CountByKind(plan)) table.Add(CountsRow(kind, counts));
  table.Add(CountsRow("all", CountImport(plan)));
  return table.ToString();
}

std::vector<Unenforced> ShortfallsOf(const ImportPlan& plan) {
  std::vector<Unenforced> out;
  for (const ImportItem* item : plan.Items()) {
    if (item->left_out) continue;
    for (const Shortfall& shortfall : item->shortfalls)
      out.push_back({item->kind, item->id, item->name, shortfall.feature, shortfall.detail});
  }
  return out;
}

std::string Where(const ImportItem& item) {
  return item.line > 0 ? fmt::format("{} (line {})", item.path, item.line) : item.path;
}

std::string LeftOutText(const ImportPlan& plan, bool verbose) {
  constexpr size_t kShown = 20;
  Table table({{"WHERE"}, {"ID", 36}, {"NAME", 20}, {.title = "WHY", .width = 80, .wrap = true}});
  size_t count = 0;
  for (const ImportItem* item : plan.Items()) {
    if (!item->left_out) continue;
    if (++count <= kShown || verbose) table.Add({Where(*item), item->id, item->name, *item->left_out});
  }
  if (count == 0) return "";
  std::string out = "\nLeft out:\n" + table.ToString();
  if (count > kShown && !verbose) out += fmt::format("and {} more (-v lists each)\n", count - kShown);
  return out;
}

std::vector<files::UnusedField> UnusedOf(const ImportPlan& plan) {
  std::vector<files::UnusedField> out;
  for (const auto& [path, field] : plan.unused()) out.push_back(field);
  return out;
}

}  // namespace

ImportCounts CountImport(const ImportPlan& plan) {
  ImportCounts counts;
  for (const ImportItem* item : plan.Items()) Add(counts, *item);
  return counts;
}

std::string ImportText(const ImportPlan& plan, const v1::ApplyResponse& reply, bool dry_run, bool verbose) {
  std::string out = dry_run ? "Dry run: nothing was stored. It would be taken:\n" : "Taken of the dump:\n";
  out += CountsTable(plan) + "\n" + ChangesTable({reply.changes().begin(), reply.changes().end()});
  for (const v1::Fault& warning : reply.warnings())
    out += fmt::format("warning: {}: {}\n", warning.path(), warning.message());
  if (const auto shortfalls = ShortfallsOf(plan); !shortfalls.empty()) {
    out += fmt::format("\nIn part: asked for, and not enforced by this version{}:\n",
                       verbose ? "" : " (-v lists each)");
    out += UnenforcedTable(shortfalls, verbose);
  }
  out += LeftOutText(plan, verbose);
  if (verbose) out += UnusedText(UnusedOf(plan));
  return out;
}

ordered_json ImportJson(const ImportPlan& plan, const v1::ApplyResponse& reply, bool dry_run) {
  const ImportCounts all = CountImport(plan);
  ordered_json out = {{"dry_run", dry_run},
                      {"taken_whole", all.whole},
                      {"taken_in_part", all.in_part},
                      {"left_out", all.left_out},
                      {"revision", reply.revision().counter()}};
  out["kinds"] = ordered_json::object();
  for (const auto& [kind, counts] : CountByKind(plan)) {
    out["kinds"][kind] = {
        {"taken_whole", counts.whole}, {"taken_in_part", counts.in_part}, {"left_out", counts.left_out}};
  }
  std::map<v1::Change, size_t> changes;
  for (const v1::ChangedResource& change : reply.changes()) ++changes[change.change()];
  out["changes"] = {{"created", changes[v1::CHANGE_CREATED]},
                    {"updated", changes[v1::CHANGE_UPDATED]},
                    {"unchanged", changes[v1::CHANGE_UNCHANGED]}};
  out["in_part"] = ordered_json::array();
  out["left_out_resources"] = ordered_json::array();
  for (const ImportItem* item : plan.Items()) {
    ordered_json entry = {{"kind", item->kind},
                          {"id", item->id},
                          {"name", item->name},
                          {"path", item->path},
                          {"line", item->line}};
    if (item->left_out) {
      entry["reason"] = *item->left_out;
      out["left_out_resources"].push_back(std::move(entry));
    } else if (!item->shortfalls.empty()) {
      for (const Shortfall& shortfall : item->shortfalls)
        entry["not_enforced"].push_back({{"feature", shortfall.feature}, {"detail", shortfall.detail}});
      out["in_part"].push_back(std::move(entry));
    }
  }
  out["unused_fields"] = ordered_json::array();
  for (const auto& [path, field] : plan.unused())
    out["unused_fields"].push_back({{"path", path}, {"count", field.count}, {"metadata", field.metadata}});
  out["warnings"] = ordered_json::array();
  for (const v1::Fault& warning : reply.warnings())
    out["warnings"].push_back({{"path", warning.path()}, {"message", warning.message()}});
  return out;
}

}  // namespace kasane::ctl
