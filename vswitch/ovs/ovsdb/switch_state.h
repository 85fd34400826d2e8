// What the switch says of itself, drawn from OVSDB and from its OpenFlow port list.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/openflow/disturbances.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/underlay/neighbour_keeper.h"

namespace kasane::ovs {

struct SwitchState {
  bool ready = false;         // As DatapathFacts has it.
  uint64_t session = 0;       // The same.
  std::string datapath_type;  // "netdev" or "system"; empty while unknown.
  std::map<PortId, vswitch::Attachment> attachments;
  uint32_t vxlan_v4 = 0;  // OpenFlow numbers of our VXLAN ports. 0: none.
  uint32_t vxlan_v6 = 0;
  std::optional<MeterRate> replication_limit;            // As configured; nothing if the switch has no meters.
  std::map<IpFamily, underlay::UnderlayState> underlay;  // Of the families that this host has a VTEP in; with
                                                         // netdev the link is the bridge that owns it.
  uint32_t kernel_backlog = 0;  // Packets that the kernel queues for its own interfaces; 0: no matter.
  Disturbances disturbances;    // Of the bridge's settings and ports, already repaired.
  std::vector<vswitch::Problem> problems;

  bool operator==(const SwitchState&) const = default;
};

// Keeps the bridge and its VXLAN ports, and watches the switch.
class SwitchMonitor {
 public:
  virtual ~SwitchMonitor() = default;

  // Called once. `on_change` is called from the monitor's thread after State() changed.
  virtual void Start(std::function<void()> on_change) = 0;
  // No callback is running or comes after it returns.
  virtual void Stop() = 0;
  virtual std::shared_ptr<const SwitchState> State() const = 0;  // Any thread; never null.
  // A connection to the switch broke: look again, under a new session number.
  virtual void Reconnect() = 0;
};

}  // namespace kasane::ovs
