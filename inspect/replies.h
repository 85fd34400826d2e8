// The replies of the admin API, made from a snapshot. Pure; any thread.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <vector>

#include "inspect/agent_snapshot.h"
#include "vswitch/datapath.h"

namespace kasane::v1 {
class AgentStatusResponse;
class ListDropsResponse;
class ListDropsRequest;
class CompareFlowsResponse;
class ListFlowsResponse;
class ListNetworksResponse;
class ListPortsResponse;
class ListRoutersResponse;
class ListTablesResponse;
class ListTablesRequest;
class ListTunnelsResponse;
class ResolveResponse;
class ResolveRequest;
class TraceResponse;
class TraceRequest;
}  // namespace kasane::v1

namespace kasane::inspect {

// What does not change while the agent runs.
struct AgentIdentity {
  std::string host_id;
  std::string version;
  std::string controller_address;
  std::vector<std::string> tunnel_addresses;
};

v1::AgentStatusResponse StatusReply(const AgentIdentity& identity, const std::string& datapath_name,
                                    std::chrono::seconds uptime, const AgentSnapshot& snapshot);
v1::ListPortsResponse PortsReply(const AgentSnapshot& snapshot);
v1::ListTunnelsResponse TunnelsReply(const AgentSnapshot& snapshot);
v1::ListNetworksResponse NetworksReply(const AgentSnapshot& snapshot);
v1::ListRoutersResponse RoutersReply(const AgentSnapshot& snapshot);

// `entries` of the owner that `owner_text` names; all of them if it is empty. An owner that the switch still
// has and the view has no longer is found too.
absl::StatusOr<v1::ListFlowsResponse> FlowsReply(const AgentSnapshot& snapshot,
                                                 const std::vector<vswitch::InstalledEntry>& entries,
                                                 const std::string& owner_text);
// The forwarding tables of the snapshot's view and plugged ports.
absl::StatusOr<v1::ListTablesResponse> TablesReply(const AgentSnapshot& snapshot,
                                                   const v1::ListTablesRequest& request);
absl::StatusOr<v1::ListDropsResponse> DropsReply(const AgentSnapshot& snapshot,
                                                 const std::vector<vswitch::InstalledEntry>& entries,
                                                 const v1::ListDropsRequest& request);
v1::CompareFlowsResponse CompareReply(const std::vector<vswitch::Discrepancy>& discrepancies);
absl::StatusOr<v1::TraceResponse> TracedReply(const AgentSnapshot& snapshot, const v1::TraceRequest& request);
absl::StatusOr<v1::ResolveResponse> ResolvedReply(const AgentSnapshot& snapshot,
                                                  const v1::ResolveRequest& request);

}  // namespace kasane::inspect
