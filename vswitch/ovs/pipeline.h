// The OpenFlow pipeline of br-int: tables, registers and cookies. The only place where their numbers
// stand; everything else names them.
//
//   kInput ──VM port──▶ kHygiene ─▶ kPortSecurity ─▶ kNdSecurity ─▶ kArp ─▶ kNd ─▶ kL2 ─▶ kDeliver
//      │                                       └▶ kNdReply ─▶ back
//      │                            kL2 ──router's MAC──▶ kRouter ─▶ kRoute ─▶ kNeighbour ─▶ kL2
//      └──tunnel──▶ kTunnel ─▶ kTunnelL2 ─▶ kDeliver
//
// metadata holds the VNI of the network that the packet is in now; routing changes it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "vswitch/base/drop_reason.h"
#include "vswitch/datapath.h"

namespace kasane::ovs {

// Stages in the order of the packet's way. The table number is the enumerator's.
enum class Table : uint8_t {
  kInput = 0,         // Switch port to network; tunnels by their outer source.
  kHygiene = 1,       // What no VM may send.
  kPortSecurity = 2,  // Source MAC and address are the port's own.
  kNdSecurity = 3,    // The same inside of neighbour messages.
  kArp = 4,           // ARP answers.
  kNd = 5,            // Neighbour solicitations for known targets become advertisements ...
  kNdReply = 6,       // ... that are completed and sent back.
  kL2 = 7,            // (network, MAC) to port, tunnel, router or replication.
  kTunnel = 8,        // VNI to network, for what came through a tunnel.
  kTunnelL2 = 9,      // (network, MAC) for the same: local ports only.
  kFloodLocal = 10,   // Replication to the local ports of a network.
  kRouter = 11,       // Router entry: hop count, TTL, the router's own addresses.
  kRoute = 12,        // Longest prefix.
  kNeighbour = 13,    // (network, next hop) to MAC.
  kDeliver = 14,      // To a local port.
  // 15 to 19 are free.
  kFlood = 20,          // Replication of group addresses to the VTEPs of a network, in chunks.
  kUnknown = 21,        // Unicast to a MAC that is nobody's: where it was learned, or to every unsecured port.
  kTunnelUnknown = 22,  // The same for what came through a tunnel: local ports only.
  kLearned = 23,        // (network, MAC) to a place, filled by the switch itself: not part of any plan.
};

inline constexpr int kTableCount = 24;

constexpr std::string_view Label(Table table) {
  constexpr std::array<std::string_view, kTableCount> kLabels = {"input",
                                                                 "hygiene",
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
                                                                 "neighbour",
                                                                 "deliver",
                                                                 "",
                                                                 "",
                                                                 "",
                                                                 "",
                                                                 "",
                                                                 "flood",
                                                                 "unknown",
                                                                 "tunnel_unknown",
                                                                 "learned"};
  static_assert(kLabels[static_cast<size_t>(Table::kDeliver)] == "deliver");
  static_assert(kLabels[static_cast<size_t>(Table::kLearned)] == "learned");
  return kLabels[static_cast<size_t>(table)];
}

// Registers. Every name is used by match and action text alike.
namespace reg {
inline constexpr std::string_view kOutPort = "reg0";        // Local switch port to deliver to.
inline constexpr std::string_view kRouter = "reg1";         // Key of the router the packet is in.
inline constexpr std::string_view kHops = "reg2";           // Routers entered so far on this host.
inline constexpr std::string_view kNextHop4 = "reg3";       // IPv4 next hop.
inline constexpr std::string_view kNextHop6 = "xxreg2";     // IPv6 next hop (reg8 to reg11).
inline constexpr std::string_view kLearnedPlace = "reg12";  // A switch port, or a host's key (top bit set).
inline constexpr std::string_view kLearnedPlaceField = "NXM_NX_REG12[]";
inline constexpr std::string_view kLearnedPortField = "NXM_NX_REG12[0..15]";
inline constexpr std::string_view kChunk = "reg13";  // How far a replication has come.
}  // namespace reg

// Cookie: owner kind (8 bits), drop reason or 0 (8 bits), hash of the owner's id (48 bits). A pure
// function: an agent that restarts makes the same cookies again, and no table of numbers has to be recovered.
uint64_t CookieOf(const Owner& owner, std::optional<DropReason> drop);
OwnerKind CookieOwnerKind(uint64_t cookie);
std::optional<DropReason> CookieDropReason(uint64_t cookie);

// 32-bit key of a router in reg::kRouter: a hash of its id, never 0.
uint32_t RouterKey(const std::string& router_id);

// The hosts' numbers in reg::kLearnedPlace: hashes of their ids with the top bit set, unique within `hosts`.
std::map<HostId, uint32_t> AssignHostKeys(const std::map<HostId, RemoteHost>& hosts);

}  // namespace kasane::ovs
