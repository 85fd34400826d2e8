// Plans: from the flows that a switch should hold and those it holds to the changes between. Pure.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "vswitch/ovs/openflow/openflow_channel.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

struct InstalledFlow {
  std::string actions;
  uint64_t cookie = 0;
  vswitch::Owner owner;  // With an empty id if nobody alive wants this flow.

  bool operator==(const InstalledFlow&) const = default;
};

using InstalledFlows = std::map<FlowKey, InstalledFlow>;

// What must change, in order: deletions first, then additions and modifications by key.
std::vector<FlowChange> PlanChanges(const FlowTable& desired, const InstalledFlows& installed);

using InstalledMeters = std::map<uint32_t, MeterRate>;

// The meters that must be there before the flows that name them ...
std::vector<MeterChange> PlanMeters(const FlowTable& desired, const InstalledMeters& installed);
// ... and those that nobody wants once these flows are installed.
std::vector<MeterChange> PlanMeterDeletions(const FlowTable& desired, const InstalledMeters& installed);

// `changes` were acknowledged.
void Acknowledge(const std::vector<FlowChange>& changes, InstalledFlows& installed);

// What a dump means in terms of `desired`: a flow that the switch spells differently and means the same is
// installed under our spelling; anything else is kept under the switch's. A desired flow that
// `canonical` cannot spell is not installed.
InstalledFlows ReadBack(
    const FlowTable& desired, const std::vector<DumpedFlow>& dump,
    const std::function<absl::StatusOr<CanonicalFlow>(const FlowKey&, const std::string&)>& canonical);

}  // namespace kasane::ovs
