// kasanectl trace
#include <fmt/format.h>

#include <algorithm>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/controller_records.h"
#include "ctl/commands/run.h"
#include "ctl/output/agent_tables.h"
#include "ctl/trace/follow.h"
#include "ctl/trace/probe.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"
#include "kasane/v1/controller.pb.h"
#include "vswitch/packet/packet_text.h"

namespace kasane::ctl {
namespace {

struct TraceOptions {
  std::string port;
  std::string packet;
};

struct Traced {
  Probe probe;
  v1::TraceResponse reply;
};

v1::TraceRequest RequestOf(const Probe& probe) {
  v1::TraceRequest request;
  request.set_port(probe.port_id);
  request.set_frame(probe.frame.data(), probe.frame.size());
  return request;
}

absl::StatusOr<Traced> TraceByAgent(const TraceOptions& options, AgentClient& client,
                                    const v1::ListPortsResponse& ports) {
  ASSIGN_OR_RETURN(const v1::ListRoutersResponse routers, client.ListRouters());
  const auto resolve = [&client](const v1::ResolveRequest& request) { return client.Resolve(request); };
  Traced traced;
  ASSIGN_OR_RETURN(traced.probe, PlanProbe(options.port, options.packet, ports, routers, resolve));
  ASSIGN_OR_RETURN(traced.reply, client.Trace(RequestOf(traced.probe)));
  return traced;
}

absl::StatusOr<Traced> TraceByRecords(const TraceOptions& options, CloudRecords& records) {
  ASSIGN_OR_RETURN(const HostId host, records.HostOf(options.port));
  ASSIGN_OR_RETURN(const inspect::AgentSnapshot* snapshot, records.Host(host));
  const auto resolve = [snapshot](const v1::ResolveRequest& request) {
    return ResolvedReply(*snapshot, request);
  };
  Traced traced;
  ASSIGN_OR_RETURN(traced.probe, PlanProbe(options.port, options.packet, inspect::PortsReply(*snapshot),
                                           inspect::RoutersReply(*snapshot), resolve));
  ASSIGN_OR_RETURN(traced.reply, TracedReply(*snapshot, RequestOf(traced.probe)));
  traced.reply.add_notes(fmt::format(
      "host {} is judged by the controller's records: what only its agent knows is not in it", host));
  return traced;
}

// By the agent if the port is on its host, else by the records of the host that it is on.
absl::StatusOr<Traced> TraceFirstHost(const TraceOptions& options, const Globals& globals,
                                      ControllerRecords& records) {
  AgentClient client(globals);
  const auto ports = client.ListPorts();
  const absl::Status here = ports.ok() ? FindLocalPort(*ports, options.port).status() : ports.status();
  if (here.ok()) return TraceByAgent(options, client, *ports);
  if (absl::IsFailedPrecondition(here)) return here;
  const auto recorded = records.Get();
  // Not a port of this host, and nobody knows of others: the agent's answer is the better one.
  if (!recorded.ok()) {
    return Error(here.code(), "{}\nwhether it is on another host cannot be told: {}", Message(here),
                 Message(recorded.status()));
  }
  return TraceByRecords(options, **recorded);
}

absl::StatusOr<v1::TraceResponse> TraceNextHost(const std::string& host, const v1::TraceRequest& request,
                                                ControllerRecords& records) {
  ASSIGN_OR_RETURN(CloudRecords* const recorded, records.Get());
  ASSIGN_OR_RETURN(const inspect::AgentSnapshot* snapshot, recorded->Host(HostId(host)));
  return TracedReply(*snapshot, request);
}

int RunTrace(const TraceOptions& options, const Globals& globals) {
  ControllerRecords records(globals);
  auto traced = TraceFirstHost(options, globals, records);
  if (!traced.ok()) return Failed(traced.status());
  const v1::TraceResponse reply =
      FollowTunnels(std::move(traced->reply), [&](const std::string& host, const v1::TraceRequest& request) {
        return TraceNextHost(host, request, records);
      });
  std::string text = packet::PacketText(traced->probe.frame) + "\n";
  if (!traced->probe.text.empty()) text += traced->probe.text + "\n";
  Print(globals, text + TraceText(reply), reply);
  const bool delivered = std::any_of(reply.verdicts().begin(), reply.verdicts().end(), [](const auto& verdict) {
    return verdict.delivered() && !verdict.answer();
  });
  return delivered ? kOk : kFailed;
}

}  // namespace

void AddTrace(cli::Command& app, Action& action) {
  auto options = std::make_shared<TraceOptions>();
  cli::Command command =
      app.AddCommand("trace", "Follow a packet of a VM from host to host, without sending it");
  command.AddOption("PORT", options->port, "Port that it comes from: id, beginning of it (4 or more), or name")
      .Required();
  command
      .AddOption("PACKET", options->packet,
                 "As docs/packets.md says, or an address alone: an echo request to it. What is left out is "
                 "filled in as the VM would")
      .Required();
  command.Footer(
      "The agent answers for its own host; how it goes on at the end of a tunnel is told from the "
      "controller's\n"
      "records, as is a packet of a port on another host.\n"
      "Exits with 0 if it is delivered to anybody, with 1 if it is dropped, also if an ICMP error answers it.\n"
      "Examples:\n  kasanectl trace shop-front1 172.16.1.5\n"
      "  kasanectl trace shop-front1 'tcp(dst=172.16.0.7, dport=443, flags=S)'\n"
      "  kasanectl trace shop-front1 'arp(tpa=172.16.0.1)'\n"
      "Next: delivered here and not for real: kasanectl compare, kasanectl drops --watch while it is sent.");
  RunWhenParsed(command, action, options, RunTrace);
}

}  // namespace kasane::ctl
