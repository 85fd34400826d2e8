// Draws the SwitchState from what OVSDB, the OpenFlow connection and the kernel say. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vswitch/ovs/ovs_config.h"
#include "vswitch/ovs/ovsdb/ovsdb_plan.h"
#include "vswitch/ovs/ovsdb/ovsdb_snapshot.h"
#include "vswitch/ovs/ovsdb/switch_state.h"
#include "vswitch/underlay/netlink.h"

namespace kasane::ovs {

// The connection to the bridge's management socket.
struct SwitchLink {
  bool connected = false;
  uint64_t session = 0;
  std::map<std::string, uint32_t> ports;  // By name, cut at 15 characters.
  bool meters = false;                    // It has some.
  std::optional<int> handlers =
      std::nullopt;   // Of ovs-vswitchd: threads that take packets from the kernel. Unknown, or netdev.
  std::string error;  // Why it is not connected.

  bool operator==(const SwitchLink&) const = default;
};

// Port numbers come from the switch itself, not from OVSDB: after a restart of ovs-vswitchd the database
// still holds the old ones for a while, and a number that now belongs to another port would let one
// tenant's packets in as another's.
SwitchState DeriveState(const OvsdbSnapshot& snapshot, const OvsdbPlan& plan, const SwitchLink& link,
                        const std::vector<underlay::LocalAddress>& addresses, const OvsConfig& config);

}  // namespace kasane::ovs
