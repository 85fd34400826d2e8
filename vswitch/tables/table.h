// One family of forwarding entries: a map from a key to all who claim it, the one that counts first. Who loses
// is kept, so that an operator sees why an entry is what it is, and so that the loser takes over without a
// rebuild of anything else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"

namespace kasane::tables {

// What gives a claimant its right to a key; the lower one wins. Of equal ranks the newer claim wins, see
// Precedes.
enum class Rank : uint8_t {
  kClaim = 1,       // An address that a port has announced.
  kLocal = 2,       // Configured for a port here.
  kRemote = 3,      // Configured for a port elsewhere.
  kRouter = 4,      // An interface of a router.
  kClaimedMac = 5,  // A MAC that is nobody's own, and that a port announced an address with.
  kAllowed = 6,     // May be used by an allowed address pair, and is not announced.
  kNetwork = 7,     // Follows from a network, a port or a route alone: no second claimant exists.
  // From here on nobody answers and nothing is forwarded, and no port without port security may claim it.
  kReserved = 8,  // Configured for a port that is down or not plugged, or a port's link-local address.
  kInfrastructure =
      9,  // Configured for a port that is plugged nowhere, as a DHCP server's: nobody may claim it.
};

constexpr std::string_view Label(Rank rank) {
  switch (rank) {
    case Rank::kClaim:
      return "claim";
    case Rank::kLocal:
      return "local";
    case Rank::kRemote:
      return "remote";
    case Rank::kRouter:
      return "router";
    case Rank::kClaimedMac:
      return "claimed_mac";
    case Rank::kAllowed:
      return "allowed";
    case Rank::kNetwork:
      return "network";
    case Rank::kReserved:
      return "reserved";
    case Rank::kInfrastructure:
      return "infrastructure";
  }
  return "";
}

constexpr bool Forwards(Rank rank) { return rank < Rank::kReserved; }

template <typename Value>
struct Claimant {
  Rank rank = Rank::kNetwork;
  uint64_t sequence = 0;  // Of a claim: the larger one is the newer. Else 0.
  vswitch::Owner owner;
  Value value;

  bool operator==(const Claimant&) const = default;
};

// Whether `a` has the better right to a key. Of two claims the one with the larger (sequence, port) is the
// newer, as in the network state; of others with equal ranks the lower owner wins. So all hosts decide alike.
template <typename Value>
bool Precedes(const Claimant<Value>& a, const Claimant<Value>& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.sequence != b.sequence) return a.sequence > b.sequence;
  const bool claims = a.rank == Rank::kClaim || a.rank == Rank::kClaimedMac;
  return claims ? b.owner < a.owner : a.owner < b.owner;
}

template <typename KeyType, typename ValueType>
class Table {
 public:
  using Key = KeyType;
  using Value = ValueType;
  using Entries = std::map<Key, std::vector<Claimant<Value>>>;

  void Add(const Key& key, Claimant<Value> claimant) {
    std::vector<Claimant<Value>>& all = entries_[key];
    const auto at = std::upper_bound(all.begin(), all.end(), claimant, Precedes<Value>);
    all.insert(at, std::move(claimant));
  }

  // `change(key, claimants)` of every entry; it may change values, nothing else.
  template <typename Change>
  void ForEach(const Change& change) {
    for (auto& [key, claimants] : entries_) change(key, claimants);
  }

  // The claimant that counts, or nullptr: nobody has a right to the key, or nobody who forwards.
  const Claimant<Value>* Winner(const Key& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !Forwards(found->second.front().rank)) return nullptr;
    return &found->second.front();
  }

  // All claimants, the winner first; empty if there are none.
  const std::vector<Claimant<Value>>& Claimants(const Key& key) const {
    static const std::vector<Claimant<Value>> kNone;
    const auto found = entries_.find(key);
    return found == entries_.end() ? kNone : found->second;
  }

  // No list is empty.
  const Entries& entries() const { return entries_; }

  bool operator==(const Table&) const = default;

 private:
  Entries entries_;
};

}  // namespace kasane::tables
