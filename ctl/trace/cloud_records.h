// The cloud as the controller has it recorded: stands in for the agents of hosts that kasanectl cannot ask.
//
// For each host the same view is built as its agent builds, and the same replies are given. What only an agent
// knows is missing: a port counts as plugged if the controller has it ACTIVE, and no address is learned.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <string>

#include "inspect/agent_snapshot.h"
#include "model/network_state.h"

namespace kasane::v1 {
class ListResponse;
}  // namespace kasane::v1

namespace kasane::ctl {

class CloudRecords {
 public:
  // Of all resources that the controller lists. Resources that this version cannot decode are left out.
  explicit CloudRecords(const v1::ListResponse& resources);

  // The host of the VM port that `text` names: its id, name, or the beginning of the id (4 characters or more).
  // NOT_FOUND, or FAILED_PRECONDITION if it is several or is on no host.
  absl::StatusOr<HostId> HostOf(const std::string& port) const;

  // What the agent of `host` would know. NOT_FOUND if there is no such host. Lives as long as this.
  absl::StatusOr<const inspect::AgentSnapshot*> Host(const HostId& host);

 private:
  model::NetworkState state_;
  std::map<PortId, bool> active_;
  std::map<HostId, inspect::AgentSnapshot> hosts_;
};

}  // namespace kasane::ctl
