// Packets that wait for an answer to a router's question (ARP, ND): a few for each address asked for, for
// kResolveTimeout. A datapath keeps them here in the form that it injects packets from. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/fair_share.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::slowpath {

inline constexpr std::chrono::seconds kResolveTimeout{1};

template <typename Payload>
class WaitingPackets {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr size_t kPerAddress = 3;  // RFC 4861, 7.2.2 asks for one at least.
  static constexpr size_t kPerSender = 64;
  static constexpr size_t kTotal = 1024;  // And one of each further sender.

  struct Waiting {
    vswitch::Owner sender;
    Payload payload;
    Time until;
  };

  // Returns what found no room and is lost: this packet, or the oldest at the same address of a sender that has
  // more of them there. In all each sender has its fair share.
  std::optional<Waiting> Add(const vswitch::ClaimKey& address, Waiting packet) {
    if (!senders_.HasRoom(packet.sender)) return packet;
    std::optional<Waiting> displaced;
    if (const auto there = by_address_.find(address);
        there != by_address_.end() && there->second.size() >= kPerAddress) {
      displaced = TakeFromLarger(there->second, packet.sender);
      if (!displaced) return packet;
    }
    senders_.Take(packet.sender);
    by_address_[address].push_back(std::move(packet));
    return displaced;
  }

  // Takes those whose address `is_known`, in the order in which they came.
  template <typename Predicate>
  std::vector<Waiting> TakeKnown(const Predicate& is_known) {
    return Take([&](const vswitch::ClaimKey& address, const Waiting&) { return is_known(address); });
  }

  // Takes those whose time is over at `now`.
  std::vector<Waiting> TakeExpired(Time now) {
    return Take([&](const vswitch::ClaimKey&, const Waiting& packet) { return packet.until <= now; });
  }

  bool empty() const { return by_address_.empty(); }

  // When the next one expires. Not while it is empty.
  Time NextExpiry() const {
    Time next = Time::max();
    for (const auto& [address, packets] : by_address_) {
      for (const Waiting& packet : packets) next = std::min(next, packet.until);
    }
    return next;
  }

 private:
  static size_t CountOf(const std::vector<Waiting>& packets, const vswitch::Owner& sender) {
    return static_cast<size_t>(std::count_if(packets.begin(), packets.end(),
                                             [&](const Waiting& packet) { return packet.sender == sender; }));
  }

  std::optional<Waiting> TakeFromLarger(std::vector<Waiting>& packets, const vswitch::Owner& than) {
    const size_t mine = CountOf(packets, than);
    const auto larger = std::find_if(packets.begin(), packets.end(), [&](const Waiting& packet) {
      return CountOf(packets, packet.sender) > mine;
    });
    if (larger == packets.end()) return std::nullopt;
    Waiting taken = std::move(*larger);
    packets.erase(larger);
    senders_.Release(taken.sender);
    return taken;
  }

  template <typename Predicate>
  std::vector<Waiting> Take(const Predicate& wanted) {
    std::vector<Waiting> taken;
    for (auto at = by_address_.begin(); at != by_address_.end();) {
      std::vector<Waiting> kept;
      for (Waiting& packet : at->second) {
        (wanted(at->first, packet) ? taken : kept).push_back(std::move(packet));
      }
      at->second = std::move(kept);
      at = at->second.empty() ? by_address_.erase(at) : std::next(at);
    }
    for (const Waiting& packet : taken) senders_.Release(packet.sender);
    return taken;
  }

  std::map<vswitch::ClaimKey, std::vector<Waiting>> by_address_;  // None is empty.
  FairShare<vswitch::Owner> senders_{kTotal, kPerSender};
};

}  // namespace kasane::slowpath
