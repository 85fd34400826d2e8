#include "vswitch/ovs/ovsdb/ovsdb_monitor.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <utility>
#include <vector>

#include "base/loop_thread.h"
#include "base/status.h"
#include "vswitch/ovs/openflow/handler_threads.h"
#include "vswitch/ovs/ovsdb/derive_state.h"
#include "vswitch/ovs/ovsdb/ovsdb_plan.h"
#include "vswitch/ovs/ovsdb/ovsdb_snapshot.h"
#include "vswitch/ovs/shim/ovs_shim.h"
#include "vswitch/ovs/shim/shim_text.h"
#include "vswitch/underlay/netlink.h"

namespace kasane::ovs {
namespace {

// For an answer of the switch or the database. Stop() may have to wait for it.
constexpr int kDeadlineMs = 3'000;
// Between attempts to connect to the bridge, and before the first after somebody's connection broke.
constexpr int kMinConnectMs = 50;
constexpr int kMaxConnectMs = 500;
constexpr int kReconnectMs = 250;
// Until a failed transaction is repeated, and until what no event announces (a kernel module) is looked at
// again.
constexpr int kReplanMs = 5'000;
constexpr int kCountHandlersMs = 3'000;
// Settings of a port by OpenFlow are in no database, and no event tells a connection like ours of them.
constexpr int kReadPortsMs = 1'000;
// A database that is there answers within this; before it, its absence is no news.
constexpr int kGraceMs = 1'000;

struct DbDeleter {
  void operator()(kovs_db* db) const { kovs_db_close(db); }
};
struct ConnectionDeleter {
  void operator()(kovs_of* connection) const { kovs_of_close(connection); }
};

std::vector<std::string> Strings(const char* const* list, size_t n) { return {list, list + n}; }

OvsdbInterface ToInterface(const kovs_db_interface& row) {
  OvsdbInterface interface {
    .bridge = row.bridge, .port = row.port, .port_owner = row.port_owner, .name = row.name, .type = row.type,
    .iface_id = row.iface_id, .error = row.error, .ofport = std::nullopt, .options = {}
  };
  if (row.has_ofport) interface.ofport = row.ofport;
  for (size_t i = 0; i < row.n_options; ++i) interface.options[row.options[i].key] = row.options[i].value;
  return interface;
}

OvsdbSnapshot ReadSnapshot(const kovs_db* db) {
  OvsdbSnapshot snapshot;
  snapshot.connected = kovs_db_connected(db);
  const kovs_db_visitor visitor = {
      .aux = &snapshot,
      .root =
          [](void* aux, const kovs_db_root* row) {
            auto& out = *static_cast<OvsdbSnapshot*>(aux);
            out.initialised = true;
            out.ovs_version = row->ovs_version;
            out.datapath_types = Strings(row->datapath_types, row->n_datapath_types);
            out.iface_types = Strings(row->iface_types, row->n_iface_types);
          },
      .bridge =
          [](void* aux, const kovs_db_bridge* row) {
            static_cast<OvsdbSnapshot*>(aux)->bridges[row->name] = {
                .datapath_type = row->datapath_type,
                .fail_mode = row->fail_mode,
                .protocols = Strings(row->protocols, row->n_protocols)};
          },
      .interface =
          [](void* aux, const kovs_db_interface* row) {
            static_cast<OvsdbSnapshot*>(aux)->interfaces.push_back(ToInterface(*row));
          },
  };
  kovs_db_visit(db, &visitor);
  std::sort(snapshot.interfaces.begin(), snapshot.interfaces.end(),
            [](const OvsdbInterface& a, const OvsdbInterface& b) { return a.name < b.name; });
  return snapshot;
}

kovs_db_op_kind ToShim(OvsdbOp::Kind kind) {
  switch (kind) {
    case OvsdbOp::Kind::kAddBridge:
      return KOVS_DB_ADD_BRIDGE;
    case OvsdbOp::Kind::kSetBridge:
      return KOVS_DB_SET_BRIDGE;
    case OvsdbOp::Kind::kAddPort:
      return KOVS_DB_ADD_PORT;
    case OvsdbOp::Kind::kSetOptions:
      return KOVS_DB_SET_OPTIONS;
    case OvsdbOp::Kind::kDeletePort:
      break;
  }
  return KOVS_DB_DELETE_PORT;
}

// Returns an error text, or "".
std::string Transact(kovs_db* db, const std::vector<OvsdbOp>& ops, const std::string& bridge) {
  std::vector<std::vector<kovs_pair>> options;
  options.reserve(ops.size());
  std::vector<kovs_db_op> shim_ops;
  for (const OvsdbOp& op : ops) {
    std::vector<kovs_pair>& pairs = options.emplace_back();
    for (const auto& [key, value] : op.options) pairs.push_back({.key = key.c_str(), .value = value.c_str()});
    shim_ops.push_back({.kind = ToShim(op.kind),
                        .bridge = bridge.c_str(),
                        .port = op.port.c_str(),
                        .type = "vxlan",
                        .datapath_type = op.datapath_type.c_str(),
                        .owner = kOwnerMark,
                        .options = pairs.data(),
                        .n_options = pairs.size()});
  }
  ShimText error;
  return kovs_db_transact(db, shim_ops.data(), shim_ops.size(), kDeadlineMs, error.out()) ? std::string()
                                                                                          : error.str();
}

// Packets that the kernel queues for interfaces of its own, such as veth, for each processor. 0: not known, as
// in a network namespace, which does not show it.
uint32_t ReadKernelBacklog() {
  std::ifstream in("/proc/sys/net/core/netdev_max_backlog");
  uint32_t packets = 0;
  in >> packets;
  return packets;
}

class OvsdbMonitor : public SwitchMonitor {
 public:
  OvsdbMonitor(const OvsConfig& config, std::unique_ptr<underlay::Netlink> netlink)
      : config_(config), state_(std::make_shared<SwitchState>()), netlink_(std::move(netlink)) {}
  ~OvsdbMonitor() override { Stop(); }

