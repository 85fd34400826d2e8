#include "vswitch/ovs/ovs_datapath.h"

#include <utility>

#include "base/status.h"
#include "vswitch/ovs/inspect.h"
#include "vswitch/ovs/ovsdb/ovsdb_monitor.h"
#include "vswitch/ovs/tunnel_neighbours.h"

namespace kasane::ovs {
namespace {

Bindings BindingsOf(const SwitchState& state) {
  Bindings bindings;
  for (const auto& [port, attachment] : state.attachments) bindings.ports[port] = attachment.number;
  bindings.vxlan_v4 = state.vxlan_v4;
  bindings.vxlan_v6 = state.vxlan_v6;
  bindings.nd_in_tables = state.datapath_type != "system";
  bindings.replication_limit = state.replication_limit;
  return bindings;
}

std::string LastOf(const Disturbances& flows, const Disturbances& settings) {
  if (flows.last.empty() || settings.last.empty()) return flows.last + settings.last;
  return fmt::format("{}; {}", flows.last, settings.last);
}

// What VXLAN takes of the underlay's MTU: outer IP and UDP headers, its own, and the inner Ethernet header.
uint32_t VxlanOverhead(IpFamily family) { return (family == IpFamily::kV4 ? 20 : 40) + 8 + 8 + 14; }

std::string FirstProblem(const SwitchState& state) {
  if (state.problems.empty()) return "it is being set up";
  return fmt::format("{}: {}", state.problems.front().subject, state.problems.front().message);
}

// What the ways out of the switch depend on.
underlay::Egress EgressOf(const SwitchState& state) {
  return {.ready = state.ready,
          .known = !state.datapath_type.empty(),
          .has_cache = state.datapath_type == "netdev",
          .session = state.session,
          .families = state.underlay};
}

}  // namespace

absl::StatusOr<OvsDatapath::Parts> OvsDatapath::RealParts(
    const OvsConfig& config, std::function<void(const slowpath::Announcement&)> on_announcement) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.lock, BridgeLock::Take(config));
  parts.compile = Compile;
  parts.open_channel = [socket = config.OpenFlowSocket()] { return OpenOpenFlowChannel(socket); };
  ASSIGN_OR_RETURN(parts.monitor, NewOvsdbMonitor(config));
  ASSIGN_OR_RETURN(parts.keeper, underlay::NewNeighbourKeeper(NewTunnelNeighbours(config.run_dir)));
  parts.slow_path = std::make_unique<SlowPathThread>(
      config.OpenFlowSocket(),
      std::make_unique<SlowPathWorker>(config.slow_path_rate, std::move(on_announcement),
                                       config.slow_path_timeouts));
  parts.watch_flows = true;
  return parts;
}

absl::StatusOr<std::unique_ptr<vswitch::Datapath>> OvsDatapath::Create(
    const OvsConfig& config, std::function<void()> on_event,
    std::function<void(const slowpath::Announcement&)> on_announcement) {
  ASSIGN_OR_RETURN(Parts parts, RealParts(config, std::move(on_announcement)));
  return std::make_unique<OvsDatapath>(std::move(parts), std::move(on_event));
}

OvsDatapath::OvsDatapath(Parts parts, std::function<void()> on_event)
    : parts_(std::move(parts)),
      on_event_(std::move(on_event)),
      flows_(parts_.open_channel),
      facts_(std::make_shared<vswitch::DatapathFacts>()),
      legend_(std::make_shared<Legend>()) {
  parts_.keeper->Start([this] { Publish(); });
  if (parts_.slow_path) parts_.slow_path->Start([this] { Publish(); });
  if (parts_.watch_flows) flows_.Watch([this] { Publish(); });
  parts_.monitor->Start([this] {
    parts_.keeper->SetEgress(EgressOf(*parts_.monitor->State()));
    if (parts_.slow_path && parts_.monitor->State()->ready) parts_.slow_path->SwitchIsThere();
    Publish();
  });
}

