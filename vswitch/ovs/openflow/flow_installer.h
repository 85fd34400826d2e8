// Makes a switch hold a FlowTable over one OpenFlow connection, and knows what it holds.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/openflow/openflow_channel.h"
#include "vswitch/ovs/openflow/plan.h"
#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// What the switch holds of ours, in terms of `desired` (plan.h).
absl::StatusOr<InstalledFlows> ReadInstalled(OpenFlowChannel& channel, const FlowTable& desired);

class FlowInstaller {
 public:
  explicit FlowInstaller(std::unique_ptr<OpenFlowChannel> channel) : channel_(std::move(channel)) {}

  // The first call, and one behind a disturbance, reads back what the switch holds and repairs only the
  // difference. A bundle that the switch refuses is sent again without the owner of the refused flow; that
  // owner's installed flows stay as they are; likewise an owner whose meter is refused. UNAVAILABLE: this
  // object is of no more use, and what is installed is unknown. Any other error: no flow changed.
  absl::StatusOr<vswitch::ApplyResult> Apply(const FlowTable& desired);

  // What others changed since the last call; the next Apply reads back what is there. Never waits. UNAVAILABLE
  // as above.
  absl::StatusOr<FlowDisturbance> FindDisturbance();
  // The same of meters and groups, of which the switch tells nothing, so that it is asked: a text, empty if all
  // is well. A group that no flow may name is nobody's business.
  absl::StatusOr<std::string> FindUntoldDisturbance();
  void WakeOnInput() { channel_->WakeOnInput(); }

 private:
  struct SetGroup {
    std::string text;    // As desired.
    std::string native;  // As the switch shows it.
  };

  void Forget();
  absl::StatusOr<std::string> FindGroupDisturbance();
  absl::Status SetGroups(const FlowTable& desired);
  absl::Status SetMeters(const FlowTable& desired, std::map<vswitch::Owner, std::string>& failed);
  absl::Status DeleteMeters(const FlowTable& desired);
  absl::StatusOr<vswitch::ApplyResult> Commit(std::vector<FlowChange> changes,
                                              std::map<vswitch::Owner, std::string> failed);

  std::unique_ptr<OpenFlowChannel> channel_;
  bool watching_ = false;
  std::optional<InstalledFlows> installed_;  // As acknowledged. Absent: not known.
  InstalledMeters meters_;                   // The same.
  std::map<uint32_t, SetGroup> groups_;  // Those set on this connection. They stay: no flow has to name them.
};

}  // namespace kasane::ovs