  void Start(std::function<void()> on_change) override {
    on_change_ = std::move(on_change);
    thread_.Start([this] { Run(); });
  }
  void Stop() override { thread_.Stop(); }
  std::shared_ptr<const SwitchState> State() const override {
    std::lock_guard lock(mutex_);
    return state_;
  }
  void Reconnect() override {
    reconnect_ = true;
    thread_.Wake();
  }
  bool valid() const { return thread_.valid(); }

 private:
  void Run();
  void Step();
  void UpdateDatabase();
  void UpdatePlan();
  void UpdateLink();
  void Connect();
  void Disconnect(std::string error);
  void ReadPorts();
  void NoteDisturbance(std::string what);
  void UpdateHandlers();
  bool HasHandlers() const { return plan_.datapath_type == "system" && connection_ != nullptr; }
  void UpdateAddresses();
  void Publish();
  void Wait();
  void WakeAt(int64_t time);

  const OvsConfig config_;
  std::atomic<bool> reconnect_ = false;
  std::function<void()> on_change_;

  mutable std::mutex mutex_;  // Guards state_.
  std::shared_ptr<const SwitchState> state_;

  // Of the thread alone.
  std::unique_ptr<underlay::Netlink> netlink_;
  std::unique_ptr<kovs_db, DbDeleter> db_;
  std::unique_ptr<kovs_of, ConnectionDeleter> connection_;
  unsigned seqno_ = 0;
  bool replan_ = true;
  bool ports_stale_ = true;
  OvsdbSnapshot snapshot_;
  OvsdbPlan plan_;
  SwitchLink link_;
  std::vector<underlay::LocalAddress> addresses_;
  uint64_t sessions_ = 0;
  int64_t silent_until_ = 0;
  int64_t connect_at_ = 0;
  int64_t replan_at_ = 0;  // 0: not by the clock.
  int64_t count_handlers_at_ = 0;
  int64_t read_ports_at_ = 0;
  bool set_up_ = false;  // The database has shown all that the plan wants in this process's life.
  Disturbances disturbances_;
  Attachments held_;          // Those seen last.
  bool no_handlers_ = false;  // When they were counted last.
  int connect_ms_ = kMinConnectMs;

