// What the differential test generates and compares beyond its basis: each kind can be left out, so that a
// fault of one kind that is known does not hide those of the others.
#pragma once

#include <absl/status/statusor.h>

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

namespace kasane::random {

enum class Kind : uint8_t {
  // Of clouds.
  kSubnets,       // Several subnets of a family on a network.
  kAddresses,     // Several fixed IPs of a family on a port.
  kNoAddresses,   // Ports without any.
  kOwners,        // Neutron's own ports: DHCP, DVR, HA, SNAT, trunk's subports.
  kPairs,         // Allowed pairs with prefixes of many lengths, and with other MACs.
  kIpv6Underlay,  // Peers that have an IPv6 tunnel address only.
  // Of frames.
  kAh,             // Authentication headers, IPv4 and IPv6.
  kHeaders,        // Chains of extension headers.
  kFragments,      // Atomic, overlapping, without their upper header.
  kNdOptions,      // Neighbour discovery with several options.
  kMulticast,      // MLD and IGMP.
  kSolicitRouter,  // Router solicitations, from :: too.
  kDhcp,           // DHCP and DHCPv6, from 0.0.0.0 too.
  kNeverRouted,    // Addresses that no router takes or gives.
  kUnannounced,    // From and to addresses that a port may have and has not announced.
  kAimed,          // For what the view holds: see aimed_frames.h.
  // Of what is compared.
  kChanges,        // The view changes, and the rest is sent through what an incremental change made.
  kSticky,         // A flow keeps its next hop.
  kAnnouncements,  // Which claims are reported, to whom.
  kCount,
};

using Kinds = std::bitset<static_cast<size_t>(Kind::kCount)>;

std::string_view Label(Kind kind);  // "nd_options"

inline bool Has(const Kinds& kinds, Kind kind) { return kinds.test(static_cast<size_t>(kind)); }

// Those on which switch and reference are known to agree.
Kinds DefaultKinds();

// A list by comma; "all", "none" and "default" are lists too, and "-NAME" takes one out of what stands before
// it.
absl::StatusOr<Kinds> ParseKinds(std::string_view text);

std::string ToString(const Kinds& kinds);  // What ParseKinds reads.

}  // namespace kasane::random
