#include "vswitch/ovs/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "vswitch/ovs/translate/pipeline.h"
#include "vswitch/ovs/translate/stage_name.h"

namespace kasane::ovs {
namespace {

constexpr char kMeterStage[] = "meter";
constexpr char kGroupStage[] = "group";
constexpr char kSlowPathStage[] = "slow_path";

// A flow's stage, key and action, and its line for ovs-ofctl.
void Describe(const FlowKey& key, const std::string& actions, vswitch::InstalledEntry& entry) {
  entry.stage = StageName(key.table);
  entry.key = fmt::format("priority={}{}{}", key.priority, key.match.empty() ? "" : ",", key.match);
  entry.action = actions;
  entry.native = fmt::format("table={},{} actions={}", static_cast<int>(key.table), entry.key,
                             actions.empty() ? "drop" : actions);
}

vswitch::InstalledEntry ToEntry(const DumpedFlow& flow, const Legend& legend) {
  vswitch::InstalledEntry entry;
  const auto owner = legend.owners.find(flow.cookie);
  entry.owner = owner != legend.owners.end() ? owner->second
                                             : vswitch::Owner{.kind = CookieOwnerKind(flow.cookie), .id = ""};
  Describe(flow.key, flow.actions, entry);
  entry.packets = flow.packets;
  entry.bytes = flow.bytes;
  entry.drop_reason = CookieDropReason(flow.cookie);
  return entry;
}

}  // namespace

Legend LegendOf(const FlowTable& desired) {
  Legend legend;
  for (const auto& [key, value] : desired.flows()) {
    legend.owners[CookieOf(value.owner, value.drop)] = value.owner;
  }
  legend.meters = desired.meters();
  return legend;
}

std::vector<vswitch::InstalledEntry> FlowEntries(std::vector<DumpedFlow> flows, const Legend& legend) {
  std::sort(flows.begin(), flows.end(), [](const DumpedFlow& a, const DumpedFlow& b) {
    return std::tie(a.key.table, b.key.priority, a.key.match) <
           std::tie(b.key.table, a.key.priority, b.key.match);
  });
  std::vector<vswitch::InstalledEntry> entries;
  entries.reserve(flows.size());
  for (const DumpedFlow& flow : flows) entries.push_back(ToEntry(flow, legend));
  return entries;
}

void AppendMeterDrops(const std::map<uint32_t, uint64_t>& drops, const Legend& legend,
                      std::vector<vswitch::InstalledEntry>& entries) {
  for (const auto& [id, packets] : drops) {
    const auto meter = legend.meters.find(id);
    if (meter == legend.meters.end() || packets == 0) continue;
    vswitch::InstalledEntry entry;
    entry.owner = meter->second.owner;
    entry.stage = kMeterStage;
    entry.key = fmt::format("meter={}", id);
    entry.action = fmt::format("drop above {} packets/s", meter->second.limit.rate);
    entry.packets = packets;
    entry.drop_reason = meter->second.drop;
    entries.push_back(std::move(entry));
  }
}

void AppendSlowPathDrops(const std::map<std::pair<vswitch::Owner, vswitch::DropReason>, uint64_t>& drops,
                         std::vector<vswitch::InstalledEntry>& entries) {
  for (const auto& [key, packets] : drops) {
    vswitch::InstalledEntry entry;
    entry.owner = key.first;
    entry.stage = kSlowPathStage;
    entry.action = "drop";
    entry.packets = packets;
    entry.drop_reason = key.second;
    entries.push_back(std::move(entry));
  }
}

vswitch::Discrepancy ToDiscrepancy(const FlowChange& change, const InstalledFlows& installed) {
  vswitch::Discrepancy out;
  out.entry.owner = change.owner;
  std::string actions = change.actions;
  switch (change.kind) {
    case FlowChange::Kind::kAdd:
      out.kind = vswitch::Discrepancy::Kind::kMissing;
      break;
    case FlowChange::Kind::kModify:
      out.kind = vswitch::Discrepancy::Kind::kDifferent;
      break;
    case FlowChange::Kind::kDelete:
      out.kind = vswitch::Discrepancy::Kind::kExtra;
      actions = installed.at(change.key).actions;
      break;
  }
  Describe(change.key, actions, out.entry);
  return out;
}

vswitch::Discrepancy ToDiscrepancy(const MeterChange& change) {
  vswitch::Discrepancy out;
  out.kind = change.kind == MeterChange::Kind::kAdd      ? vswitch::Discrepancy::Kind::kMissing
             : change.kind == MeterChange::Kind::kModify ? vswitch::Discrepancy::Kind::kDifferent
                                                         : vswitch::Discrepancy::Kind::kExtra;
  out.entry.owner = change.owner;
  out.entry.stage = kMeterStage;
  out.entry.key = fmt::format("meter={}", change.id);
  return out;
}

vswitch::Discrepancy GroupDiscrepancy(uint32_t id, bool missing) {
  vswitch::Discrepancy out;
  out.kind = missing ? vswitch::Discrepancy::Kind::kMissing : vswitch::Discrepancy::Kind::kDifferent;
  out.entry.stage = kGroupStage;
  out.entry.key = fmt::format("group={}", id);
  return out;
}

}  // namespace kasane::ovs
