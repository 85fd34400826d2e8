// sim: the reference implementation of the virtual network. A frame enters at a port of a host, or from
// a tunnel, and comes out as deliveries or a DropReason, with the steps between. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/drop_reason.h"
#include "vswitch/host_view.h"
#include "vswitch/slowpath/reassembly.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::sim {

using Frame = std::vector<uint8_t>;  // From the Ethernet header on, without FCS.

struct Step {
  std::string stage;  // As the OVS pipeline names it: "l2", "route", ...
  vswitch::Owner owner;
  std::string text;
};

// One copy of the frame leaving.
struct Delivery {
  // To a local port, or ...
  std::optional<PortId> port;
  // ... through a tunnel to a host's VTEP, in a network.
  std::optional<HostId> host;
  std::optional<IpAddress> vtep;
  std::optional<Vni> vni;
  Frame frame;

  bool operator==(const Delivery&) const = default;
};

// Behind which port with port security off a MAC was seen that nobody configured: exactly one of `port` and
// `host` is set.
struct LearnedPlace {
  std::optional<PortId> port;  // On this host.
  std::optional<HostId> host;
  // The ports with port security off that the host had in the network then: when one moves, what was learned
  // behind the host may have moved with it.
  std::vector<PortId> behind = {};

  bool operator==(const LearnedPlace&) const = default;
};

// What a host has learned. Looked up for MACs only that mean nothing by configuration or claim; an entry whose
// place has gone, has port security now, or is no longer the same ports, says nothing.
using LearnedMacs = std::map<std::pair<NetworkId, MacAddress>, LearnedPlace>;

// Addresses that a router asked for and that nobody announced: what waited for them is unreachable.
using Unanswered = std::set<vswitch::ClaimKey>;

struct Result {
  // Of the frame, and of what the slow path says in answer to it: a packet whose TTL ran out has both a drop
  // and the delivery of an ICMP error.
  std::vector<Delivery> deliveries;
  // Why the frame went no further. Absent without deliveries too: a replication that reaches nobody, a frame to
  // the port that it came from (a bridge does nothing with these), a question that is not answered.
  std::optional<vswitch::DropReason> drop;
  std::vector<vswitch::DropReason> answer_drops;  // Of the slow path's own packets, which a router sends like
                                                  // any other, and of what it kept.
  std::vector<Step> steps;
  // What the frame itself teaches, for the frames after it.
  std::optional<LearnedMacs::value_type> learned;
  std::vector<slowpath::Announcement> announcements;  // Who speaks for an address from now on.
  // A router has asked for this address: the frame is to be sent again, from where it entered, when somebody
  // announces it, or with it in Unanswered when nobody does.
  std::optional<vswitch::ClaimKey> waits_for;
  size_t waiting = 0;  // Packets that do: this one, or what the slow path says in answer to it.
  // The frame is a fragment for a router itself: a part of what frames after it may make whole, for whoever
  // keeps the host's Reassembly.
  std::optional<slowpath::SlowPathPacket> fragment;
};

// `frame` is sent by the VM at local port `port` of `view`, behind those of which `fragments` are kept. Where a
// router has several next hops (ECMP), the first one is taken.
Result FromPort(const vswitch::HostView& view, const PortId& port, const Frame& frame,
                const LearnedMacs& learned = {}, const Unanswered& unanswered = {},
                const slowpath::Reassembly& fragments = slowpath::Reassembly());

// The same for every choice of next hops, the first one first; at most kMaxAlternatives. A datapath does one of
// them, always the same one for a flow while the routes do not change.
std::vector<Result> EveryFromPort(const vswitch::HostView& view, const PortId& port, const Frame& frame,
                                  const LearnedMacs& learned = {}, const Unanswered& unanswered = {},
                                  const slowpath::Reassembly& fragments = slowpath::Reassembly());

inline constexpr size_t kMaxAlternatives = 256;

// `frame` is the inner frame of a VXLAN packet that arrived from `outer_source` with `vni`.
Result FromTunnel(const vswitch::HostView& view, const IpAddress& outer_source, uint32_t vni,
                  const Frame& frame, const LearnedMacs& learned = {});

}  // namespace kasane::sim
