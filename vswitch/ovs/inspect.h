// What a dump of the switch means: flows, meters and the slow path's counts as entries with their owners. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/openflow/openflow_channel.h"
#include "vswitch/ovs/openflow/plan.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// What makes sense of a dump.
struct Legend {
  std::unordered_map<uint64_t, vswitch::Owner> owners;  // By cookie.
  std::map<uint32_t, Meter> meters;
};

Legend LegendOf(const FlowTable& desired);

// In the order of table, priority, match.
std::vector<vswitch::InstalledEntry> FlowEntries(std::vector<DumpedFlow> flows, const Legend& legend);

// What meters dropped, if anything, as entries of a stage of its own.
void AppendMeterDrops(const std::map<uint32_t, uint64_t>& drops, const Legend& legend,
                      std::vector<vswitch::InstalledEntry>& entries);

// What the slow path dropped, as entries of a stage of its own.
void AppendSlowPathDrops(const std::map<std::pair<vswitch::Owner, vswitch::DropReason>, uint64_t>& drops,
                         std::vector<vswitch::InstalledEntry>& entries);

// A change that would make `installed` what is desired tells what is wrong with it.
vswitch::Discrepancy ToDiscrepancy(const FlowChange& change, const InstalledFlows& installed);
vswitch::Discrepancy ToDiscrepancy(const MeterChange& change);
vswitch::Discrepancy GroupDiscrepancy(uint32_t id, bool missing);  // Missing, or different.

}  // namespace kasane::ovs
