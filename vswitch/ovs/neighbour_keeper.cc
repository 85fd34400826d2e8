#include "vswitch/ovs/neighbour_keeper.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "base/status.h"
#include "base/wake_fd.h"
#include "vswitch/ovs/shim/ovs_shim.h"
#include "vswitch/ovs/shim/shim_text.h"
#include "vswitch/underlay/netlink.h"

namespace kasane::ovs {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// For an answer of ovs-vswitchd. Stop() may have to wait for it.
constexpr int kDeadlineMs = 3'000;
// Stale neighbours are confirmed and the switch's cache is compared this often; what changes meanwhile is an
// event.
constexpr seconds kRecheck(15);
// Entries of the switch's cache live 15 minutes unless used.
constexpr seconds kRefresh(300);
constexpr seconds kMinRetry(1);
constexpr Clock::time_point kNever = Clock::time_point::max();

// A neighbour as the switch should know it.
struct Pushed {
  std::string bridge;
  IpAddress next_hop;
  MacAddress mac;

  bool operator==(const Pushed&) const = default;
};

struct Entry {
  vswitch::TunnelState state;
  std::optional<underlay::RouteInfo> route;
  underlay::NeighbourState neighbour = underlay::NeighbourState::kUnknown;
  bool unanswered = false;       // Resolving failed, and has not succeeded since.
  std::optional<Pushed> pushed;  // Acknowledged by the switch in this session.
  Clock::time_point refresh_at;
  Clock::time_point retry_at = kNever;  // The next attempt to resolve, or to tell the switch.
  seconds retry = kMinRetry;
};

class NeighbourKeeper : public TunnelKeeper {
 public:
  NeighbourKeeper(std::string run_dir, std::unique_ptr<underlay::Netlink> netlink)
      : run_dir_(std::move(run_dir)),
        switch_(std::make_shared<SwitchState>()),
        states_(std::make_shared<TunnelStates>()),
        netlink_(std::move(netlink)) {}
  ~NeighbourKeeper() override { Stop(); }

  void Start(std::function<void()> on_change) override {
    on_change_ = std::move(on_change);
    thread_ = std::thread([this] { Run(); });
  }
  void Stop() override {
    stop_ = true;
    wake_.Wake();
    if (thread_.joinable()) thread_.join();
  }
  void Want(std::vector<IpAddress> remotes) override;
  void SetSwitch(std::shared_ptr<const SwitchState> state) override;
  std::shared_ptr<const TunnelStates> States() const override;
  bool valid() const { return wake_.valid(); }

 private:
  void Run();
  void Wait();
  bool TakeInput();
  bool ReadEvents();
  void Recheck();
  void Evaluate(const IpAddress& remote, Entry& entry);
  void Resolve(Entry& entry);
  std::optional<std::string> UnderlayBridge(Entry& entry);
  void PushAll();
  void Probe(Entry& entry);
  void Confirm(const std::vector<std::pair<Entry*, Pushed>>& pending);
  static void Refused(Entry& entry, std::string problem);
  absl::Status Push(const Pushed& neighbour);
  absl::StatusOr<TunnelNeighbours> Show();
  absl::StatusOr<std::string> Command(const std::string& command, const std::vector<std::string>& args);
  void Publish();

  const std::string run_dir_;
  WakeFd wake_;
  std::atomic<bool> stop_ = false;
  std::function<void()> on_change_;

  mutable std::mutex mutex_;  // Guards the next four.
  std::set<IpAddress> wanted_;
  std::shared_ptr<const SwitchState> switch_;
  bool input_changed_ = false;
  std::shared_ptr<const TunnelStates> states_;

  // Of the thread alone.
  std::unique_ptr<underlay::Netlink> netlink_;
  std::shared_ptr<const SwitchState> current_ = std::make_shared<SwitchState>();
  std::map<IpAddress, Entry> entries_;
  Clock::time_point recheck_at_;

