// Copies of a packet, however many: as flows of which none asks more of the datapath than it can do
// (datapath_bounds.h).
//
// Few copies are the actions of one flow. Many are cut into parts. The packet recirculates once for each of
// them, so that each part is a datapath flow of its own:
//
//   table of the replication ─▶ group kFanOut: for each bucket i, reg::kPart = i ─▶ kPart ─▶ group kRecirculate
//     ─▶ recirculation ─▶ kCopies: the copies of part i
//
// Both groups are the same for all replications: reg::kReplication says which one it is. OVS recirculates for a
// select group that hashes in the datapath; its one bucket makes the hash itself mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// Numbers in reg::kReplication. One packet's match may lead to several replications, each with its own number.
enum class ReplicationKind : uint8_t {
  kFlood = 1,       // Group addresses from a local port.
  kFloodLocal = 2,  // The same, to local ports only.
  kUnknown = 3,     // Unknown unicast from a local port.
  kUnknownLocal = 4,
  kAllowed = 5,       // To a MAC that several ports may have, from a local port.
  kAllowedLocal = 6,  // The same, from a tunnel.
};

// Where a replication is: a flow of `table` with `match`, which holds still behind a recirculation: metadata,
// registers, the packet's own fields.
struct ReplicationPoint {
  ReplicationKind kind = ReplicationKind::kFlood;
  Table table = Table::kFlood;
  uint16_t priority = 0;
  std::string match;
  vswitch::Owner owner;
};

struct Copy {
  std::string actions;  // Without a comma at the end.
  size_t bytes = 0;     // In the datapath.
  size_t outputs = 1;
};

// Copies that have something in common.
struct CopyList {
  std::string before;  // Actions ahead of the first of them in each flow, such as a tunnel id; with a comma.
  std::vector<Copy> copies;
};

// Adds the flows that make all copies of `lists`, in this order. Returns what another replication does to make
// the same copies: a part of it. With nothing to copy: no flow, nothing.
CopyList AddReplication(const ReplicationPoint& point, const std::vector<CopyList>& lists, FlowTable& out);

// All copies of `lists`, in as few lists of actions as packets sent by the agent may have (packet-outs), of
// which none asks more of the datapath or of OpenFlow than it can do.
std::vector<std::string> CutForPacketOuts(const std::vector<CopyList>& lists);

}  // namespace kasane::ovs
