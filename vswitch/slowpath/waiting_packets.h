// Packets that wait for an answer to a router's question (ARP, ND): a few for each address asked for, for a
// second. A datapath keeps them here in the form that it injects packets from. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::slowpath {

template <typename Payload>
class WaitingPackets {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr size_t kPerAddress = 3;  // RFC 4861, 7.2.2 asks for one at least.
  // Of one port or peer: its questions for many addresses take nothing from the others.
  static constexpr size_t kPerSender = 64;

  struct Waiting {
    vswitch::Owner sender;
    Payload payload;
    Time until;
  };

  // False if it does not fit: the packet is lost.
  bool Add(const vswitch::ClaimKey& address, Waiting packet) {
    std::vector<Waiting>& there = by_address_[address];
    size_t& of_sender = by_sender_[packet.sender];
    if (there.size() >= kPerAddress || of_sender >= kPerSender) {
      DropEmpty(address, packet.sender);
      return false;
    }
    ++of_sender;
    there.push_back(std::move(packet));
    return true;
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
    for (const Waiting& packet : taken) {
      if (--by_sender_[packet.sender] == 0) by_sender_.erase(packet.sender);
    }
    return taken;
  }

  void DropEmpty(const vswitch::ClaimKey& address, const vswitch::Owner& sender) {
    if (by_address_[address].empty()) by_address_.erase(address);
    if (by_sender_[sender] == 0) by_sender_.erase(sender);
  }

  std::map<vswitch::ClaimKey, std::vector<Waiting>> by_address_;  // None is empty.
  std::map<vswitch::Owner, size_t> by_sender_;                    // None is 0.
};

}  // namespace kasane::slowpath
