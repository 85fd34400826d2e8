// The OpenFlow pipeline of br-int: tables, registers and cookies. The only place where their numbers
// stand; everything else names them.
//
//   kInput ──VM port──▶ kHygiene ─▶ kArp ─▶ kNd ─▶ kL2 ─▶ kDeliver
//      │                                       └▶ kNdReply ─▶ back
//      │                            kL2 ──router's MAC──▶ kRouter ─▶ kRoute ─▶ kNeighbour ─▶ kL2
//      └──tunnel──▶ kTunnel ─▶ kTunnelL2 ─▶ kDeliver
//
// metadata holds the VNI of the network that the packet is in now; routing changes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vswitch/base/drop_reason.h"
#include "vswitch/datapath.h"

namespace kasane::ovs {

// Stages in the order of the packet's way. The table number is the enumerator's.
enum class Table : uint8_t {
  kInput = 0,       // Switch port to network; tunnels by their outer source.
  kHygiene = 1,     // What no VM may send.
  kArp = 2,         // ARP answers.
  kNd = 3,          // Neighbour solicitations for known targets become advertisements ...
  kNdReply = 4,     // ... that are completed and sent back.
  kL2 = 5,          // (network, MAC) to port, tunnel, router or replication.
  kTunnel = 6,      // VNI to network, for what came through a tunnel.
  kTunnelL2 = 7,    // (network, MAC) for the same: local ports only.
  kFloodLocal = 8,  // Replication to the local ports of a network.
  kRouter = 9,      // Router entry: hop count, TTL, the router's own addresses.
  kRoute = 10,      // Longest prefix.
  kNeighbour = 11,  // (network, next hop) to MAC.
  kDeliver = 12,    // To a local port.
};

inline constexpr int kTableCount = 13;

constexpr std::string_view Label(Table table) {
  constexpr std::array<std::string_view, kTableCount> kLabels = {
      "input",     "hygiene",     "arp",    "nd",    "nd_reply",  "l2",     "tunnel",
      "tunnel_l2", "flood_local", "router", "route", "neighbour", "deliver"};
  static_assert(kLabels[static_cast<size_t>(Table::kDeliver)] == "deliver");
  return kLabels[static_cast<size_t>(table)];
}

// Registers. Every name is used by match and action text alike.
namespace reg {
inline constexpr std::string_view kOutPort = "reg0";     // Local switch port to deliver to.
inline constexpr std::string_view kRouter = "reg1";      // Key of the router the packet is in.
inline constexpr std::string_view kHops = "reg2";        // Routers entered so far on this host.
inline constexpr std::string_view kNextHop4 = "reg3";    // IPv4 next hop.
inline constexpr std::string_view kNextHop6 = "xxreg2";  // IPv6 next hop (reg8 to reg11).
}  // namespace reg

// Cookie: owner kind (8 bits), drop reason or 0 (8 bits), hash of the owner's id (48 bits). A pure
// function: an agent that restarts makes the same cookies again, and no table of numbers has to be recovered.
uint64_t CookieOf(const Owner& owner, std::optional<DropReason> drop);
OwnerKind CookieOwnerKind(uint64_t cookie);
std::optional<DropReason> CookieDropReason(uint64_t cookie);

// 32-bit key of a router in reg::kRouter: a hash of its id, never 0.
uint32_t RouterKey(const std::string& router_id);

}  // namespace kasane::ovs
