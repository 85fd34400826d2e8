// Tables of what an agent tells of its host.
#pragma once

#include <string>

namespace kasane::v1 {
class AgentStatusReply;
class CompareFlowsReply;
class ListFlowsReply;
class ListNetworksReply;
class ListPortsReply;
class ListRoutersReply;
class ListTunnelsReply;
class TraceReply;
}  // namespace kasane::v1

namespace kasane::ctl {

std::string StatusText(const v1::AgentStatusReply& reply, bool verbose);
std::string PortsTable(const v1::ListPortsReply& reply);
std::string TunnelsTable(const v1::ListTunnelsReply& reply);
std::string NetworksTable(const v1::ListNetworksReply& reply);
// For each router its interfaces, then its routes.
std::string RoutersText(const v1::ListRoutersReply& reply);
std::string FlowsTable(const v1::ListFlowsReply& reply);
// Where the switch differs from what it should hold, or that it does not.
std::string DifferencesTable(const v1::CompareFlowsReply& reply);
// Numbered steps, then what became of the packet.
std::string TraceText(const v1::TraceReply& reply);

}  // namespace kasane::ctl
