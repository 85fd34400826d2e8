// Tables of what an agent tells of its host.
#pragma once

#include <string>

namespace kasane::v1 {
class AgentStatusResponse;
class CompareFlowsResponse;
class ListFlowsResponse;
class ListNetworksResponse;
class ListPortsResponse;
class ListRoutersResponse;
class ListTablesResponse;
class ListTunnelsResponse;
class TraceResponse;
}  // namespace kasane::v1

namespace kasane::ctl {

std::string StatusText(const v1::AgentStatusResponse& reply, bool verbose);
std::string PortsTable(const v1::ListPortsResponse& reply);
std::string TunnelsTable(const v1::ListTunnelsResponse& reply);
std::string NetworksTable(const v1::ListNetworksResponse& reply);
// For each router its interfaces, then its routes.
std::string RoutersText(const v1::ListRoutersResponse& reply);
std::string FlowsTable(const v1::ListFlowsResponse& reply);
// The forwarding tables: a line a claimant, the one in force first.
std::string ForwardingTablesTable(const v1::ListTablesResponse& reply);
// Where the switch differs from what it should hold, or that it does not.
std::string DifferencesTable(const v1::CompareFlowsResponse& reply);
// Numbered steps, then what became of the packet.
std::string TraceText(const v1::TraceResponse& reply);

}  // namespace kasane::ctl
