// Who may ask the slow path how often, and what it dropped. Each budget has the name of who spends it, so that
// one port's flood, or one network's, costs no other its answers or its failover:
// - of what a port of this host sends, that port;
// - of what comes through a tunnel, the port of that network and peer which has the frame's source MAC;
// - of what comes through a tunnel with any other MAC, the peer, in that network.
// Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.h"
#include "vswitch/datapath.h"
#include "vswitch/drop_reason.h"
#include "vswitch/slowpath/rate_limiter.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::slowpath {

struct Budget {
  NetworkId network;
  vswitch::Owner spender;

  auto operator<=>(const Budget&) const = default;
  bool operator==(const Budget&) const = default;
};

Budget BudgetOf(const NetworkFacts& facts, const SlowPathPacket& packet);

// The port, or the peer's address, that a packet came from.
vswitch::Owner SenderOf(const SlowPathPacket& packet);

class Admission {
 public:
  using Time = RateLimiter<Budget>::Time;
  // By the port or peer that it came from.
  using Drops = std::map<std::pair<vswitch::Owner, vswitch::DropReason>, uint64_t>;

  explicit Admission(RateLimit limit) : limiter_(limit) {}

  // Whether the slow path handles `packet`. If not, it is counted.
  bool Admit(const NetworkFacts& facts, const SlowPathPacket& packet, Time now);

  void CountDrop(const vswitch::Owner& sender, vswitch::DropReason reason) { ++drops_[{sender, reason}]; }
  const Drops& drops() const { return drops_; }

  // Forgets what was counted of senders that are `gone`.
  template <typename Predicate>
  void ForgetDrops(const Predicate& gone) {
    std::erase_if(drops_, [&](const auto& entry) { return gone(entry.first.first); });
  }

 private:
  RateLimiter<Budget> limiter_;
  Drops drops_;
};

}  // namespace kasane::slowpath
