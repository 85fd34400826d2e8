// The OpenFlow pipeline of br-int: tables, registers and cookies. The only place where their numbers
// stand; everything else names them.
//
//   kInput ──VM port──▶ kIngressSanity ─▶ kMtu ─▶ kMtuVerdict ─▶ kPortSecurity ─▶ kNdSecurity ─▶ kArp ─▶ kNd ─▶
//   kAnnounce ─▶ kL2
//      │                          kNd ─▶ kNdSize ─▶ kNdReply ─▶ back        kL2 ─▶ kDeliver
//      │             kL2 ──router's MAC──▶ kRouter ─▶ kRoute [─▶ kPath] ─▶ kNeighbour ─▶ kL2
//      │             kL2 ──group──▶ kFlood ─▶ kFloodLocal        kL2 ──nobody's──▶ kUnknown ─▶ kUnknownFlood
//      └──tunnel──▶ kTunnel ─▶ kTunnelAnnounce ─▶ kTunnelL2 ─▶ kDeliver, kFloodLocal, kTunnelUnknown
//
// What the tables cannot answer goes to the agent (slow_path_action.h), whose answers come back by packet-out.
// metadata holds the VNI of the network that the packet is in now; routing changes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vswitch/datapath.h"
#include "vswitch/drop_reason.h"

namespace kasane::ovs {

// Stages in the order of the packet's way. The table number is the enumerator's.
enum class Table : uint8_t {
  kInput = 0,            // Switch port to network; tunnels by their outer source.
  kIngressSanity = 1,    // What no VM may send.
  kMtu = 2,              // Is the frame larger than its network's MTU?
  kMtuVerdict = 3,       // If so, it ends here.
  kPortSecurity = 4,     // Source MAC and address are the port's own.
  kNdSecurity = 5,       // The same inside of neighbour messages.
  kArp = 6,              // ARP answers.
  kNd = 7,               // Neighbour solicitations for known targets become advertisements ...
  kNdSize = 8,           // ... if they can be rewritten; else the agent answers ...
  kNdReply = 9,          // ... that are completed and sent back.
  kAnnounce = 10,        // What may announce an address is shown to the agent.
  kL2 = 11,              // (network, MAC) to port, tunnel, router or replication.
  kRouter = 12,          // Router entry: hop count, TTL, the router's own addresses.
  kRoute = 13,           // Longest prefix.
  kPath = 14,            // One of several next hops.
  kNeighbour = 15,       // (network, next hop) to MAC.
  kTunnel = 16,          // VNI to network, for what came through a tunnel.
  kTunnelAnnounce = 17,  // As kAnnounce, for the same.
  kTunnelL2 = 18,        // (network, MAC) for the same: local ports only.
  kLearned = 19,         // (network, MAC) to a place, filled by the switch itself: not part of any plan.
  kUnknown = 20,         // Unicast to a MAC that is nobody's: where it was learned, or to every unsecured port.
  kTunnelUnknown = 21,   // The same for what came through a tunnel: local ports only.
  kUnknownFlood = 22,    // Behind kUnknown: the copies for every unsecured port.
  kFlood = 23,           // Replication of group addresses to the VTEPs of a network and its local ports.
  kFloodLocal = 24,      // Replication to the local ports of a network.
  kPart = 25,            // Of a large replication (replication.h): one part, before its recirculation ...
  kCopies = 26,          // ... and behind it.
  kDeliver = 27,         // To a local port.
};

inline constexpr int kTableCount = 28;

constexpr std::string_view Label(Table table) {
  constexpr std::array<std::string_view, kTableCount> kLabels = {"input",         "ingress_sanity",
                                                                 "mtu",           "mtu_verdict",
                                                                 "port_security", "nd_security",
                                                                 "arp",           "nd",
                                                                 "nd_size",       "nd_reply",
                                                                 "announce",      "l2",
                                                                 "router",        "route",
                                                                 "path",          "neighbour",
                                                                 "tunnel",        "tunnel_announce",
                                                                 "tunnel_l2",     "learned",
                                                                 "unknown",       "tunnel_unknown",
                                                                 "unknown_flood", "flood",
                                                                 "flood_local",   "part",
                                                                 "copies",        "deliver"};
  static_assert(kLabels[static_cast<size_t>(Table::kL2)] == "l2");
  static_assert(kLabels[static_cast<size_t>(Table::kDeliver)] == "deliver");
  return kLabels[static_cast<size_t>(table)];
}

// Registers. Every name is used by match and action text alike.
namespace reg {
inline constexpr std::string_view kOutPort = "reg0";   // Local switch port to deliver to.
inline constexpr std::string_view kRouter = "reg1";    // Key of the router the packet is in.
inline constexpr std::string_view kHops = "reg2";      // Routers entered so far on this host.
inline constexpr std::string_view kNextHop4 = "reg3";  // IPv4 next hop.
inline constexpr std::string_view kEntry = "reg4";     // VNI from which the packet entered its router.
inline constexpr std::string_view kInPort = "reg5";  // VM's port that it came from; in_port is lost on routing.
inline constexpr std::string_view kTooBig =
    "reg6";  // Bit 0: larger than the MTU last tested. Bit 1: than kNdRewritable.
inline constexpr std::string_view kPath = "reg7";           // Of a route of several next hops, which one.
inline constexpr std::string_view kNextHop6 = "xxreg2";     // IPv6 next hop (reg8 to reg11).
inline constexpr std::string_view kLearnedPlace = "reg12";  // Where a MAC was learned (learned_places.h).
inline constexpr std::string_view kLearnedPlaceField = "NXM_NX_REG12[]";
inline constexpr std::string_view kPart = "reg13";         // Of a replication, which part this is.
inline constexpr std::string_view kReplication = "reg14";  // Which of the replications of its network.
}  // namespace reg

// Cookie: owner kind (8 bits), drop reason or 0 (8 bits), hash of the owner's id (48 bits). A pure
// function: an agent that restarts makes the same cookies again, and no table of numbers has to be recovered.
uint64_t CookieOf(const vswitch::Owner& owner, std::optional<vswitch::DropReason> drop);
vswitch::OwnerKind CookieOwnerKind(uint64_t cookie);
std::optional<vswitch::DropReason> CookieDropReason(uint64_t cookie);

// Stable between versions and machines, as the cookies' hash.
uint32_t NumberHash(const std::string& id);

}  // namespace kasane::ovs
