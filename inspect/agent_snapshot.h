// What the agent knows of itself at one moment: what the admin API shows. An immutable value that the
// reconcile thread publishes and any thread reads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <string>
#include "model/network_state.h"
#include "model/verdict.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::inspect {

struct PortActivity {
  bool active = false;
  std::string why_not;  // Empty exactly if active.

  bool operator==(const PortActivity&) const = default;
};

struct AgentSnapshot {
  bool controller_connected = false;
  bool synced = false;                      // SyncComplete was received on this stream.
  bool foreign_store = false;               // The controller's database was refused: an operator may accept it.
  std::optional<model::Revision> received;  // Newest batch or SyncComplete.
  std::optional<model::Revision> applied;   // Newest that the datapath acknowledged.
  // Never null; empty before the first SyncComplete.
  std::shared_ptr<const model::NetworkState> state;
  std::shared_ptr<const vswitch::HostView> view;
  std::shared_ptr<const vswitch::DatapathFacts> facts;
  std::map<PortId, PortActivity> ports;  // Of `view`.
  size_t flows = 0;                      // Installed entries.
  std::vector<vswitch::Problem> problems;
  std::vector<model::Verdict> rejected;
};

}  // namespace kasane::inspect
