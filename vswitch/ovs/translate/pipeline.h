// The OpenFlow pipeline of br-int: tables, registers and cookies. The only place where their numbers
// stand; everything else names them.
//
//   kInput ──VM port──▶ kIngressSanity ─▶ kMtu ─▶ kMtuVerdict ─▶ kPortSecurity ─▶ kNdSecurity ─▶ kArp ─▶ kNd ─▶
//   kL2
//      │                                              kNd ─▶ kNdReply ─▶ back        kL2 ─▶ kDeliver
//      │                 kL2 ──router's MAC──▶ kRouter ─▶ kRoute [─▶ kPath] ─▶ kNeighbour ─▶ kL2
//      └──tunnel──▶ kTunnel ─▶ kTunnelL2 ─▶ kDeliver
//
// What the tables cannot answer goes to the agent (slow_path_action.h), whose answers come back by packet-out.
// metadata holds the VNI of the network that the packet is in now; routing changes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "vswitch/datapath.h"
#include "vswitch/drop_reason.h"

namespace kasane::ovs {

// Stages in the order of the packet's way. The table number is the enumerator's.
enum class Table : uint8_t {
  kInput = 0,           // Switch port to network; tunnels by their outer source.
  kIngressSanity = 1,   // What no VM may send.
  kMtu = 2,             // Is the frame larger than its network's MTU?
  kMtuVerdict = 3,      // If so, it ends here.
  kPortSecurity = 4,    // Source MAC and address are the port's own.
  kNdSecurity = 5,      // The same inside of neighbour messages.
  kArp = 6,             // ARP answers.
  kNd = 7,              // Neighbour solicitations for known targets become advertisements ...
  kNdReply = 8,         // ... that are completed and sent back.
  kL2 = 9,              // (network, MAC) to port, tunnel, router or replication.
  kTunnel = 10,         // VNI to network, for what came through a tunnel.
  kTunnelL2 = 11,       // (network, MAC) for the same: local ports only.
  kFloodLocal = 12,     // Replication to the local ports of a network.
  kRouter = 13,         // Router entry: hop count, TTL, the router's own addresses.
  kRoute = 14,          // Longest prefix.
  kPath = 15,           // One of several next hops.
  kNeighbour = 16,      // (network, next hop) to MAC.
  kDeliver = 17,        // To a local port.
  kFlood = 18,          // Replication of group addresses to the VTEPs of a network, in chunks.
  kUnknown = 19,        // Unicast to a MAC that is nobody's: where it was learned, or to every unsecured port.
  kTunnelUnknown = 20,  // The same for what came through a tunnel: local ports only.
  kLearned = 21,        // (network, MAC) to a place, filled by the switch itself: not part of any plan.
  kNdSize = 22,        // Between kNd and kNdReply: can the solicitation be rewritten, or does the agent answer?
  kUnknownFlood = 23,  // Behind kUnknown: the copies for every unsecured port.
};

inline constexpr int kTableCount = 24;

constexpr std::string_view Label(Table table) {
  constexpr std::array<std::string_view, kTableCount> kLabels = {"input",
                                                                 "ingress_sanity",
                                                                 "mtu",
                                                                 "mtu_verdict",
                                                                 "port_security",
                                                                 "nd_security",
                                                                 "arp",
                                                                 "nd",
                                                                 "nd_reply",
                                                                 "l2",
                                                                 "tunnel",
                                                                 "tunnel_l2",
                                                                 "flood_local",
                                                                 "router",
                                                                 "route",
                                                                 "path",
                                                                 "neighbour",
                                                                 "deliver",
                                                                 "flood",
                                                                 "unknown",
                                                                 "tunnel_unknown",
                                                                 "learned",
                                                                 "nd_size",
                                                                 "unknown_flood"};
  static_assert(kLabels[static_cast<size_t>(Table::kDeliver)] == "deliver");
  static_assert(kLabels[static_cast<size_t>(Table::kUnknownFlood)] == "unknown_flood");
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
inline constexpr std::string_view kPath = "reg7";  // Route of several next hops (high 16), next hop (low 16).
inline constexpr std::string_view kNextHop6 = "xxreg2";     // IPv6 next hop (reg8 to reg11).
inline constexpr std::string_view kLearnedPlace = "reg12";  // A switch port, or a host's key (top bit set).
inline constexpr std::string_view kLearnedPlaceField = "NXM_NX_REG12[]";
inline constexpr std::string_view kLearnedPortField = "NXM_NX_REG12[0..15]";
inline constexpr std::string_view kChunk = "reg13";  // How far a replication has come.
}  // namespace reg

// Cookie: owner kind (8 bits), drop reason or 0 (8 bits), hash of the owner's id (48 bits). A pure
// function: an agent that restarts makes the same cookies again, and no table of numbers has to be recovered.
uint64_t CookieOf(const vswitch::Owner& owner, std::optional<vswitch::DropReason> drop);
vswitch::OwnerKind CookieOwnerKind(uint64_t cookie);
std::optional<vswitch::DropReason> CookieDropReason(uint64_t cookie);

// 32-bit key of a router in reg::kRouter: a hash of its id, never 0.
uint32_t RouterKey(const std::string& router_id);

// The hosts' numbers in reg::kLearnedPlace: hashes of their ids with the top bit set, unique within `hosts`.
std::map<HostId, uint32_t> AssignHostKeys(const std::map<HostId, vswitch::RemoteHost>& hosts);

}  // namespace kasane::ovs