  std::thread thread_;
};

void NeighbourKeeper::Want(std::vector<IpAddress> remotes) {
  std::lock_guard lock(mutex_);
  wanted_ = std::set<IpAddress>(remotes.begin(), remotes.end());
  input_changed_ = true;
  wake_.Wake();
}

void NeighbourKeeper::SetSwitch(std::shared_ptr<const SwitchState> state) {
  std::lock_guard lock(mutex_);
  switch_ = std::move(state);
  input_changed_ = true;
  wake_.Wake();
}

std::shared_ptr<const TunnelStates> NeighbourKeeper::States() const {
  std::lock_guard lock(mutex_);
  return states_;
}

void NeighbourKeeper::Run() {
  recheck_at_ = Clock::now() + kRecheck;
  while (!stop_) {
    wake_.Drain();
    const bool input = TakeInput();
    const bool routes = ReadEvents();
    const bool recheck = Clock::now() >= recheck_at_;
    if (recheck) Recheck();
    for (auto& [remote, entry] : entries_) {
      if (input || routes || recheck) Evaluate(remote, entry);
      Resolve(entry);
    }
    PushAll();
    Publish();
    Wait();
  }
}

// Takes over what was wanted and told. True if it changed.
bool NeighbourKeeper::TakeInput() {
  std::set<IpAddress> wanted;
  std::shared_ptr<const SwitchState> now;
  {
    std::lock_guard lock(mutex_);
    if (!input_changed_) return false;
    input_changed_ = false;
    wanted = wanted_;
    now = switch_;
  }
  std::erase_if(entries_, [&wanted](const auto& item) { return wanted.count(item.first) == 0; });
  for (const IpAddress& remote : wanted) entries_.try_emplace(remote).first->second.state.remote = remote;
  if (now->session != current_->session) {
    for (auto& [remote, entry] : entries_) entry.pushed.reset();
  }
  current_ = std::move(now);
  return true;
}

// Takes over what the kernel learned. True if routes, links or addresses changed.
bool NeighbourKeeper::ReadEvents() {
  return netlink_->ReadEvents([this](const underlay::Neighbour& neighbour) {
    for (auto& [remote, entry] : entries_) {
      if (!entry.route || entry.route->link_index != neighbour.link_index ||
          entry.route->next_hop != neighbour.address) {
        continue;
      }
      entry.neighbour = neighbour.state;
      // A failed or forgotten neighbour keeps its last MAC in the switch: it may still be right.
      if (neighbour.mac) entry.state.next_hop_mac = neighbour.mac;
    }
  });
}

// Confirms what went stale, and finds what the switch lost or learned otherwise.
void NeighbourKeeper::Recheck() {
  recheck_at_ = Clock::now() + kRecheck;
  for (auto& [remote, entry] : entries_) {
    if (entry.route && entry.neighbour == underlay::NeighbourState::kStale) {
      // Its outcome is an event.
      (void)netlink_->Probe(entry.route->link_index, entry.route->next_hop);
    }
  }
  if (current_->datapath_type != "netdev" || !current_->ready) return;
  const absl::StatusOr<TunnelNeighbours> known = Show();
  if (!known.ok()) return;
  for (auto& [remote, entry] : entries_) {
    if (!entry.pushed) continue;
    const auto found = known->find({entry.pushed->bridge, entry.pushed->next_hop});
    if (found == known->end() || found->second != entry.pushed->mac) entry.pushed.reset();
  }
}

// The bridge that `entry`'s packets leave by, empty with the kernel's datapath. nullopt: there is none yet.
std::optional<std::string> NeighbourKeeper::UnderlayBridge(Entry& entry) {
  const auto found = current_->underlay.find(entry.state.remote.family());
  if (found == current_->underlay.end()) {
    entry.state.problem = current_->datapath_type.empty() ? "the switch is not ready"
                                                          : "this host has no tunnel address of its family";
    return std::nullopt;
  }
  if (!found->second.usable) {
    entry.state.problem = fmt::format("this host's tunnel address {}", found->second.problem);
    return std::nullopt;
  }
  return found->second.bridge;
}

// Looks up the way to `remote` and what the kernel knows of its next hop.
void NeighbourKeeper::Evaluate(const IpAddress& remote, Entry& entry) {
  const std::optional<underlay::RouteInfo> before = std::exchange(entry.route, std::nullopt);
  const std::optional<std::string> bridge = UnderlayBridge(entry);
  if (!bridge) return;
  const absl::StatusOr<underlay::RouteInfo> route = netlink_->RouteTo(remote);
  if (!route.ok()) {
    entry.state.problem = Message(route.status());
    return;
  }
  if (!bridge->empty() && route->link != *bridge) {
    entry.state.problem = fmt::format(
        "its route leaves by {}, but the userspace datapath sends only through bridge {}: correct the route",
        route->link, *bridge);
    return;
  }
  const absl::StatusOr<underlay::Neighbour> neighbour =
      netlink_->GetNeighbour(route->link_index, route->next_hop);
  if (!neighbour.ok()) {
    entry.state.problem = Message(neighbour.status());
    return;
  }
  entry.route = *route;
  entry.neighbour = neighbour->state;
  if (before != entry.route) {
    Entry fresh;
    fresh.state.remote = remote;
    fresh.state.next_hop = route->next_hop;
    fresh.route = *route;
    fresh.neighbour = neighbour->state;
    fresh.pushed = entry.pushed;
    entry = std::move(fresh);
  }
  if (neighbour->mac) entry.state.next_hop_mac = neighbour->mac;
}

// Has the kernel resolve the next hop if it does not know it.
void NeighbourKeeper::Resolve(Entry& entry) {
  if (!entry.route) {
    entry.state.ready = false;
    entry.state.next_hop.reset();
    entry.state.next_hop_mac.reset();
    entry.retry_at = kNever;
    return;
  }
  if (entry.neighbour == underlay::NeighbourState::kFresh ||
      entry.neighbour == underlay::NeighbourState::kStale) {
    entry.state.problem.clear();
    entry.unanswered = false;
    entry.retry = kMinRetry;
    entry.retry_at = kNever;
    entry.state.ready = current_->datapath_type == "system";
    return;
  }
  if (entry.neighbour == underlay::NeighbourState::kFailed) entry.unanswered = true;
  // The kernel may forget a neighbour that it does not use itself: no news while it is asked again.
  if (entry.unanswered || !entry.state.next_hop_mac) {
    entry.state.ready = false;
    entry.state.problem = fmt::format(
        "{} {} {} on {}", entry.route->next_hop, entry.unanswered ? "does not answer" : "has yet to answer",
        entry.route->next_hop.is_v4() ? "ARP" : "neighbour discovery", entry.route->link);
  }
  Probe(entry);
}

void NeighbourKeeper::Probe(Entry& entry) {
  const Clock::time_point now = Clock::now();
  if (entry.retry_at != kNever && now < entry.retry_at) return;
  const absl::Status status = netlink_->Probe(entry.route->link_index, entry.route->next_hop);
  if (!status.ok()) entry.state.problem = Message(status);
  entry.retry_at = now + entry.retry;
  entry.retry = std::min(2 * entry.retry, kRecheck);
}

// Tells the switch what it does not know yet; a tunnel is ready once it confirms.
void NeighbourKeeper::PushAll() {
  if (current_->datapath_type != "netdev") return;
  const Clock::time_point now = Clock::now();
  std::vector<std::pair<Entry*, Pushed>> pending;
  std::set<std::pair<std::string, IpAddress>> sent;
  for (auto& [remote, entry] : entries_) {
    if (!entry.route || !entry.state.problem.empty() || !entry.state.next_hop_mac) continue;
    Pushed wanted{entry.route->link, entry.route->next_hop, *entry.state.next_hop_mac};
    entry.state.ready = entry.pushed == wanted;
    if (!current_->ready) {  // It knows what it was told in this session.
      if (!entry.state.ready) entry.state.problem = "the switch is not ready";
      continue;
    }
    if (entry.state.ready && now < entry.refresh_at) continue;
    if (sent.insert({wanted.bridge, wanted.next_hop}).second) {
      if (absl::Status status = Push(wanted); !status.ok()) {
        Refused(entry, Message(status));
        break;  // The others would wait for the same deadline.
      }
    }
    pending.emplace_back(&entry, std::move(wanted));
  }
  if (!pending.empty()) Confirm(pending);
}

void NeighbourKeeper::Confirm(const std::vector<std::pair<Entry*, Pushed>>& pending) {
  const absl::StatusOr<TunnelNeighbours> known = Show();
  for (const auto& [entry, wanted] : pending) {
    if (!known.ok()) {
      Refused(*entry, Message(known.status()));
      continue;
    }
    const auto found = known->find({wanted.bridge, wanted.next_hop});
    if (found == known->end() || found->second != wanted.mac) {
      Refused(*entry, "Open vSwitch did not keep the neighbour (ovs-appctl tnl/neigh/show)");
      continue;
    }
    entry->state.ready = true;
    entry->pushed = wanted;
    entry->refresh_at = Clock::now() + kRefresh;
  }
}

void NeighbourKeeper::Refused(Entry& entry, std::string problem) {
  entry.state.ready = false;
  entry.state.problem = std::move(problem);
  entry.retry_at = Clock::now() + kMinRetry;
}

absl::Status NeighbourKeeper::Push(const Pushed& neighbour) {
  return Command("tnl/neigh/set", {neighbour.bridge, neighbour.next_hop.ToString(), neighbour.mac.ToString()})
      .status();
}

absl::StatusOr<TunnelNeighbours> NeighbourKeeper::Show() {
  ASSIGN_OR_RETURN(const std::string text, Command("tnl/neigh/show", {}));
  return ParseTunnelNeighbours(text);
}

absl::StatusOr<std::string> NeighbourKeeper::Command(const std::string& command,
                                                     const std::vector<std::string>& args) {
  const std::string pid_file = run_dir_ + "/ovs-vswitchd.pid";
  std::ifstream in(pid_file);
  long pid = 0;
  if (!(in >> pid)) {
    return Error(absl::StatusCode::kUnavailable, "cannot read {}: is ovs-vswitchd running?", pid_file);
  }
  std::vector<const char*> argv;
  argv.reserve(args.size());
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  ShimText reply;
  ShimText error;
  if (!kovs_unixctl(fmt::format("{}/ovs-vswitchd.{}.ctl", run_dir_, pid).c_str(), command.c_str(), argv.data(),
                    argv.size(), kDeadlineMs, reply.out(), error.out())) {
    return Error(absl::StatusCode::kUnavailable, "ovs-vswitchd: {}: {}", command, error.str());
  }
  return reply.str();
}

void NeighbourKeeper::Publish() {
  auto states = std::make_shared<TunnelStates>();
  for (const auto& [remote, entry] : entries_) (*states)[remote] = entry.state;
  {
    std::lock_guard lock(mutex_);
    if (*states == *states_) return;
    states_ = std::move(states);
  }
  on_change_();
}

void NeighbourKeeper::Wait() {
  Clock::time_point until = recheck_at_;
  for (const auto& [remote, entry] : entries_) until = std::min(until, entry.retry_at);
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  std::array<pollfd, 2> fds = {pollfd{.fd = wake_.fd(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = netlink_->event_fd(), .events = POLLIN, .revents = 0}};
  poll(fds.data(), fds.size(), std::max(0, static_cast<int>(left.count())));
}

}  // namespace

TunnelNeighbours ParseTunnelNeighbours(std::string_view text) {
  TunnelNeighbours neighbours;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string ip;
    std::string mac;
    std::string bridge;
    std::string flag;
    words >> ip >> mac >> bridge >> flag;
    const absl::StatusOr<IpAddress> address = IpAddress::Parse(ip);
    const absl::StatusOr<MacAddress> parsed = MacAddress::Parse(mac);
    // The two header lines parse as neither.
    if (address.ok() && parsed.ok() && !bridge.empty() && flag.empty())
      neighbours[{bridge, *address}] = *parsed;
  }
  return neighbours;
}

absl::StatusOr<std::unique_ptr<TunnelKeeper>> NewNeighbourKeeper(const OvsConfig& config) {
  ASSIGN_OR_RETURN(std::unique_ptr<underlay::Netlink> netlink,
                   underlay::Netlink::Open(underlay::Netlink::Watch::kNeighbours));
  auto keeper = std::make_unique<NeighbourKeeper>(config.run_dir, std::move(netlink));
  if (!keeper->valid()) return Error(absl::StatusCode::kResourceExhausted, "cannot make an eventfd");
  return keeper;
}

}  // namespace kasane::ovs
