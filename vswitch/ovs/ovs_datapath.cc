#include "vswitch/ovs/ovs_datapath.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "vswitch/ovs/neighbour_keeper.h"
#include "vswitch/ovs/ovsdb/ovsdb_monitor.h"
#include "vswitch/ovs/translate/stage_name.h"

namespace kasane::ovs {
namespace {

Bindings BindingsOf(const SwitchState& state) {
  Bindings bindings;
  for (const auto& [port, attachment] : state.attachments) bindings.ports[port] = attachment.ofport;
  bindings.vxlan_v4 = state.vxlan_v4;
  bindings.vxlan_v6 = state.vxlan_v6;
  bindings.nd_in_tables = state.datapath_type != "system";
  bindings.replication_limit = state.replication_limit;
  return bindings;
}

// What VXLAN takes of the underlay's MTU: outer IP and UDP headers, its own, and the inner Ethernet header.
uint32_t VxlanOverhead(IpFamily family) { return (family == IpFamily::kV4 ? 20 : 40) + 8 + 8 + 14; }

std::string FirstProblem(const SwitchState& state) {
  if (state.problems.empty()) return "it is being set up";
  return fmt::format("{}: {}", state.problems.front().subject, state.problems.front().message);
}

vswitch::InstalledEntry ToEntry(DumpedFlow flow, const vswitch::Owner* owner) {
  vswitch::InstalledEntry entry;
  entry.owner = owner != nullptr ? *owner : vswitch::Owner{.kind = CookieOwnerKind(flow.cookie), .id = ""};
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

// What meters dropped, if anything, as entries of a stage of its own.
void AppendMeterDrops(const std::map<uint32_t, uint64_t>& drops, const std::map<uint32_t, Meter>& meters,
                      std::vector<vswitch::InstalledEntry>& entries) {
  for (const auto& [id, packets] : drops) {
    const auto meter = meters.find(id);
    if (meter == meters.end() || packets == 0) continue;
    vswitch::InstalledEntry entry;
    entry.owner = meter->second.owner;
    entry.stage = "meter";
    entry.table = kMeterTable;
    entry.match = fmt::format("meter={}", id);
    entry.actions = fmt::format("drop above {} packets/s", meter->second.limit.rate);
    entry.packets = packets;
    entry.drop_reason = meter->second.drop;
    entries.push_back(std::move(entry));
  }
}

// What the slow path dropped, as entries of a stage of its own.
void AppendDrops(const std::map<std::pair<vswitch::Owner, vswitch::DropReason>, uint64_t>& drops,
                 std::vector<vswitch::InstalledEntry>& entries) {
  for (const auto& [key, packets] : drops) {
    vswitch::InstalledEntry entry;
    entry.owner = key.first;
    entry.stage = "slow_path";
    entry.table = kSlowPathTable;
    entry.actions = "drop";
    entry.packets = packets;
    entry.drop_reason = key.second;
    entries.push_back(std::move(entry));
  }
}

// `change` would fix it.
vswitch::Discrepancy ToDiscrepancy(const FlowChange& change, const InstalledFlows& installed) {
  vswitch::Discrepancy out;
  out.entry.owner = change.owner;
  out.entry.stage = StageName(change.key.table);
  out.entry.table = static_cast<uint32_t>(change.key.table);
  out.entry.priority = change.key.priority;
  out.entry.match = change.key.match;
  out.entry.actions = change.actions;
  switch (change.kind) {
    case FlowChange::Kind::kAdd:
      out.kind = vswitch::Discrepancy::Kind::kMissing;
      break;
    case FlowChange::Kind::kModify:
      out.kind = vswitch::Discrepancy::Kind::kDifferent;
      break;
    case FlowChange::Kind::kDelete:
      out.kind = vswitch::Discrepancy::Kind::kExtra;
      out.entry.actions = installed.at(change.key).actions;
      break;
  }
  return out;
}

vswitch::Discrepancy ToDiscrepancy(const MeterChange& change) {
  vswitch::Discrepancy out;
  out.kind = change.kind == MeterChange::Kind::kAdd      ? vswitch::Discrepancy::Kind::kMissing
             : change.kind == MeterChange::Kind::kModify ? vswitch::Discrepancy::Kind::kDifferent
                                                         : vswitch::Discrepancy::Kind::kExtra;
  out.entry.owner = change.owner;
  out.entry.stage = "meter";
  out.entry.table = kMeterTable;
  out.entry.match = fmt::format("meter={}", change.id);
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<vswitch::Datapath>> OvsDatapath::Create(
    const OvsConfig& config, std::function<void()> on_event,
    std::function<void(const slowpath::Announcement&)> on_announcement) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.lock, BridgeLock::Take(config));
  parts.compile = [](const vswitch::HostView& view, const Bindings& bindings) {
    return Compile(view, bindings);
  };
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
      facts_(std::make_shared<vswitch::DatapathFacts>()),
      legend_(std::make_shared<Legend>()) {
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

std::shared_ptr<const vswitch::DatapathFacts> OvsDatapath::Facts() const {
  std::lock_guard lock(mutex_);
  return facts_;
}

// Called from the threads of the parts.
void OvsDatapath::Publish() {
  {
    std::lock_guard lock(mutex_);
    const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
    auto facts = std::make_shared<vswitch::DatapathFacts>();
    facts->ready = state->ready;
    facts->session = state->session;
    facts->generation = uint64_t{state->vxlan_v4} << 32 | state->vxlan_v6;
    facts->attachments = state->attachments;
    facts->tunnels = *parts_.keeper->States();
    for (const auto& [family, underlay] : state->underlay) {
      if (underlay.mtu > VxlanOverhead(family))
        facts->tunnel_mtu[family] = underlay.mtu - VxlanOverhead(family);
    }
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
absl::StatusOr<vswitch::ApplyResult> OvsDatapath::Install(const FlowTable& desired, uint64_t session) {
  if (!installer_ || installer_session_ != session) {
    installer_.reset();
    ASSIGN_OR_RETURN(std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
    installer_ = std::make_unique<FlowInstaller>(std::move(channel));
    installer_session_ = session;
  }
  return installer_->Apply(desired);
}

absl::StatusOr<vswitch::ApplyResult> OvsDatapath::Apply(const vswitch::HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const Bindings bindings = BindingsOf(*state);
  const FlowTable desired = parts_.compile(view, bindings);
  auto legend = std::make_shared<Legend>();
  for (const auto& [key, value] : desired.flows()) {
    legend->owners[CookieOf(value.owner, value.drop)] = value.owner;
  }
  legend->meters = desired.meters();

  absl::StatusOr<vswitch::ApplyResult> result = Install(desired, state->session);
  if (!result.ok()) {
    if (result.status().code() == absl::StatusCode::kUnavailable) {
      installer_.reset();
      parts_.monitor->Reconnect();
    }
    return Annotate(result.status(), "Open vSwitch");
  }
  if (parts_.slow_path) parts_.slow_path->worker().SetView(view, bindings);
  std::lock_guard lock(mutex_);
  legend_ = std::move(legend);
  return result;
}

void OvsDatapath::WantTunnels(std::vector<IpAddress> remotes) { parts_.keeper->Want(std::move(remotes)); }

absl::StatusOr<std::vector<vswitch::InstalledEntry>> OvsDatapath::Dump() {
  // A connection of its own, so that a large dump holds up no change.
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
  ASSIGN_OR_RETURN(std::vector<DumpedFlow> flows, channel->Dump());
  std::sort(flows.begin(), flows.end(), [](const DumpedFlow& a, const DumpedFlow& b) {
    return std::tie(a.key.table, b.key.priority, a.key.match) <
           std::tie(b.key.table, a.key.priority, b.key.match);
  });
  ASSIGN_OR_RETURN(const auto meter_drops, channel->MeterDrops());
  std::shared_ptr<const Legend> legend;
  {
    std::lock_guard lock(mutex_);
    legend = legend_;
  }
  std::vector<vswitch::InstalledEntry> entries;
  entries.reserve(flows.size());
  for (DumpedFlow& flow : flows) {
    const auto owner = legend->owners.find(flow.cookie);
    entries.push_back(ToEntry(std::move(flow), owner == legend->owners.end() ? nullptr : &owner->second));
  }
  AppendMeterDrops(meter_drops, legend->meters, entries);
  if (parts_.slow_path) AppendDrops(parts_.slow_path->worker().Drops(), entries);
  return entries;
}

absl::StatusOr<std::vector<vswitch::Discrepancy>> OvsDatapath::Compare(const vswitch::HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const FlowTable desired = parts_.compile(view, BindingsOf(*state));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
  ASSIGN_OR_RETURN(const InstalledFlows installed, ReadInstalled(*channel, desired));
  std::vector<vswitch::Discrepancy> discrepancies;
  for (const FlowChange& change : PlanChanges(desired, installed)) {
    discrepancies.push_back(ToDiscrepancy(change, installed));
  }
  ASSIGN_OR_RETURN(const InstalledMeters meters, channel->Meters());
  for (const auto& plan : {PlanMeters(desired, meters), PlanMeterDeletions(desired, meters)}) {
    for (const MeterChange& change : plan) discrepancies.push_back(ToDiscrepancy(change));
  }
  return discrepancies;
}

}  // namespace kasane::ovs
