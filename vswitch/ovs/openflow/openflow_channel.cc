#include "vswitch/ovs/openflow/openflow_channel.h"

#include <utility>

#include "base/status.h"
#include "vswitch/ovs/shim/ovs_shim.h"
#include "vswitch/ovs/shim/shim_text.h"

namespace kasane::ovs {
namespace {

kovs_flow ToShim(const FlowKey& key, const std::string& actions, uint64_t cookie, bool remove,
                 bool reset_counters) {
  return {.remove = remove,
          .reset_counters = reset_counters,
          .table = static_cast<uint8_t>(key.table),
          .priority = key.priority,
          .cookie = cookie,
          .match = key.match.c_str(),
          .actions = actions.c_str()};
}

FlowKey KeyOf(const kovs_dumped_flow& flow) {
  return {.table = static_cast<Table>(flow.table), .priority = flow.priority, .match = flow.match};
}

// `into` is a map of texts by number.
void CollectGroup(void* into, uint32_t id, const char* group) {
  (*static_cast<std::map<uint32_t, std::string>*>(into))[id] = group;
}

class RealChannel : public OpenFlowChannel {
 public:
  RealChannel(kovs_of* connection, int deadline_ms) : connection_(connection), deadline_ms_(deadline_ms) {}
  ~RealChannel() override { kovs_of_close(connection_); }
  RealChannel(const RealChannel&) = delete;
  RealChannel& operator=(const RealChannel&) = delete;

  absl::StatusOr<std::optional<Refusal>> Commit(const std::vector<FlowChange>& changes) override;
  absl::StatusOr<std::vector<DumpedFlow>> Dump() override;
  absl::StatusOr<std::optional<std::string>> ChangeMeter(const MeterChange& change) override;
  absl::StatusOr<std::optional<std::string>> SetGroup(uint32_t id, const std::string& group) override;
  absl::StatusOr<std::map<uint32_t, std::string>> Groups() override;
  absl::StatusOr<std::map<uint32_t, MeterRate>> Meters() override;
  absl::StatusOr<std::map<uint32_t, uint64_t>> MeterDrops() override;
  absl::Status WatchFlows() override;
  absl::StatusOr<FlowDisturbance> TakeDisturbance() override;
  void WakeOnInput() override { kovs_of_wait(connection_); }
  absl::StatusOr<CanonicalFlow> Canonical(const FlowKey& key, const std::string& actions) const override;
  absl::StatusOr<std::string> CanonicalGroup(uint32_t id, const std::string& group) const override;

 private:
  absl::Status ReadMeters(bool counters, kovs_meter_cb* collect, void* into);

