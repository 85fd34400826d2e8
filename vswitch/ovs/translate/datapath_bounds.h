// The bounds of Open vSwitch 3.1 that replication meets, and what it spends of them. One place for all figures;
// decision 0014 says where each comes from and what was measured.
//
// A packet's flow in the datapath is one list of actions, made by one translation of the tables. Past the
// bounds of either, OVS loses copies without a word, or ends by an assertion: so the copies of a packet are
// spread over as many datapath flows as they need (replication.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasane::ovs {

// ---- Of OVS ---------------------------------------------------------------------------------------------

// Payload of a Netlink attribute. A list of actions that is longer is executed in the slow path, packet by
// packet; actions nested in another (check_pkt_larger nests all that follows it) that are longer abort
// ovs-vswitchd. A translation that has made more of them ends at its next resubmit.
inline constexpr size_t kMaxActionBytes = 65535 - 4;
// Resubmits, groups and buckets of one translation; more end it. It may be 64 levels deep.
inline constexpr size_t kMaxResubmits = 4096;
// Outputs of one datapath flow: net.core.netdev_max_backlog, by default. More, and OVS takes the slow path.
inline constexpr size_t kMaxOutputs = 1000;
// A flow-mod in OpenFlow, with its headers.
inline constexpr size_t kMaxFlowModBytes = 65535;
// Recirculations within one another: 6 in the userspace datapath; 3 in the kernel's before it defers them to a
// queue of 10. One is spent here, and one by what comes out of a tunnel in the userspace datapath.

// ---- What a copy takes ------------------------------------------------------------------------------------

// Through a tunnel. Userspace: clone(tnl_push(headers),output), 84 bytes over IPv4 and 104 over IPv6, and what
// the bridge of the underlay adds (a flood to its ports while it does not know where the next hop is, a VLAN
// tag). Kernel: set(tunnel(...)),output, at most 112. The kernel's own form, which is limited to 32 KB, is a
// third of it.
inline constexpr size_t kTunnelCopyBytes = 160;
// To a local port: an output.
inline constexpr size_t kLocalCopyBytes = 8;
// In a flow-mod: set_field of an IPv6 address and output; set_field of a register and resubmit.
inline constexpr size_t kTunnelCopyFlowModBytes = 64;
inline constexpr size_t kLocalCopyFlowModBytes = 48;

// ---- What is spent ----------------------------------------------------------------------------------------

// Copies that take no more than this go into the flow of the packet itself, without recirculation. It is not
// larger since that flow is made anew for every kind of packet (each ARP target is one), and the parts' flows
// are not.
inline constexpr size_t kInlineBytes = 16 * 1024;
inline constexpr size_t kInlineCopies = 256;

// Copies of one part: a flow in OpenFlow, and a flow in the datapath for each port that sends.
inline constexpr size_t kPartBytes = 40 * 1024;
inline constexpr size_t kPartCopies = 512;

// Parts of one replication: 16,384 VTEPs or 32,768 local ports. What is beyond gets no copy, and the owner of
// the replication is reported as not applied.
inline constexpr size_t kMaxParts = 64;

// A part and the translation that makes it stay far below every bound: half of it is left for what others put
// before and behind a copy.
static_assert(kPartBytes <= kMaxActionBytes * 2 / 3);
static_assert(kInlineBytes <= kMaxActionBytes / 3);
static_assert(kPartCopies <= kMaxOutputs * 2 / 3);
static_assert(kPartCopies * kLocalCopyFlowModBytes <= kMaxFlowModBytes / 2);
static_assert(kPartBytes / kTunnelCopyBytes * kTunnelCopyFlowModBytes <= kMaxFlowModBytes / 2);
static_assert(3 * kMaxParts + kPartCopies <= kMaxResubmits / 2);

}  // namespace kasane::ovs
