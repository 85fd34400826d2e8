#include "vswitch/underlay/neighbour_keeper.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/loop_thread.h"
#include "base/status.h"
#include "vswitch/underlay/netlink.h"

namespace kasane::underlay {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Stale neighbours are confirmed and the switch's cache is compared this often; what changes meanwhile is an
// event.
constexpr seconds kRecheck(15);
// Entries of Open vSwitch's cache live 15 minutes unless used: before that they are told again.
constexpr seconds kRefresh(300);
constexpr seconds kMinRetry(1);
constexpr Clock::time_point kNever = Clock::time_point::max();

// A neighbour as the switch should know it.
struct Pushed {
  std::string link;
  IpAddress next_hop;
  MacAddress mac;

  bool operator==(const Pushed&) const = default;
};

struct Entry {
  vswitch::TunnelState state;
  std::optional<RouteInfo> route;
  NeighbourState neighbour = NeighbourState::kUnknown;
  bool unanswered = false;       // Resolving failed, and has not succeeded since.
  std::optional<Pushed> pushed;  // Acknowledged by the switch in this session.
  Clock::time_point refresh_at;
  Clock::time_point retry_at = kNever;  // The next attempt to resolve, or to tell the switch.
  seconds retry = kMinRetry;
};

class KernelNeighbourKeeper : public NeighbourKeeper {
 public:
  KernelNeighbourKeeper(std::unique_ptr<NeighbourCache> cache, std::unique_ptr<Netlink> netlink)
      : cache_(std::move(cache)), states_(std::make_shared<TunnelStates>()), netlink_(std::move(netlink)) {}
  ~KernelNeighbourKeeper() override { Stop(); }

  void Start(std::function<void()> on_change) override {
    on_change_ = std::move(on_change);
    thread_.Start([this] { Run(); });
  }
  void Stop() override { thread_.Stop(); }
  void Want(std::vector<IpAddress> remotes) override;
  void SetEgress(Egress egress) override;
  std::shared_ptr<const TunnelStates> States() const override;
  bool valid() const { return thread_.valid(); }

 private:
  void Run();
  void Wait();
  bool TakeInput();
  bool ReadEvents();
  void Recheck();
  void Evaluate(const IpAddress& remote, Entry& entry);
  void Resolve(Entry& entry);
  std::optional<std::string> WayOut(Entry& entry);
  void PushAll();
  void Probe(Entry& entry);
  void Confirm(const std::vector<std::pair<Entry*, Pushed>>& pending);
  static void Refused(Entry& entry, std::string problem);
  void Publish();

  const std::unique_ptr<NeighbourCache> cache_;
  std::function<void()> on_change_;

  mutable std::mutex mutex_;  // Guards the next four.
  std::set<IpAddress> wanted_;
  Egress egress_;
  bool input_changed_ = false;
  std::shared_ptr<const TunnelStates> states_;

  // Of the thread alone.
  std::unique_ptr<Netlink> netlink_;
  Egress current_;
  std::map<IpAddress, Entry> entries_;
  Clock::time_point recheck_at_;

