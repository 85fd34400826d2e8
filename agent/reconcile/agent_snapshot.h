// What the agent knows of itself at one moment: what the admin API shows. An immutable value that the
// reconcile thread publishes and any thread reads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "agent/reconcile/decisions.h"
#include "agent/state/network_state.h"
#include "agent/state/store.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane {

struct AgentSnapshot {
  bool controller_connected = false;
  bool synced = false;               // SyncComplete was received on this stream.
  std::optional<Revision> received;  // Newest batch or SyncComplete.
  std::optional<Revision> applied;   // Newest that the datapath acknowledged.
  // Never null; empty before the first SyncComplete.
  std::shared_ptr<const NetworkState> state;
  std::shared_ptr<const HostView> view;
  std::shared_ptr<const DatapathFacts> facts;
  std::map<PortId, PortActivity> ports;  // Of `view`.
  size_t flows = 0;                      // Installed entries.
  std::vector<Problem> problems;
  std::vector<Verdict> rejected;
};

}  // namespace kasane
