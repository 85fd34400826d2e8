#include "ctl/output/apply_report.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ctl/output/output.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::ctl {
namespace {

std::string KindLabel(v1::ResourceKind kind) {
  v1::ResourceKey key;
  key.set_kind(kind);
  key.set_id("-");
  const auto decoded = model::DecodeKey(key);
  return decoded ? std::string(Label(decoded->kind)) : "?";
}

std::string KindPlural(v1::ResourceKind kind) {
  v1::ResourceKey key;
  key.set_kind(kind);
  key.set_id("-");
  const auto decoded = model::DecodeKey(key);
  return decoded ? std::string(model::Plural(decoded->kind)) : "?";
}

struct Feature {
  std::map<std::string, int> kinds;  // Resources by the plural of their kind.
  std::set<std::string> details;
};

std::string CondensedNotEnforced(const std::vector<v1::NotEnforced>& items) {
  std::map<std::string, Feature> features;
  for (const v1::NotEnforced& item : items) {
    Feature& feature = features[item.feature()];
    ++feature.kinds[KindPlural(item.key().kind())];
    feature.details.insert(item.detail());
  }
  Table table({{"FEATURE"}, {"RESOURCES"}, {.title = "WHAT IT MEANS", .width = 90, .wrap = true}});
  for (const auto& [name, feature] : features) {
    std::vector<std::string> counts;
    for (const auto& [kind, count] : feature.kinds) counts.push_back(fmt::format("{} {}", count, kind));
    const bool alike = feature.details.size() == 1;
    table.Add({name, Join(counts), (alike ? "" : "For example: ") + *feature.details.begin()});
  }
  return table.ToString();
}

}  // namespace

std::string ChangesTable(const std::vector<v1::ChangedResource>& changes) {
  static constexpr std::pair<v1::Change, const char*> kColumns[] = {{v1::CHANGE_CREATED, "CREATED"},
                                                                    {v1::CHANGE_UPDATED, "UPDATED"},
                                                                    {v1::CHANGE_UNCHANGED, "UNCHANGED"},
                                                                    {v1::CHANGE_DELETED, "DELETED"}};
  std::map<v1::ResourceKind, std::map<v1::Change, int>> counts;
  std::set<v1::Change> used;
  for (const v1::ChangedResource& change : changes) {
    ++counts[change.key().kind()][change.change()];
    used.insert(change.change());
  }
  std::vector<Column> columns = {{"KIND"}};
  for (const auto& [change, title] : kColumns) {
    if (used.contains(change)) columns.push_back({.title = title, .right = true});
  }
  Table table(std::move(columns));
  for (auto& [kind, by_change] : counts) {
    std::vector<std::string> row = {KindPlural(kind)};
    for (const auto& [change, title] : kColumns) {
      if (used.contains(change)) row.push_back(fmt::format("{}", by_change[change]));
    }
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string NotEnforcedTable(const std::vector<v1::NotEnforced>& items, bool verbose) {
  if (!verbose) return CondensedNotEnforced(items);
  Table table(
      {{"KIND"}, {"ID"}, {"NAME", 20}, {"FEATURE"}, {.title = "WHAT IT MEANS", .width = 50, .wrap = true}});
  for (const v1::NotEnforced& item : items) {
    table.Add({KindLabel(item.key().kind()), item.key().id(), item.name(), item.feature(), item.detail()});
  }
  return table.ToString();
}

std::string UnusedTable(const std::vector<files::ResourceFile>& files) {
  Table table({{"FIELD"}, {.title = "RESOURCES", .right = true}, {"FILE"}});
  for (const files::ResourceFile& file : files) {
    for (const files::UnusedField& field : file.unused)
      table.Add({field.path, fmt::format("{}", field.count), file.name});
  }
  return table.empty() ? "" : table.ToString();
}

std::string ApplyReport(const v1::ApplyResponse& reply, const std::vector<files::ResourceFile>& files,
                        bool dry_run, bool verbose) {
  std::string out = dry_run ? "Dry run: nothing was stored. It would be:\n" : "";
  out += ChangesTable({reply.changes().begin(), reply.changes().end()});
  for (const v1::Fault& warning : reply.warnings()) {
    out += fmt::format("warning: {}: {}\n", warning.path(), warning.message());
  }
  if (!reply.not_enforced().empty()) {
    out += fmt::format("\nAsked for, and not enforced by this version{}:\n", verbose ? "" : " (-v lists each)");
    out += NotEnforcedTable({reply.not_enforced().begin(), reply.not_enforced().end()}, verbose);
  }
  if (const std::string unused = verbose ? UnusedTable(files) : ""; !unused.empty()) {
    out += "\nNeutron's fields that have a value and no use here:\n" + unused;
  }
  return out;
}

}  // namespace kasane::ctl
