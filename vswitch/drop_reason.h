// Why a packet was dropped. One list for sim, OVS cookies, metrics and the CLI; the numbers are part of
// the cookies in a running switch, so they are never reused.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kasane::vswitch {

//   X(enumerator, number, label, explanation for the operator)
#define KASANE_DROP_REASONS(X)                                                                                 \
  X(kUnknownPort, 1, "unknown_port", "came from a switch port that belongs to no port of this host")           \
  X(kUnknownVtep, 2, "unknown_vtep", "the outer source is no known host's tunnel address")                     \
  X(kUnknownVni, 3, "unknown_vni", "the VNI belongs to no network of this host")                               \
  X(kNotLocal, 4, "not_local", "came through a tunnel for an address that is not on this host")                \
  X(kVlanTagged, 5, "vlan_tagged", "a VM sent a VLAN-tagged frame")                                            \
  X(kReservedMulticast, 6, "reserved_multicast", "a VM sent to 01:80:c2:00:00:0x")                             \
  X(kMulticastSource, 7, "multicast_source", "the source MAC is a group address")                              \
  X(kUnknownMac, 8, "unknown_mac", "no port of the network has the destination MAC")                           \
  X(kNoRoute, 9, "no_route", "the router has no route to the destination")                                     \
  X(kNoNeighbour, 10, "no_neighbour", "the router knows no port with the next hop's address")                  \
  X(kTtlExceeded, 11, "ttl_exceeded", "the TTL or hop limit ran out at a router")                              \
  X(kRouterLoop, 12, "router_loop", "passed more than 8 routers on one host")                                  \
  X(kRouterMulticast, 13, "router_multicast", "multicast is not routed")                                       \
  X(kRouterNotIp, 14, "router_not_ip", "sent to a router's MAC, but neither IPv4 nor IPv6")                    \
  X(kRouterLocal, 15, "router_local", "addressed to the router itself, which offers no such service")          \
  X(kAdminDown, 16, "admin_down", "the port, network or router is administratively down")                      \
  X(kMalformed, 17, "malformed", "a header is truncated or contradicts itself")                                \
  X(kNoTunnel, 18, "no_tunnel", "the destination's host has no tunnel address of a family that this host has") \
  X(kSpoofedMac, 19, "spoofed_mac",                                                                            \
    "port security: the source MAC is neither the port's nor an allowed address pair's")                       \
  X(kSpoofedIp, 20, "spoofed_ip", "port security: the source address is not the port's for this source MAC")   \
  X(kSpoofedArp, 21, "spoofed_arp",                                                                            \
    "port security: the ARP sender is not the port's address, or not the frame's MAC")                         \
  X(kSpoofedNd, 22, "spoofed_nd",                                                                              \
    "port security: the neighbour message speaks for an address or MAC not the port's")                        \
  X(kNotIp, 23, "not_ip", "port security: neither IPv4, IPv6 nor ARP")                                         \
  X(kDhcpServer, 24, "dhcp_server", "port security: a VM may not answer as a DHCP server")                     \
  X(kRouterAdvertisement, 25, "router_advertisement",                                                          \
    "port security: a VM may not advertise itself as a router")                                                \
  X(kMtu, 26, "mtu", "larger than the MTU of the network that it is in, or that a router sends it to")         \
  X(kSlowPathRate, 27, "slow_path_rate", "one port asked the agent for more answers than it may in a second")  \
  X(kReplicationRate, 28, "replication_rate",                                                                  \
    "one port sent more frames to be replicated (broadcast, multicast, unknown unicast) than it may in a "     \
    "second")                                                                                                  \
  X(kReassembly, 29, "reassembly",                                                                             \
    "a fragment for the router itself whose datagram never was whole: a part is missing or overlaps another, " \
    "or its port has too many under way")

enum class DropReason : uint8_t {
#define X(name, number, label, text) name = number,
  KASANE_DROP_REASONS(X)
#undef X
};

inline constexpr std::array kAllDropReasons = {
#define X(name, number, label, text) DropReason::name,
    KASANE_DROP_REASONS(X)
#undef X
};

constexpr std::string_view Label(DropReason reason) {
  switch (reason) {
#define X(name, number, label, text) \
  case DropReason::name:             \
    return label;
    KASANE_DROP_REASONS(X)
#undef X
  }
  return "";
}

constexpr std::string_view Explanation(DropReason reason) {
  switch (reason) {
#define X(name, number, label, text) \
  case DropReason::name:             \
    return text;
    KASANE_DROP_REASONS(X)
#undef X
  }
  return "";
}

static_assert(
    [] {
      for (size_t i = 1; i < kAllDropReasons.size(); ++i) {
        if (kAllDropReasons[i - 1] >= kAllDropReasons[i]) return false;
      }
      return true;
    }(),
    "drop reasons are numbered upwards; append, never insert or renumber");

}  // namespace kasane::vswitch
