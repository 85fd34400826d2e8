// What the translation must know of the switch: its port numbers, and what its datapath can do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/ids.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// OpenFlow port numbers on br-int, and what its datapath can do.
struct Bindings {
  std::map<PortId, uint32_t> ports;  // Only plugged ones.
  uint32_t vxlan_v4 = 0;             // The flow-based VXLAN port over IPv4. 0: none.
  uint32_t vxlan_v6 = 0;             // The same over IPv6.
  // Flows can make a neighbour advertisement of a solicitation. The kernel's datapath cannot (it lacks the ND
  // extensions): there the agent answers.
  bool nd_in_tables = true;
  // What one port may have replicated. Nothing: no limit, or the switch has no meters.
  std::optional<MeterRate> replication_limit = std::nullopt;

  bool operator==(const Bindings&) const = default;
};

// As BuildForwardingTables takes them.
inline std::set<PortId> PluggedPorts(const Bindings& bindings) {
  std::set<PortId> plugged;
  for (const auto& [id, number] : bindings.ports) plugged.insert(id);
  return plugged;
}

}  // namespace kasane::ovs
