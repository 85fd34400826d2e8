// The slow path: what a datapath's tables cannot answer. A frame comes here with where it entered and why; what
// comes back are frames to inject and, of an announcement, who speaks for which address now. Shared by sim and
// by every datapath, so that they agree; what it must know of the network it asks NetworkFacts. Pure; any
// thread. The frame is hostile input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/vni.h"
#include "vswitch/drop_reason.h"
#include "vswitch/host_view.h"
#include "vswitch/slowpath/network_facts.h"

namespace kasane::slowpath {

enum class SlowPathCause : uint8_t {
  kNeighbour = 1,     // ARP or ND asks for an address that this host answers for.
  kAnnouncement = 2,  // A GARP, an ARP reply or a neighbour advertisement, which was forwarded as well.
  kTtlExceeded = 3,   // At `router`.
  kTooBig = 4,        // For the network behind `router`, whose MTU is `mtu`; without `router`, for its own.
  kNoRoute = 5,       // At `router`.
  kNoNeighbour = 6,   // `router` has a route; nobody has the next hop's address.
  kResolve =
      7,      // `router` has a route; nobody has announced `next_hop` in `egress`, but some port may have it.
  kEcho = 8,  // A fragment for `router` itself, of what may be an echo request; or `reassembled`.
  kReassemblyTime = 9,  // The first fragment of one that never became whole. By no flow: by Reassembly.
};

// What became of fragments for a router itself (reassembly.h).
struct Reassembled {
  uint32_t id = 0;       // Their identification, for those of the answer.
  uint32_t largest = 0;  // Bytes of the largest one's IP packet: so much passes on their way.

  bool operator==(const Reassembled&) const = default;
};

struct SlowPathPacket {
  SlowPathCause cause = SlowPathCause::kNeighbour;
  std::optional<PortId> port;             // The local port that the frame entered this host by, or ...
  std::optional<IpAddress> outer_source;  // ... the tunnel that it came through.
  NetworkId network;  // In which the frame is; for a router's causes, that it entered it from.
  std::optional<RouterId> router;
  uint32_t mtu = 0;            // Bytes of IP packet. kTooBig only.
  std::vector<uint8_t> frame;  // As it was when the datapath gave up: routers passed have decremented its TTL.
  NetworkId egress = {};       // kResolve only: the network that the router would send it into, ...
  std::optional<IpAddress> next_hop = std::nullopt;       // ... and to whom there.
  std::optional<Reassembled> reassembled = std::nullopt;  // kEcho only: `frame` is the whole packet.
};

// A frame for one of three places.
struct Injection {
  std::optional<PortId> port;      // Out of this local port;
  std::optional<RouterId> router;  // out of this router, by its routes, MACs still to be filled in;
  std::optional<HostId> host;      // or through the tunnel to this host, in ...
  std::optional<Vni> vni;          // ... this network.
  std::vector<uint8_t> frame;

  bool operator==(const Injection&) const = default;
};

// An address that a port speaks for since now.
struct Announcement {
  NetworkId network;
  IpAddress ip;
  MacAddress mac;
  PortId port;
  bool router = false;  // It advertises itself as a router.

  auto operator<=>(const Announcement&) const = default;
  bool operator==(const Announcement&) const = default;
};

struct SlowPathOutcome {
  std::vector<Injection> injections;
  std::optional<Announcement> announcement;
  // The packet waits until somebody announces this address, to be sent out of `router` then, or, if nobody does
  // within a second, to be handled as kNoNeighbour: the caller keeps it, bounded (RFC 4861, 7.2.2). kResolve
  // only.
  std::optional<vswitch::ClaimKey> waits_for;
  // The packet is a part of one: the caller keeps it in its Reassembly, and has what becomes whole handled.
  // kEcho only.
  bool is_part = false;
  std::optional<vswitch::DropReason> drop;  // Of `packet`, where the datapath's own tables do not count it.
  std::string text;                         // What was done or why nothing, for people.
};

SlowPathOutcome HandleSlowPath(const NetworkFacts& facts, const SlowPathPacket& packet);

}  // namespace kasane::slowpath
