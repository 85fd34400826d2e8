#include "vswitch/ovs/ovs_datapath.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "vswitch/base/status.h"
#include "vswitch/ovs/neighbour_keeper.h"
#include "vswitch/ovs/ovsdb_monitor.h"
#include "vswitch/ovs/stage_name.h"

namespace kasane::ovs {
namespace {

Bindings BindingsOf(const SwitchState& state) {
  Bindings bindings;
  for (const auto& [port, attachment] : state.attachments) bindings.ports[port] = attachment.ofport;
  bindings.vxlan_v4 = state.vxlan_v4;
  bindings.vxlan_v6 = state.vxlan_v6;
  bindings.nd_in_tables = state.datapath_type != "system";
  return bindings;
}

std::string FirstProblem(const SwitchState& state) {
  if (state.problems.empty()) return "it is being set up";
  return fmt::format("{}: {}", state.problems.front().subject, state.problems.front().message);
}

InstalledEntry ToEntry(DumpedFlow flow, const Owner* owner) {
  InstalledEntry entry;
  entry.owner = owner != nullptr ? *owner : Owner{.kind = CookieOwnerKind(flow.cookie), .id = ""};
  entry.stage = StageName(flow.key.table);
  entry.table = static_cast<uint32_t>(flow.key.table);
  entry.priority = flow.key.priority;
  entry.match = std::move(flow.key.match);
  entry.actions = std::move(flow.actions);
  entry.packets = flow.packets;
  entry.bytes = flow.bytes;
  entry.drop_reason = CookieDropReason(flow.cookie);
  return entry;
}

// `change` would mend it.
Discrepancy ToDiscrepancy(const FlowChange& change, const InstalledFlows& installed) {
  Discrepancy out;
  out.entry.owner = change.owner;
  out.entry.stage = StageName(change.key.table);
  out.entry.table = static_cast<uint32_t>(change.key.table);
  out.entry.priority = change.key.priority;
  out.entry.match = change.key.match;
  out.entry.actions = change.actions;
  switch (change.kind) {
    case FlowChange::Kind::kAdd:
      out.kind = Discrepancy::Kind::kMissing;
      break;
    case FlowChange::Kind::kModify:
      out.kind = Discrepancy::Kind::kDifferent;
      break;
    case FlowChange::Kind::kDelete:
      out.kind = Discrepancy::Kind::kExtra;
      out.entry.actions = installed.at(change.key).actions;
      break;
  }
  return out;
}

// What the slow path dropped, as entries of a stage of its own.
void AppendDrops(const std::map<std::pair<Owner, DropReason>, uint64_t>& drops,
                 std::vector<InstalledEntry>& entries) {
  for (const auto& [key, packets] : drops) {
    InstalledEntry entry;
    entry.owner = key.first;
    entry.stage = "slow_path";
    entry.table = kSlowPathTable;
    entry.actions = "drop";
    entry.packets = packets;
    entry.drop_reason = key.second;
    entries.push_back(std::move(entry));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Datapath>> OvsDatapath::Create(
    const OvsConfig& config, std::function<void()> on_event,
    std::function<void(const Announcement&)> on_announcement) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.lock, BridgeLock::Take(config));
  parts.compile = [](const HostView& view, const Bindings& bindings) { return Compile(view, bindings); };
  parts.open_channel = [socket = config.OpenFlowSocket()] { return OpenOpenFlowChannel(socket); };
  ASSIGN_OR_RETURN(parts.monitor, NewOvsdbMonitor(config));
  ASSIGN_OR_RETURN(parts.keeper, NewNeighbourKeeper(config));
  parts.slow_path = std::make_unique<SlowPathThread>(
      config.OpenFlowSocket(),
      std::make_unique<SlowPathWorker>(config.slow_path_rate, std::move(on_announcement)));
  return std::make_unique<OvsDatapath>(std::move(parts), std::move(on_event));
}

OvsDatapath::OvsDatapath(Parts parts, std::function<void()> on_event)
    : parts_(std::move(parts)),
      on_event_(std::move(on_event)),
      facts_(std::make_shared<DatapathFacts>()),
      owners_(std::make_shared<Owners>()) {
  parts_.keeper->Start([this] { Publish(); });
  if (parts_.slow_path) parts_.slow_path->Start([this] { Publish(); });
  parts_.monitor->Start([this] {
    parts_.keeper->SetSwitch(parts_.monitor->State());
    if (parts_.slow_path && parts_.monitor->State()->ready) parts_.slow_path->SwitchIsThere();
    Publish();
  });
}

OvsDatapath::~OvsDatapath() {
  parts_.monitor->Stop();
  parts_.keeper->Stop();
  if (parts_.slow_path) parts_.slow_path->Stop();
}

std::string OvsDatapath::Name() const {
  const std::string type = parts_.monitor->State()->datapath_type;
  return type.empty() ? "ovs" : fmt::format("ovs ({})", type);
}

std::shared_ptr<const DatapathFacts> OvsDatapath::Facts() const {
  std::lock_guard lock(mutex_);
  return facts_;
}

// Called from the threads of the parts.
void OvsDatapath::Publish() {
  {
    std::lock_guard lock(mutex_);
    const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
    auto facts = std::make_shared<DatapathFacts>();
    facts->ready = state->ready;
    facts->session = state->session;
    facts->generation = uint64_t{state->vxlan_v4} << 32 | state->vxlan_v6;
    facts->attachments = state->attachments;
    facts->tunnels = *parts_.keeper->States();
    facts->problems = state->problems;
    if (const std::string problem = parts_.slow_path ? parts_.slow_path->Problem() : ""; !problem.empty()) {
      if (state->ready) facts->problems.push_back({"slow path", problem});
    }
    if (*facts == *facts_) return;
    facts_ = std::move(facts);
  }
  on_event_();
}

// Over a connection of the present session: a new one starts from what the switch really holds.
absl::StatusOr<ApplyResult> OvsDatapath::Install(const FlowTable& desired, uint64_t session) {
  if (!installer_ || installer_session_ != session) {
    installer_.reset();
    ASSIGN_OR_RETURN(std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
    installer_ = std::make_unique<FlowInstaller>(std::move(channel));
    installer_session_ = session;
  }
  return installer_->Apply(desired);
}

absl::StatusOr<ApplyResult> OvsDatapath::Apply(const HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const Bindings bindings = BindingsOf(*state);
  const FlowTable desired = parts_.compile(view, bindings);
  auto owners = std::make_shared<Owners>();
  for (const auto& [key, value] : desired.flows()) (*owners)[CookieOf(value.owner, value.drop)] = value.owner;

  absl::StatusOr<ApplyResult> result = Install(desired, state->session);
  if (!result.ok()) {
    if (result.status().code() == absl::StatusCode::kUnavailable) {
      installer_.reset();
      parts_.monitor->Reconnect();
    }
    return Annotate(result.status(), "Open vSwitch");
  }
  if (parts_.slow_path) parts_.slow_path->worker().SetView(view, bindings);
  std::lock_guard lock(mutex_);
  owners_ = std::move(owners);
  return result;
}

void OvsDatapath::WantTunnels(std::vector<IpAddress> remotes) { parts_.keeper->Want(std::move(remotes)); }

absl::StatusOr<std::vector<InstalledEntry>> OvsDatapath::Dump() {
  // A connection of its own, so that a large dump holds up no change.
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
  ASSIGN_OR_RETURN(std::vector<DumpedFlow> flows, channel->Dump());
  std::sort(flows.begin(), flows.end(), [](const DumpedFlow& a, const DumpedFlow& b) {
    return std::tie(a.key.table, b.key.priority, a.key.match) <
           std::tie(b.key.table, a.key.priority, b.key.match);
  });
  std::shared_ptr<const Owners> owners;
  {
    std::lock_guard lock(mutex_);
    owners = owners_;
  }
  std::vector<InstalledEntry> entries;
  entries.reserve(flows.size());
  for (DumpedFlow& flow : flows) {
    const auto owner = owners->find(flow.cookie);
    entries.push_back(ToEntry(std::move(flow), owner == owners->end() ? nullptr : &owner->second));
  }
  if (parts_.slow_path) AppendDrops(parts_.slow_path->worker().Drops(), entries);
  return entries;
}

absl::StatusOr<std::vector<Discrepancy>> OvsDatapath::Compare(const HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const FlowTable desired = parts_.compile(view, BindingsOf(*state));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
  ASSIGN_OR_RETURN(const std::vector<DumpedFlow> dump, channel->Dump());
  const InstalledFlows installed =
      ReadBack(desired, dump, [&channel](const FlowKey& key, const std::string& actions) {
        return channel->Canonical(key, actions);
      });
  std::vector<Discrepancy> discrepancies;
  for (const FlowChange& change : PlanChanges(desired, installed)) {
    discrepancies.push_back(ToDiscrepancy(change, installed));
  }
  return discrepancies;
}

}  // namespace kasane::ovs
