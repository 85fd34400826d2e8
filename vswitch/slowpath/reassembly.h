// Fragments for a router itself, kept until they are a whole packet (RFC 791, 3.2; RFC 8200, 4.5). Bounded: by
// port, in all, in fragments of a datagram and in time; what a port has under way beyond its share costs it its
// own oldest, and nobody else's. Strict in both families: of a datagram in which fragments overlap, or do not
// agree where it ends, nothing is taken, what is still to come included (RFC 5722; RFC 3128 for IPv4).
// Not thread-safe. A value, so that sim can try what comes of one more fragment.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/fair_share.h"
#include "vswitch/datapath.h"
#include "vswitch/packet/fragment.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::slowpath {

// From the first fragment that came; RFC 8200, 4.5 and RFC 1122, 3.3.2 agree on it.
inline constexpr std::chrono::seconds kReassemblyTimeout{60};

class Reassembly {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A datagram has 64 KiB at most, so this is a bound of the memory as well: 256 KiB a port.
  static constexpr size_t kPerSender = 4;
  static constexpr size_t kTotal = 64;      // And one of each further sender.
  static constexpr size_t kFragments = 64;  // Of a datagram: the largest one has 54 where the MTU is 1,280.

  // What was given up of one datagram.
  struct Lost {
    vswitch::Owner sender;
    size_t fragments = 0;
    // The first fragment, whose sender is to be told; only of a datagram whose time is over.
    std::optional<SlowPathPacket> first;
  };

  struct Outcome {
    std::optional<SlowPathPacket> whole;  // To be handled as kEcho.
    std::vector<Lost> lost;               // `packet` itself may be among it.
  };

  explicit Reassembly(std::chrono::milliseconds timeout = kReassemblyTimeout) : timeout_(timeout) {}

  // Takes a fragment that HandleSlowPath wants kept. Times do not go backwards.
  Outcome Add(const SlowPathPacket& packet, Time now);

  std::vector<Lost> TakeExpired(Time now);
  // When the next datagram expires; nothing while there is none.
  std::optional<Time> NextExpiry() const;

  // Forgets what came from senders that are `gone`.
  template <typename Predicate>
  void Forget(const Predicate& gone) {
    for (auto at = datagrams_.begin(); at != datagrams_.end();) {
      at = gone(at->first.sender) ? Erase(at) : std::next(at);
    }
  }

 private:
  // What makes fragments parts of one datagram. By where it entered the router and who sent it, too: nobody
  // else's fragment gets among a port's.
  struct Key {
    vswitch::Owner sender;
    NetworkId network;
    RouterId router;
    IpAddress src;
    IpAddress dst;
    uint8_t protocol = 0;  // Of IPv4. An IPv6 datagram's is what its first fragment says.
    uint32_t id = 0;

    auto operator<=>(const Key&) const = default;
    bool operator==(const Key&) const = default;
  };

  struct Datagram {
    Time until;
    uint64_t number = 0;                            // In the order in which they began.
    bool refused = false;                           // What comes of it is lost.
    std::map<size_t, std::vector<uint8_t>> pieces;  // By their offsets.
    size_t bytes = 0;                               // In them.
    std::optional<size_t> end;                      // Known from the last one.
    uint32_t largest = 0;                           // Packet, in bytes.
    std::optional<SlowPathPacket> first;
    std::vector<uint8_t> head;  // Of the first.
  };
  using Datagrams = std::map<Key, Datagram>;

  static Key KeyOf(const SlowPathPacket& packet, const packet::Packet& frame, uint32_t id);
  static bool Fits(const Datagram& datagram, const packet::Fragment& fragment);
  static bool IsKnown(const Datagram& datagram, const packet::Fragment& fragment);
  static void Keep(Datagram& datagram, const SlowPathPacket& packet, size_t bytes, packet::Fragment fragment);
  static std::optional<SlowPathPacket> Join(const Datagram& datagram, uint32_t id);
  Datagrams::iterator Begin(const Key& key, Time now, std::vector<Lost>& lost);
  Datagrams::iterator Erase(Datagrams::iterator at);

  std::chrono::milliseconds timeout_;
  Datagrams datagrams_;
  uint64_t next_number_ = 0;
  FairShare<vswitch::Owner> senders_{kTotal, kPerSender};
};

}  // namespace kasane::slowpath
