// The Datapath on Open vSwitch: makes forwarding tables of a HostView and flows of these, and keeps br-int
// equal to them, binds ports by OVSDB's external_ids:iface-id, keeps the VXLAN ports and the neighbours of the
// VTEPs.
//
// Nothing is removed when the object goes: the switch keeps forwarding, and the next process reads back
// what it finds and repairs only the difference.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/bridge_lock.h"
#include "vswitch/ovs/inspect.h"
#include "vswitch/ovs/openflow/flow_keeper.h"
#include "vswitch/ovs/openflow/openflow_channel.h"
#include "vswitch/ovs/openflow/slow_path_thread.h"
#include "vswitch/ovs/ovsdb/ovs_config.h"
#include "vswitch/ovs/ovsdb/switch_state.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/underlay/neighbour_keeper.h"

namespace kasane::ovs {

class OvsDatapath : public vswitch::Datapath {
 public:
  // The seams to the outside world and to the compiler.
  struct Parts {
    std::unique_ptr<BridgeLock> lock;  // May be null. First: held until the others are gone.
    std::function<FlowTable(const tables::ForwardingTables&, const Bindings&)> compile;
    std::function<absl::StatusOr<std::unique_ptr<OpenFlowChannel>>()> open_channel;
    std::unique_ptr<SwitchMonitor> monitor;
    std::unique_ptr<underlay::NeighbourKeeper> keeper;
    std::unique_ptr<SlowPathThread> slow_path;  // May be null: packets for the agent are lost.
    bool watch_flows = false;                   // Notice what others change.
  };
  // Those of a real switch. An error as Create()'s.
  static absl::StatusOr<Parts> RealParts(
      const OvsConfig& config, std::function<void(const slowpath::Announcement&)> on_announcement = nullptr);

  // On the real switch. An error only if this process cannot get its sockets, or another agent works on the
  // bridge: then nothing was touched. A switch that is missing is a Problem in Facts() and heals by itself.
  // Call it after the process has set its signal handlers. `on_announcement`, like `on_event`, is called from a
  // thread of the datapath's own and must not block.
  static absl::StatusOr<std::unique_ptr<vswitch::Datapath>> Create(
      const OvsConfig& config, std::function<void()> on_event,
      std::function<void(const slowpath::Announcement&)> on_announcement = nullptr);

  // Starts the threads of `parts`.
  OvsDatapath(Parts parts, std::function<void()> on_event);
  ~OvsDatapath() override;
  OvsDatapath(const OvsDatapath&) = delete;
  OvsDatapath& operator=(const OvsDatapath&) = delete;

  std::string Name() const override;
  std::shared_ptr<const vswitch::DatapathFacts> Facts() const override;
  absl::StatusOr<vswitch::ApplyResult> Apply(const vswitch::HostView& view) override;
  void WantTunnels(std::vector<IpAddress> remotes) override;
  absl::StatusOr<std::vector<vswitch::InstalledEntry>> Dump() override;
  absl::StatusOr<std::vector<vswitch::Discrepancy>> Compare(const vswitch::HostView& view) override;

 private:
  void Publish();

  Parts parts_;
  std::function<void()> on_event_;
  FlowKeeper flows_;

  mutable std::mutex mutex_;  // Guards facts_ and legend_.
  std::shared_ptr<const vswitch::DatapathFacts> facts_;
  std::shared_ptr<const Legend> legend_;  // Of what was applied last.
};

}  // namespace kasane::ovs
