// Draws the SwitchState from what OVSDB, the OpenFlow connection and the kernel say. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vswitch/ovs/ovsdb/ovs_config.h"
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
      std::nullopt;  // Of ovs-vswitchd: threads that take packets from the kernel. Unknown, or netdev.
  uint32_t kernel_backlog = 0;  // Of the kernel's datapath; 0: not known.
  std::string error;            // Why it is not connected.

  bool operator==(const SwitchLink&) const = default;
};

using Attachments = std::map<PortId, vswitch::Attachment>;

// A port as the switch lists it.
struct SwitchPort {
  std::string name;  // Cut at 15 characters.
  uint32_t number = 0;
  bool down = false;
  bool muted = false;  // OpenFlow settings keep it from receiving or sending.

  bool operator==(const SwitchPort&) const = default;
};

// Those of our ports that were kept from forwarding by OpenFlow settings. `down` is left only with what has no
// device: a VM's own may be down for good reason.
std::vector<SwitchPort> PortsToEnable(const std::vector<SwitchPort>& ports, const OvsdbSnapshot& snapshot,
                                      const OvsConfig& config);

// Port numbers come from the switch itself, not from OVSDB: after a restart of ovs-vswitchd the database
// still holds the old ones for a while, and a number that now belongs to another port would let one
// tenant's packets in as another's. `held`: the attachments so far.
SwitchState DeriveState(const OvsdbSnapshot& snapshot, const OvsdbPlan& plan, const SwitchLink& link,
                        const std::vector<underlay::LocalAddress>& addresses, const OvsConfig& config,
                        const Attachments& held);

}  // namespace kasane::ovs
