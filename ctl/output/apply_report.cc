#include "ctl/output/apply_report.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "ctl/output/output.h"
#include "kasane/v1/controller.pb.h"
#include "model/resource_name.h"

namespace kasane::ctl {
namespace {

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

std::string Condensed(const std::vector<Unenforced>& items) {
  std::map<std::string, Feature> features;
  for (const Unenforced& item : items) {
    Feature& feature = features[item.feature];
    ++feature.kinds[item.kind];
    feature.details.insert(item.detail);
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

template <typename Items>
std::vector<Unenforced> ToUnenforced(const Items& items) {
  std::vector<Unenforced> out;
  for (const v1::NotEnforced& item : items) {
    out.push_back({KindPlural(item.key().kind()), item.key().id(), item.name(), item.feature(), item.detail()});
  }
  return out;
}

// Of the fields that a file's resources have, then of the sections that Kasane has not.
std::vector<Unenforced> OfFiles(const std::vector<files::ResourceFile>& files) {
  std::vector<Unenforced> out;
  for (const files::ResourceFile& file : files) {
    for (const files::FieldNotEnforced& field : file.not_enforced) {
      const auto key = model::DecodeKey(file.items[field.item].resource());
      if (!key) continue;
      out.push_back({std::string(model::Plural(key->kind)), key->id,
                     model::NameOf(file.items[field.item].resource()), field.feature, field.detail});
    }
    for (const files::OtherResource& other : file.others)
      out.push_back({other.section, other.id, other.name, other.feature, other.detail});
  }
  return out;
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

std::string UnenforcedTable(const std::vector<Unenforced>& items, bool verbose) {
  if (!verbose) return Condensed(items);
  Table table(
      {{"KIND"}, {"ID"}, {"NAME", 20}, {"FEATURE"}, {.title = "WHAT IT MEANS", .width = 50, .wrap = true}});
  for (const Unenforced& item : items) table.Add({item.kind, item.id, item.name, item.feature, item.detail});
  return table.ToString();
}

std::string NotEnforcedTable(const std::vector<v1::NotEnforced>& items, bool verbose) {
  return UnenforcedTable(ToUnenforced(items), verbose);
}

std::string UnusedText(const std::vector<files::UnusedField>& fields) {
  Table table({{"FIELD"}, {.title = "RESOURCES", .right = true}});
  std::set<std::string> remarks;
  for (const files::UnusedField& field : fields) {
    if (field.metadata) {
      remarks.insert(field.path.substr(field.path.rfind('.') + 1));
    } else {
      table.Add({field.path, fmt::format("{}", field.count)});
    }
  }
  std::string out;
  if (!table.empty()) out += "\nNeutron's fields that have a value and no use here:\n" + table.ToString();
  if (!remarks.empty())
    out += fmt::format("\nPassed over, as they say nothing about forwarding: {}\n",
                       Join({remarks.begin(), remarks.end()}));
  return out;
}

void AddNotEnforcedOfFiles(const std::vector<files::ResourceFile>& files, v1::ApplyResponse& reply) {
  const std::vector<Unenforced> items = OfFiles(files);
  for (const Unenforced& item : items) {
    v1::NotEnforced& out = *reply.add_not_enforced();
    if (const auto kind = model::KindFromText(item.kind))
      *out.mutable_key() = model::EncodeKey({*kind, item.id});
    out.mutable_key()->set_id(item.id);
    out.set_name(item.name);
    out.set_feature(item.feature);
    out.set_detail(item.detail);
  }
}

std::string ApplyReport(const v1::ApplyResponse& reply, const std::vector<files::ResourceFile>& files,
                        bool dry_run, bool verbose) {
  std::string out = dry_run ? "Dry run: nothing was stored. It would be:\n" : "";
  out += ChangesTable({reply.changes().begin(), reply.changes().end()});
  for (const v1::Fault& warning : reply.warnings()) {
    out += fmt::format("warning: {}: {}\n", warning.path(), warning.message());
  }
  std::vector<Unenforced> unenforced = ToUnenforced(reply.not_enforced());
  for (Unenforced& item : OfFiles(files)) unenforced.push_back(std::move(item));
  if (!unenforced.empty()) {
    out += fmt::format("\nAsked for, and not enforced by this version{}:\n", verbose ? "" : " (-v lists each)");
    out += UnenforcedTable(unenforced, verbose);
  }
  if (!verbose) return out;
  std::vector<files::UnusedField> unused;
  for (const files::ResourceFile& file : files)
    unused.insert(unused.end(), file.unused.begin(), file.unused.end());
  return out + UnusedText(unused);
}

}  // namespace kasane::ctl
