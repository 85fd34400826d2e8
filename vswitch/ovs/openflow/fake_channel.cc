#include "vswitch/ovs/openflow/fake_channel.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace kasane::ovs {
namespace {

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// The meter that the actions name, in the spelling of a desired flow or of this switch.
std::optional<uint32_t> MeterOf(const std::string& actions) {
  constexpr std::string_view kMeter = "METER:";
  const std::string upper = Upper(actions);
  if (upper.rfind(kMeter, 0) != 0) return std::nullopt;
  return static_cast<uint32_t>(std::stoul(upper.substr(kMeter.size())));
}

}  // namespace

CanonicalFlow FakeCanonical(const FlowKey& key, const std::string& actions) {
  return {.key = {.table = key.table, .priority = key.priority, .match = Upper(key.match)},
          .actions = Upper(actions)};
}

class FakeChannel : public OpenFlowChannel {
 public:
  explicit FakeChannel(FakeSwitch& fake) : switch_(fake) {}

  absl::StatusOr<std::optional<Refusal>> Commit(const std::vector<FlowChange>& changes) override {
    switch_.bundles.push_back(changes);
    if (switch_.CallFails()) {
      if (switch_.apply_before_failing) switch_.Apply(changes);
      return Error(absl::StatusCode::kUnavailable, "the connection was lost");
    }
    return switch_.Apply(changes);
  }

  absl::StatusOr<std::vector<DumpedFlow>> Dump() override {
    ++switch_.dumps;
    if (switch_.CallFails()) return Error(absl::StatusCode::kUnavailable, "the connection was lost");
    std::vector<DumpedFlow> flows;
    for (const auto& [key, flow] : switch_.flows) {
      flows.push_back({.key = key, .actions = flow.actions, .cookie = flow.cookie, .packets = 7, .bytes = 700});
    }
    return flows;
  }

  absl::StatusOr<std::optional<std::string>> ChangeMeter(const MeterChange& change) override {
    switch_.meter_changes.push_back(change);
    if (switch_.CallFails()) return Error(absl::StatusCode::kUnavailable, "the connection was lost");
    if (switch_.refused_meter == change.id) return std::optional<std::string>("OFPMMFC_OUT_OF_METERS");
    const bool exists = switch_.meters.count(change.id) != 0;
    if (exists != (change.kind != MeterChange::Kind::kAdd))
      return std::optional<std::string>("OFPMMFC_METER_EXISTS");
    if (change.kind == MeterChange::Kind::kDelete) {
      switch_.meters.erase(change.id);
      std::erase_if(switch_.flows, [&](const auto& flow) { return MeterOf(flow.second.actions) == change.id; });
    } else {
      switch_.meters[change.id] = change.limit;
    }
    return std::nullopt;
  }

  absl::StatusOr<std::optional<std::string>> SetGroup(uint32_t id, const std::string& group) override {
    ++switch_.group_changes;
    if (switch_.CallFails()) return Error(absl::StatusCode::kUnavailable, "the connection was lost");
    switch_.groups[id] = group;
    return std::nullopt;
  }

  absl::StatusOr<std::map<uint32_t, std::string>> Groups() override {
    std::map<uint32_t, std::string> groups;
    for (const auto& [id, group] : switch_.groups) groups[id] = Upper(group);
    return groups;
  }

  absl::StatusOr<std::map<uint32_t, MeterRate>> Meters() override { return switch_.meters; }

  absl::StatusOr<std::map<uint32_t, uint64_t>> MeterDrops() override {
    std::map<uint32_t, uint64_t> drops;
    for (const auto& [id, limit] : switch_.meters) drops[id] = 3;
    return drops;
  }

  absl::Status WatchFlows() override { return absl::OkStatus(); }
  absl::StatusOr<FlowDisturbance> TakeDisturbance() override { return std::exchange(switch_.disturbance, {}); }
  void WakeOnInput() override {}

  absl::StatusOr<CanonicalFlow> Canonical(const FlowKey& key, const std::string& actions) const override {
    return FakeCanonical(key, actions);
  }
  absl::StatusOr<std::string> CanonicalGroup(uint32_t, const std::string& group) const override {
    return Upper(group);
  }

 private:
  FakeSwitch& switch_;
};

absl::StatusOr<std::unique_ptr<OpenFlowChannel>> FakeSwitch::Connect() {
  ++connections;
  return std::make_unique<FakeChannel>(*this);
}

bool FakeSwitch::CallFails() {
  if (!fail_call) return false;
  if (*fail_call == 0) {
    fail_call.reset();
    return true;
  }
  --*fail_call;
  return false;
}

std::optional<Refusal> FakeSwitch::Apply(const std::vector<FlowChange>& changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!refused_actions.empty() && changes[i].actions == refused_actions) {
      return Refusal{.index = i, .reason = "OFPBAC_BAD_TYPE"};
    }
    const auto meter = MeterOf(changes[i].actions);
    if (meter && meters.count(*meter) == 0) return Refusal{.index = i, .reason = "OFPMMFC_INVALID_METER"};
  }
  for (const FlowChange& change : changes) {
    CanonicalFlow canonical = FakeCanonical(change.key, change.actions);
    if (change.kind == FlowChange::Kind::kDelete) {
      flows.erase(canonical.key);
    } else {
      flows[canonical.key] = {.actions = canonical.actions, .cookie = change.cookie};
    }
  }
  return std::nullopt;
}

}  // namespace kasane::ovs
