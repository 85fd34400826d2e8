#include "vswitch/ovs/openflow/plan.h"

#include <unordered_map>
#include <utility>

namespace kasane::ovs {
namespace {

FlowChange Deletion(const FlowKey& key, const InstalledFlow& flow) {
  return {.kind = FlowChange::Kind::kDelete,
          .key = key,
          .actions = "",
          .cookie = 0,
          .owner = flow.owner,
          .reset_counters = false};
}

// A dumped flow that no desired one means.
InstalledFlow Foreign(const DumpedFlow& flow) {
  return {.actions = flow.actions,
          .cookie = flow.cookie,
          .owner = {.kind = CookieOwnerKind(flow.cookie), .id = ""}};
}

}  // namespace

std::vector<FlowChange> PlanChanges(const FlowTable& desired, const InstalledFlows& installed) {
  std::vector<FlowChange> deletions;
  std::vector<FlowChange> rest;
  auto have = installed.begin();
  for (const auto& [key, value] : desired.flows()) {
    for (; have != installed.end() && have->first < key; ++have) {
      deletions.push_back(Deletion(have->first, have->second));
    }
    const bool exists = have != installed.end() && have->first == key;
    const uint64_t cookie = CookieOf(value.owner, value.drop);
    if (!exists || have->second.actions != value.actions || have->second.cookie != cookie) {
      rest.push_back({.kind = exists ? FlowChange::Kind::kModify : FlowChange::Kind::kAdd,
                      .key = key,
                      .actions = value.actions,
                      .cookie = cookie,
                      .owner = value.owner,
                      .reset_counters = exists && have->second.cookie != cookie});
    }
    if (exists) ++have;
  }
  for (; have != installed.end(); ++have) deletions.push_back(Deletion(have->first, have->second));
  deletions.insert(deletions.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return deletions;
}

std::vector<MeterChange> PlanMeters(const FlowTable& desired, const InstalledMeters& installed) {
  std::vector<MeterChange> changes;
  for (const auto& [id, meter] : desired.meters()) {
    const auto have = installed.find(id);
    if (have != installed.end() && have->second == meter.limit) continue;
    const auto kind = have == installed.end() ? MeterChange::Kind::kAdd : MeterChange::Kind::kModify;
    changes.push_back({kind, id, meter.limit, meter.owner});
  }
  return changes;
}

std::vector<MeterChange> PlanMeterDeletions(const FlowTable& desired, const InstalledMeters& installed) {
  std::vector<MeterChange> changes;
  for (const auto& [id, limit] : installed) {
    if (desired.meters().count(id) == 0) changes.push_back({MeterChange::Kind::kDelete, id, {}, {}});
  }
  return changes;
}

void Acknowledge(const std::vector<FlowChange>& changes, InstalledFlows& installed) {
  for (const FlowChange& change : changes) {
    if (change.kind == FlowChange::Kind::kDelete) {
      installed.erase(change.key);
    } else {
      installed[change.key] = {.actions = change.actions, .cookie = change.cookie, .owner = change.owner};
    }
  }
}

InstalledFlows ReadBack(
    const FlowTable& desired, const std::vector<DumpedFlow>& dump,
    const std::function<absl::StatusOr<CanonicalFlow>(const FlowKey&, const std::string&)>& canonical) {
  std::map<FlowKey, const DumpedFlow*> by_key;
  for (const DumpedFlow& flow : dump) by_key[flow.key] = &flow;
  InstalledFlows installed;
  if (!by_key.empty()) {
    for (const auto& [key, value] : desired.flows()) {
      const absl::StatusOr<CanonicalFlow> spelled = canonical(key, value.actions);
      if (!spelled.ok()) continue;
      const auto found = by_key.find(spelled->key);
      if (found == by_key.end()) continue;
      const DumpedFlow& flow = *found->second;
      const bool same = flow.actions == spelled->actions;
      installed[key] = {
          .actions = same ? value.actions : flow.actions, .cookie = flow.cookie, .owner = value.owner};
      by_key.erase(found);
    }
  }
  for (const auto& [key, flow] : by_key) installed[key] = Foreign(*flow);
  return installed;
}

}  // namespace kasane::ovs
