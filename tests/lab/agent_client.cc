#include "tests/lab/agent_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "base/status.h"
#include "kasane/v1/agent.grpc.pb.h"

namespace kasane::lab {
namespace {

constexpr std::chrono::seconds kCallDeadline{10};

}  // namespace

struct AgentClient::Stub {
  std::string host;
  std::unique_ptr<v1::AgentService::Stub> agent;

  template <typename Request, typename Reply>
  absl::StatusOr<Reply> Ask(grpc::Status (v1::AgentService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                           Reply*),
                            const Request& request) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
    context.set_wait_for_ready(true);
    Reply reply;
    const grpc::Status status = (*agent.*method)(&context, request, &reply);
    if (status.ok()) return reply;
    return Error(static_cast<absl::StatusCode>(status.error_code()), "the agent of {}: {}", host,
                 status.error_message());
  }
};

AgentClient::AgentClient(const Layout& layout, const std::string& host) : stub_(std::make_unique<Stub>()) {
  grpc::ChannelArguments arguments;
  // The agent may be starting, or start again: the channel must not sit out gRPC's long back-off then.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  stub_->host = host;
  stub_->agent = v1::AgentService::NewStub(grpc::CreateCustomChannel(
      "unix:" + layout.AgentSocket(host), grpc::InsecureChannelCredentials(), arguments));
}

AgentClient::~AgentClient() = default;

absl::StatusOr<AgentProgress> AgentClient::Progress() {
  using Service = v1::AgentService::Stub;
  ASSIGN_OR_RETURN(const v1::AgentStatusResponse status,
                   stub_->Ask(&Service::AgentStatus, v1::AgentStatusRequest()));
  ASSIGN_OR_RETURN(const v1::ListPortsResponse ports, stub_->Ask(&Service::ListPorts, v1::ListPortsRequest()));
  ASSIGN_OR_RETURN(const v1::ListTunnelsResponse tunnels,
                   stub_->Ask(&Service::ListTunnels, v1::ListTunnelsRequest()));
  AgentProgress progress{status.synced(), status.datapath_ready(), status.applied().counter(), {}, {}};
  for (const v1::LocalPort& port : ports.ports()) {
    if (port.active()) progress.active_ports.insert(PortId(port.id()));
  }
  for (const v1::Tunnel& tunnel : tunnels.tunnels()) {
    const auto remote = IpAddress::Parse(tunnel.remote_address());
    if (!tunnel.ready() && remote.ok()) progress.tunnels_not_ready.insert(*remote);
  }
  return progress;
}

absl::StatusOr<std::vector<std::string>> AgentClient::FlowDifferences() {
  ASSIGN_OR_RETURN(const v1::CompareFlowsResponse reply,
                   stub_->Ask(&v1::AgentService::Stub::CompareFlows, v1::CompareFlowsRequest()));
  std::vector<std::string> lines;
  for (const v1::FlowDifference& difference : reply.differences()) {
    const v1::Flow& flow = difference.flow();
    lines.push_back(fmt::format("{}: {} {} {} {}", stub_->host, difference.kind(), flow.stage(), flow.key(),
                                flow.action()));
  }
  return lines;
}

absl::StatusOr<std::map<std::string, uint64_t>> AgentClient::Drops() {
  ASSIGN_OR_RETURN(const v1::ListFlowsResponse reply,
                   stub_->Ask(&v1::AgentService::Stub::ListFlows, v1::ListFlowsRequest()));
  std::map<std::string, uint64_t> drops;
  for (const v1::Flow& flow : reply.flows()) {
    if (!flow.drop_reason().empty()) drops[flow.drop_reason()] += flow.packets();
  }
  return drops;
}

absl::StatusOr<MacAddress> AgentClient::Resolve(const PortId& port, const IpAddress& ip) {
  v1::ResolveRequest request;
  request.set_port(port.str());
  request.set_ip_address(ip.ToString());
  ASSIGN_OR_RETURN(const v1::ResolveResponse reply, stub_->Ask(&v1::AgentService::Stub::Resolve, request));
  return MacAddress::Parse(reply.mac_address());
}

absl::StatusOr<std::vector<AgentVerdict>> AgentClient::Trace(const PortId& port,
                                                             const std::vector<uint8_t>& frame) {
  v1::TraceRequest request;
  request.set_port(port.str());
  request.set_frame(frame.data(), frame.size());
  ASSIGN_OR_RETURN(const v1::TraceResponse reply, stub_->Ask(&v1::AgentService::Stub::Trace, request));
  std::vector<AgentVerdict> verdicts;
  for (const v1::TraceVerdict& verdict : reply.verdicts()) {
    verdicts.push_back({PortId(verdict.port_id()),
                        HostId(verdict.remote_host()),
                        verdict.vni(),
                        verdict.drop_reason(),
                        {verdict.frame().begin(), verdict.frame().end()}});
  }
  return verdicts;
}

}  // namespace kasane::lab