  LoopThread thread_;
};

void OvsdbMonitor::Run() {
  silent_until_ = kovs_now_ms() + kGraceMs;
  db_.reset(kovs_db_open(config_.Remote().c_str()));
  if (absl::StatusOr<std::vector<underlay::LocalAddress>> addresses = netlink_->Addresses(); addresses.ok()) {
    addresses_ = *std::move(addresses);
  }
  while (!thread_.stopping()) {
    Step();
    Wait();
  }
  connection_.reset();
  db_.reset();
}

void OvsdbMonitor::Step() {
  thread_.Drain();
  UpdateDatabase();
  UpdateAddresses();
  UpdatePlan();
  UpdateLink();
  UpdateHandlers();
  Publish();
}

void OvsdbMonitor::UpdateDatabase() {
  kovs_db_run(db_.get());
  const bool connected = kovs_db_connected(db_.get());
  if (kovs_db_seqno(db_.get()) == seqno_ && connected == snapshot_.connected) return;
  seqno_ = kovs_db_seqno(db_.get());
  snapshot_ = ReadSnapshot(db_.get());
  replan_ = true;
  ports_stale_ = true;
}

void OvsdbMonitor::UpdatePlan() {
  const bool due = replan_at_ != 0 && kovs_now_ms() >= replan_at_;
  if (!replan_ && !due) return;
  replan_ = false;
  plan_ = PlanOvsdb(snapshot_, config_, config_.datapath_type == "netdev" || underlay::KernelHasOpenvswitch());
  replan_at_ = plan_.blocked ? kovs_now_ms() + kReplanMs : 0;
  if (plan_.ops.empty()) {
    set_up_ = set_up_ || !plan_.blocked;
    return;
  }
  if (!snapshot_.connected) return;
  if (set_up_)
    NoteDisturbance(fmt::format("settings of bridge {}: {}", config_.bridge, Describe(plan_.ops.front())));
  // Done when the database shows it: that change makes the next plan.
  const std::string error = Transact(db_.get(), plan_.ops, config_.bridge);
  if (error.empty()) return;
  replan_at_ = kovs_now_ms() + kReplanMs;
  plan_.problems.push_back(
      {"ovs", fmt::format("the database did not take the settings of bridge {}: {}", config_.bridge, error)});
}

void OvsdbMonitor::UpdateLink() {
  if (reconnect_.exchange(false)) {
    Disconnect("a connection broke");
    connect_at_ = kovs_now_ms() + kReconnectMs;
  }
  if (connection_ && !kovs_of_run(connection_.get())) Disconnect("the connection was closed");
  if (!connection_) Connect();
  // Without its database ovs-vswitchd does not answer.
  const bool due = ports_stale_ || kovs_now_ms() >= read_ports_at_;
  if (connection_ && due && snapshot_.connected) ReadPorts();
}

void OvsdbMonitor::Connect() {
  if (snapshot_.bridges.count(config_.bridge) == 0 || kovs_now_ms() < connect_at_) return;
  ShimText error;
  connection_.reset(kovs_of_open(config_.OpenFlowSocket().c_str(), kDeadlineMs, error.out()));
  if (!connection_) {
    Disconnect(error.str());
    return;
  }
  uint32_t meters = 0;
  if (!kovs_of_max_meters(connection_.get(), kDeadlineMs, &meters, error.out())) {
    Disconnect(error.str());
    return;
  }
  link_ = {.connected = true, .session = ++sessions_, .ports = {}, .meters = meters != 0, .error = ""};
  ports_stale_ = true;
}

void OvsdbMonitor::Disconnect(std::string error) {
  connection_.reset();
  link_.connected = false;
  link_.ports.clear();
  link_.handlers.reset();
  link_.kernel_backlog = 0;
  no_handlers_ = false;
  count_handlers_at_ = 0;
  link_.error = std::move(error);
  connect_at_ = kovs_now_ms() + connect_ms_;
  connect_ms_ = std::min(2 * connect_ms_, kMaxConnectMs);
}

void OvsdbMonitor::ReadPorts() {
  std::vector<SwitchPort> ports;
  auto collect = [](void* aux, const kovs_port* port) {
    static_cast<std::vector<SwitchPort>*>(aux)->push_back({port->name, port->number, port->down, port->muted});
  };
  ShimText error;
  if (!kovs_of_ports(connection_.get(), kDeadlineMs, collect, &ports, error.out())) {
    Disconnect(error.str());
    return;
  }
  link_.ports.clear();
  for (const SwitchPort& port : ports) link_.ports[port.name] = port.number;
  ports_stale_ = false;
  read_ports_at_ = kovs_now_ms() + kReadPortsMs;
  connect_ms_ = kMinConnectMs;
  for (const SwitchPort& port : PortsToEnable(ports, snapshot_, config_)) {
    if (!kovs_of_enable_port(connection_.get(), port.number, port.down, kDeadlineMs, error.out())) {
      Disconnect(error.str());
      return;
    }
    NoteDisturbance(fmt::format("port {} of bridge {} was set to forward nothing", port.name, config_.bridge));
  }
}

void OvsdbMonitor::NoteDisturbance(std::string what) {
  ++disturbances_.count;
  disturbances_.last = std::move(what);
}

// They may come a moment behind the bridge, and no event tells of them: only the second time that there is none
// counts.
void OvsdbMonitor::UpdateHandlers() {
  if (!HasHandlers() || kovs_now_ms() < count_handlers_at_) return;
  const std::optional<int> count = CountHandlerThreads(config_.run_dir);
  const bool none = count == 0;
  link_.handlers = none && !no_handlers_ ? std::nullopt : count;
  no_handlers_ = none;
  link_.kernel_backlog = ReadKernelBacklog();
  count_handlers_at_ = kovs_now_ms() + kCountHandlersMs;
}

void OvsdbMonitor::UpdateAddresses() {
  if (!netlink_->ReadEvents([](const underlay::Neighbour&) {})) return;
  absl::StatusOr<std::vector<underlay::LocalAddress>> addresses = netlink_->Addresses();
  if (addresses.ok()) addresses_ = *std::move(addresses);
}

void OvsdbMonitor::Publish() {
  if (!snapshot_.connected && kovs_now_ms() < silent_until_) return;
  auto state = std::make_shared<SwitchState>(DeriveState(snapshot_, plan_, link_, addresses_, config_, held_));
  if (!state->attachments.empty()) held_ = state->attachments;
  state->disturbances = disturbances_;
  {
    std::lock_guard lock(mutex_);
    if (*state == *state_) return;
    state_ = std::move(state);
  }
  on_change_();
}

void OvsdbMonitor::WakeAt(int64_t time) {
  kovs_poll_timer(static_cast<int>(std::max<int64_t>(0, time - kovs_now_ms())));
}

void OvsdbMonitor::Wait() {
  kovs_db_wait(db_.get());
  // A transaction reads on, past changes that nobody waits for then.
  if (kovs_db_seqno(db_.get()) != seqno_) WakeAt(0);
  if (connection_) {
    kovs_of_wait(connection_.get());
    if (snapshot_.connected) WakeAt(read_ports_at_);
  } else if (snapshot_.bridges.count(config_.bridge) > 0) {
    WakeAt(connect_at_);
  }
  if (replan_at_ != 0) WakeAt(replan_at_);
  if (HasHandlers()) WakeAt(count_handlers_at_);
  if (kovs_now_ms() < silent_until_) WakeAt(silent_until_);
  kovs_poll_fd(netlink_->event_fd());
  kovs_poll_fd(thread_.wake_fd());
  kovs_poll_block();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwitchMonitor>> NewOvsdbMonitor(const OvsConfig& config) {
  kovs_init();
  ASSIGN_OR_RETURN(std::unique_ptr<underlay::Netlink> netlink,
                   underlay::Netlink::Open(underlay::Netlink::Watch::kAddresses));
  auto monitor = std::make_unique<OvsdbMonitor>(config, std::move(netlink));
  if (!monitor->valid()) return Error(absl::StatusCode::kResourceExhausted, "cannot make an eventfd");
  return monitor;
}

}  // namespace kasane::ovs