OvsDatapath::~OvsDatapath() {
  parts_.monitor->Stop();
  flows_.Stop();
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
    const Disturbances changed = flows_.Seen();
    facts->disturbances = changed.count + state->disturbances.count;
    facts->last_disturbance = LastOf(changed, state->disturbances);
    facts->attachments = state->attachments;
    facts->binding_key = "external_ids:iface-id";
    facts->tunnels = *parts_.keeper->States();
    for (const auto& [family, underlay] : state->underlay) {
      if (underlay.mtu > VxlanOverhead(family))
        facts->tunnel_mtu[family] = underlay.mtu - VxlanOverhead(family);
    }
    facts->local_copies = state->kernel_backlog / 2;  // Other traffic waits there too.
    facts->problems = state->problems;
    if (const std::string problem = parts_.slow_path ? parts_.slow_path->Problem() : ""; !problem.empty()) {
      if (state->ready) facts->problems.push_back({"slow path", problem});
    }
    if (*facts == *facts_) return;
    facts_ = std::move(facts);
  }
  on_event_();
}

absl::StatusOr<vswitch::ApplyResult> OvsDatapath::Apply(const vswitch::HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const Bindings bindings = BindingsOf(*state);
  // Once: what is installed and what the slow path says are of the same tables.
  const auto tables = std::make_shared<const tables::ForwardingTables>(
      tables::BuildForwardingTables(view, PluggedPorts(bindings)));
  const FlowTable desired = parts_.compile(*tables, bindings);
  auto legend = std::make_shared<Legend>(LegendOf(desired));
  absl::StatusOr<vswitch::ApplyResult> result = flows_.Apply(desired, state->session);
  if (!result.ok()) {
    if (result.status().code() == absl::StatusCode::kUnavailable) parts_.monitor->Reconnect();
    return Annotate(result.status(), "Open vSwitch");
  }
  if (parts_.slow_path) {
    parts_.slow_path->worker().SetTables(tables, bindings);
    parts_.slow_path->ViewChanged();
  }
  std::lock_guard lock(mutex_);
  legend_ = std::move(legend);
  return result;
}

void OvsDatapath::WantTunnels(std::vector<IpAddress> remotes) { parts_.keeper->Want(std::move(remotes)); }

absl::StatusOr<std::vector<vswitch::InstalledEntry>> OvsDatapath::Dump() {
  // A connection of its own, so that a large dump holds up no change.
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenFlowChannel> channel, parts_.open_channel());
  ASSIGN_OR_RETURN(std::vector<DumpedFlow> flows, channel->Dump());
  ASSIGN_OR_RETURN(const auto meter_drops, channel->MeterDrops());
  std::shared_ptr<const Legend> legend;
  {
    std::lock_guard lock(mutex_);
    legend = legend_;
  }
  std::vector<vswitch::InstalledEntry> entries = FlowEntries(std::move(flows), *legend);
  AppendMeterDrops(meter_drops, *legend, entries);
  if (parts_.slow_path) AppendSlowPathDrops(parts_.slow_path->worker().Drops(), entries);
  return entries;
}

absl::StatusOr<std::vector<vswitch::Discrepancy>> OvsDatapath::Compare(const vswitch::HostView& view) {
  const std::shared_ptr<const SwitchState> state = parts_.monitor->State();
  if (!state->ready) {
    return Error(absl::StatusCode::kFailedPrecondition, "the switch is not ready: {}", FirstProblem(*state));
  }
  const Bindings bindings = BindingsOf(*state);
  const FlowTable desired =
      parts_.compile(tables::BuildForwardingTables(view, PluggedPorts(bindings)), bindings);
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
  ASSIGN_OR_RETURN(const auto groups, channel->Groups());
  for (const auto& [id, group] : desired.groups()) {
    ASSIGN_OR_RETURN(const std::string native, channel->CanonicalGroup(id, group));
    const auto there = groups.find(id);
    const bool missing = there == groups.end();
    if (missing || there->second != native) discrepancies.push_back(GroupDiscrepancy(id, missing));
  }
  return discrepancies;
}

}  // namespace kasane::ovs