  kovs_of* connection_;
  int deadline_ms_;
};

absl::StatusOr<std::optional<Refusal>> RealChannel::Commit(const std::vector<FlowChange>& changes) {
  std::vector<kovs_flow> flows;
  flows.reserve(changes.size());
  for (const FlowChange& change : changes) {
    // A modification is sent as an addition, which replaces and keeps the counters unless told otherwise:
    // OpenFlow's own modification cannot change a cookie, and does nothing if the flow is not there.
    flows.push_back(ToShim(change.key, change.actions, change.cookie, change.kind == FlowChange::Kind::kDelete,
                           change.reset_counters));
  }
  size_t failed = 0;
  ShimText error;
  switch (kovs_of_commit(connection_, flows.data(), flows.size(), deadline_ms_, &failed, error.out())) {
    case KOVS_COMMITTED:
      return std::nullopt;
    case KOVS_REFUSED:
      if (failed >= changes.size()) {
        return Error(absl::StatusCode::kInternal, "the switch refused the bundle: {}", error.str());
      }
      return Refusal{failed, error.str()};
    case KOVS_BROKEN:
      break;
  }
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::StatusOr<std::vector<DumpedFlow>> RealChannel::Dump() {
  std::vector<DumpedFlow> flows;
  auto collect = [](void* aux, const kovs_dumped_flow* flow) {
    static_cast<std::vector<DumpedFlow>*>(aux)->push_back({.key = KeyOf(*flow),
                                                           .actions = flow->actions,
                                                           .cookie = flow->cookie,
                                                           .packets = flow->packets,
                                                           .bytes = flow->bytes});
  };
  ShimText error;
  if (!kovs_of_dump(connection_, deadline_ms_, collect, &flows, error.out())) {
    return Error(absl::StatusCode::kUnavailable, "{}", error.str());
  }
  return flows;
}

absl::StatusOr<std::optional<std::string>> RealChannel::ChangeMeter(const MeterChange& change) {
  const kovs_meter meter = {.change = change.kind == MeterChange::Kind::kDelete   ? KOVS_METER_DELETE
                                      : change.kind == MeterChange::Kind::kModify ? KOVS_METER_MODIFY
                                                                                  : KOVS_METER_ADD,
                            .id = change.id,
                            .rate = change.limit.rate,
                            .burst = change.limit.burst};
  ShimText error;
  switch (kovs_of_set_meter(connection_, &meter, deadline_ms_, error.out())) {
    case KOVS_COMMITTED:
      return std::nullopt;
    case KOVS_REFUSED:
      return std::optional<std::string>(error.str());
    case KOVS_BROKEN:
      break;
  }
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::StatusOr<std::optional<std::string>> RealChannel::SetGroup(uint32_t id, const std::string& group) {
  ShimText error;
  switch (kovs_of_set_group(connection_, id, group.c_str(), deadline_ms_, error.out())) {
    case KOVS_COMMITTED:
      return std::nullopt;
    case KOVS_REFUSED:
      return std::optional<std::string>(error.str());
    case KOVS_BROKEN:
      break;
  }
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::StatusOr<std::map<uint32_t, std::string>> RealChannel::Groups() {
  std::map<uint32_t, std::string> groups;
  ShimText error;
  if (kovs_of_dump_groups(connection_, deadline_ms_, CollectGroup, &groups, error.out())) return groups;
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::Status RealChannel::ReadMeters(bool counters, kovs_meter_cb* collect, void* into) {
  ShimText error;
  if (kovs_of_dump_meters(connection_, counters, deadline_ms_, collect, into, error.out()))
    return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::StatusOr<std::map<uint32_t, MeterRate>> RealChannel::Meters() {
  std::map<uint32_t, MeterRate> meters;
  const auto collect = [](void* into, const kovs_dumped_meter* meter) {
    (*static_cast<std::map<uint32_t, MeterRate>*>(into))[meter->id] = {meter->rate, meter->burst};
  };
  RETURN_IF_ERROR(ReadMeters(/*counters=*/false, collect, &meters));
  return meters;
}

absl::StatusOr<std::map<uint32_t, uint64_t>> RealChannel::MeterDrops() {
  std::map<uint32_t, uint64_t> drops;
  const auto collect = [](void* into, const kovs_dumped_meter* meter) {
    (*static_cast<std::map<uint32_t, uint64_t>*>(into))[meter->id] = meter->dropped;
  };
  RETURN_IF_ERROR(ReadMeters(/*counters=*/true, collect, &drops));
  return drops;
}

absl::Status RealChannel::WatchFlows() {
  ShimText error;
  if (kovs_of_watch_flows(connection_, static_cast<uint8_t>(Table::kLearned), deadline_ms_, error.out())) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kUnavailable, "{}", error.str());
}

absl::StatusOr<FlowDisturbance> RealChannel::TakeDisturbance() {
  if (!kovs_of_run(connection_))
    return Error(absl::StatusCode::kUnavailable, "the switch closed the connection");
  const kovs_flow_changes changes = kovs_of_take_changes(connection_);
  return FlowDisturbance{changes.added, changes.deleted, changes.modified, changes.first};
}

absl::StatusOr<CanonicalFlow> RealChannel::Canonical(const FlowKey& key, const std::string& actions) const {
  CanonicalFlow canonical;
  auto collect = [](void* aux, const kovs_dumped_flow* flow) {
    *static_cast<CanonicalFlow*>(aux) = {.key = KeyOf(*flow), .actions = flow->actions};
  };
  kovs_flow flow = ToShim(key, actions, 0, /*remove=*/false, /*reset_counters=*/false);
  ShimText error;
  if (!kovs_canonical(&flow, collect, &canonical, error.out())) return Invalid("{}", error.str());
  return canonical;
}

absl::StatusOr<std::string> RealChannel::CanonicalGroup(uint32_t id, const std::string& group) const {
  std::map<uint32_t, std::string> shown;
  ShimText error;
  if (!kovs_canonical_group(id, group.c_str(), CollectGroup, &shown, error.out()))
    return Invalid("{}", error.str());
  return shown[id];
}

}  // namespace

absl::StatusOr<std::unique_ptr<OpenFlowChannel>> OpenOpenFlowChannel(const std::string& socket_path,
                                                                     std::chrono::milliseconds deadline) {
  ShimText error;
  const int deadline_ms = static_cast<int>(deadline.count());
  kovs_of* connection = kovs_of_open(socket_path.c_str(), deadline_ms, error.out());
  if (connection == nullptr) return Error(absl::StatusCode::kUnavailable, "{}", error.str());
  return std::make_unique<RealChannel>(connection, deadline_ms);
}

}  // namespace kasane::ovs