  LoopThread thread_;
};

void KernelNeighbourKeeper::Want(std::vector<IpAddress> remotes) {
  std::lock_guard lock(mutex_);
  wanted_ = std::set<IpAddress>(remotes.begin(), remotes.end());
  input_changed_ = true;
  thread_.Wake();
}

void KernelNeighbourKeeper::SetEgress(Egress egress) {
  std::lock_guard lock(mutex_);
  egress_ = std::move(egress);
  input_changed_ = true;
  thread_.Wake();
}

std::shared_ptr<const TunnelStates> KernelNeighbourKeeper::States() const {
  std::lock_guard lock(mutex_);
  return states_;
}

void KernelNeighbourKeeper::Run() {
  recheck_at_ = Clock::now() + kRecheck;
  while (!thread_.stopping()) {
    thread_.Drain();
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
bool KernelNeighbourKeeper::TakeInput() {
  std::set<IpAddress> wanted;
  Egress now;
  {
    std::lock_guard lock(mutex_);
    if (!input_changed_) return false;
    input_changed_ = false;
    wanted = wanted_;
    now = egress_;
  }
  std::erase_if(entries_, [&wanted](const auto& item) { return wanted.count(item.first) == 0; });
  for (const IpAddress& remote : wanted) entries_.try_emplace(remote).first->second.state.remote = remote;
  if (now.session != current_.session) {
    for (auto& [remote, entry] : entries_) entry.pushed.reset();
  }
  current_ = std::move(now);
  return true;
}

// Takes over what the kernel learned. True if routes, links or addresses changed.
bool KernelNeighbourKeeper::ReadEvents() {
  return netlink_->ReadEvents([this](const Neighbour& neighbour) {
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
void KernelNeighbourKeeper::Recheck() {
  recheck_at_ = Clock::now() + kRecheck;
  for (auto& [remote, entry] : entries_) {
    if (entry.route && entry.neighbour == NeighbourState::kStale) {
      // Its outcome is an event.
      (void)netlink_->Probe(entry.route->link_index, entry.route->next_hop);
    }
  }
  if (!current_.has_cache || !current_.ready) return;
  const absl::StatusOr<CachedNeighbours> known = cache_->Show();
  if (!known.ok()) return;
  for (auto& [remote, entry] : entries_) {
    if (!entry.pushed) continue;
    const auto found = known->find({entry.pushed->link, entry.pushed->next_hop});
    if (found == known->end() || found->second != entry.pushed->mac) entry.pushed.reset();
  }
}

// The link that `entry`'s packets must leave by, empty if any will do. nullopt: there is no way out yet.
std::optional<std::string> KernelNeighbourKeeper::WayOut(Entry& entry) {
  const auto found = current_.families.find(entry.state.remote.family());
  if (found == current_.families.end()) {
    entry.state.problem =
        current_.known ? "this host has no tunnel address of its family" : "the switch is not ready";
    return std::nullopt;
  }
  if (!found->second.usable) {
    entry.state.problem = fmt::format("this host's tunnel address {}", found->second.problem);
    return std::nullopt;
  }
  return found->second.link;
}

// Looks up the way to `remote` and what the kernel knows of its next hop.
void KernelNeighbourKeeper::Evaluate(const IpAddress& remote, Entry& entry) {
  const std::optional<RouteInfo> before = std::exchange(entry.route, std::nullopt);
  const std::optional<std::string> link = WayOut(entry);
  if (!link) return;
  const absl::StatusOr<RouteInfo> route = netlink_->RouteTo(remote);
  if (!route.ok()) {
    entry.state.problem = Message(route.status());
    return;
  }
  if (!link->empty() && route->link != *link) {
    entry.state.problem = fmt::format(
        "its route leaves by {}, but the switch sends only through {}: correct the route", route->link, *link);
    return;
  }
  const absl::StatusOr<Neighbour> neighbour = netlink_->GetNeighbour(route->link_index, route->next_hop);
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
void KernelNeighbourKeeper::Resolve(Entry& entry) {
  if (!entry.route) {
    entry.state.ready = false;
    entry.state.next_hop.reset();
    entry.state.next_hop_mac.reset();
    entry.retry_at = kNever;
    return;
  }
  if (entry.neighbour == NeighbourState::kFresh || entry.neighbour == NeighbourState::kStale) {
    entry.state.problem.clear();
    entry.unanswered = false;
    entry.retry = kMinRetry;
    entry.retry_at = kNever;
    entry.state.ready = current_.known && !current_.has_cache;
    return;
  }
  if (entry.neighbour == NeighbourState::kFailed) entry.unanswered = true;
  // The kernel may forget a neighbour that it does not use itself: no news while it is asked again.
  if (entry.unanswered || !entry.state.next_hop_mac) {
    entry.state.ready = false;
    entry.state.problem = fmt::format(
        "{} {} {} on {}", entry.route->next_hop, entry.unanswered ? "does not answer" : "has yet to answer",
        entry.route->next_hop.is_v4() ? "ARP" : "neighbour discovery", entry.route->link);
  }
  Probe(entry);
}

void KernelNeighbourKeeper::Probe(Entry& entry) {
  const Clock::time_point now = Clock::now();
  if (entry.retry_at != kNever && now < entry.retry_at) return;
  const absl::Status status = netlink_->Probe(entry.route->link_index, entry.route->next_hop);
  if (!status.ok()) entry.state.problem = Message(status);
  entry.retry_at = now + entry.retry;
  entry.retry = std::min(2 * entry.retry, kRecheck);
}

// Tells the switch what it does not know yet; a tunnel is ready once it confirms.
void KernelNeighbourKeeper::PushAll() {
  if (!current_.has_cache) return;
  const Clock::time_point now = Clock::now();
  std::vector<std::pair<Entry*, Pushed>> pending;
  std::set<std::pair<std::string, IpAddress>> sent;
  for (auto& [remote, entry] : entries_) {
    if (!entry.route || !entry.state.problem.empty() || !entry.state.next_hop_mac) continue;
    Pushed wanted{entry.route->link, entry.route->next_hop, *entry.state.next_hop_mac};
    entry.state.ready = entry.pushed == wanted;
    if (!current_.ready) {  // It knows what it was told in this session.
      if (!entry.state.ready) entry.state.problem = "the switch is not ready";
      continue;
    }
    if (entry.state.ready && now < entry.refresh_at) continue;
    if (sent.insert({wanted.link, wanted.next_hop}).second) {
      const absl::Status status = cache_->Set(wanted.link, wanted.next_hop, wanted.mac);
      if (!status.ok()) {
        Refused(entry, Message(status));
        break;  // The others would wait for the same deadline.
      }
    }
    pending.emplace_back(&entry, std::move(wanted));
  }
  if (!pending.empty()) Confirm(pending);
}

void KernelNeighbourKeeper::Confirm(const std::vector<std::pair<Entry*, Pushed>>& pending) {
  const absl::StatusOr<CachedNeighbours> known = cache_->Show();
  for (const auto& [entry, wanted] : pending) {
    if (!known.ok()) {
      Refused(*entry, Message(known.status()));
      continue;
    }
    const auto found = known->find({wanted.link, wanted.next_hop});
    if (found == known->end() || found->second != wanted.mac) {
      Refused(*entry, "the switch did not keep the neighbour");
      continue;
    }
    entry->state.ready = true;
    entry->pushed = wanted;
    entry->refresh_at = Clock::now() + kRefresh;
  }
}

void KernelNeighbourKeeper::Refused(Entry& entry, std::string problem) {
  entry.state.ready = false;
  entry.state.problem = std::move(problem);
  entry.retry_at = Clock::now() + kMinRetry;
}

void KernelNeighbourKeeper::Publish() {
  auto states = std::make_shared<TunnelStates>();
  for (const auto& [remote, entry] : entries_) (*states)[remote] = entry.state;
  {
    std::lock_guard lock(mutex_);
    if (*states == *states_) return;
    states_ = std::move(states);
  }
  on_change_();
}

void KernelNeighbourKeeper::Wait() {
  Clock::time_point until = recheck_at_;
  for (const auto& [remote, entry] : entries_) until = std::min(until, entry.retry_at);
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  std::array<pollfd, 2> fds = {pollfd{.fd = thread_.wake_fd(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = netlink_->event_fd(), .events = POLLIN, .revents = 0}};
  poll(fds.data(), fds.size(), std::max(0, static_cast<int>(left.count())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<NeighbourKeeper>> NewNeighbourKeeper(std::unique_ptr<NeighbourCache> cache) {
  ASSIGN_OR_RETURN(std::unique_ptr<Netlink> netlink, Netlink::Open(Netlink::Watch::kNeighbours));
  auto keeper = std::make_unique<KernelNeighbourKeeper>(std::move(cache), std::move(netlink));
  if (!keeper->valid()) return Error(absl::StatusCode::kResourceExhausted, "cannot make an eventfd");
  return keeper;
}

}  // namespace kasane::underlay
