// kasanectl trace
#include <fmt/format.h>

#include <algorithm>

#include "agent/ctl/agent_tables.h"
#include "agent/ctl/clients.h"
#include "agent/ctl/globals.h"
#include "agent/ctl/packet_builder.h"
#include "agent/ctl/probe.h"
#include "agent/ctl/run.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/base/status.h"

namespace kasane::ctl {
namespace {

absl::StatusOr<Probe> Plan(const ProbeOptions& options, AgentClient& client) {
  ASSIGN_OR_RETURN(const v1::ListPortsReply ports, client.ListPorts());
  ASSIGN_OR_RETURN(const v1::ListRoutersReply routers, client.ListRouters());
  return PlanProbe(options, ports, routers,
                   [&client](const v1::ResolveRequest& request) { return client.Resolve(request); });
}

int RunTrace(const ProbeOptions& options, const Globals& globals) {
  AgentClient client(globals);
  const absl::StatusOr<Probe> probe = Plan(options, client);
  if (!probe.ok()) return Failed(probe.status());
  v1::TraceRequest request;
  request.set_port(probe->port_id);
  request.set_frame(probe->frame.data(), probe->frame.size());
  const auto reply = client.Trace(request);
  if (!reply.ok()) return Failed(reply.status());
  std::string text = DescribeFrame(probe->frame) + "\n";
  if (!probe->text.empty()) text += probe->text + "\n";
  Print(globals, text + TraceText(*reply), *reply);
  const bool delivered = std::any_of(reply->verdicts().begin(), reply->verdicts().end(),
                                     [](const auto& verdict) { return verdict.delivered(); });
  return delivered ? kOk : kFailed;
}

}  // namespace

void AddTrace(cli::Command& app, Action& action) {
  auto options = std::make_shared<ProbeOptions>();
  cli::Command command =
      app.AddCommand("trace", "Follow a packet of a VM through this host, without sending it");
  command
      .AddOption("PORT", options->port,
                 "Local port that it comes from: id, beginning of it (4 or more), or name")
      .Required();
  command.AddOption("--dst-ip", options->destination_ip,
                    "Where it goes (for arp and nd: the address asked for)");
  command.AddOption("--dst-mac", options->destination_mac,
                    "Default: the peer's, or the router's, as the VM would choose");
  command.AddOption("--src-ip", options->source_ip, "Default: the port's first address of the family");
  command.AddOption("--src-mac", options->source_mac, "Default: the port's");
  command.AddOption("--proto", options->protocol, "icmp (an echo request), tcp, udp, arp or nd")
      .OneOf({"icmp", "tcp", "udp", "arp", "nd"})
      .ShowDefault();
  command.AddOption("--sport", options->source_port, "Source port of tcp and udp").ShowDefault();
  command.AddOption("--dport", options->destination_port, "Destination port of tcp and udp").ShowDefault();
  command.AddOption("--ttl", options->ttl, "TTL or hop limit").Range(0, 255).ShowDefault();
  command.AddOption("--size", options->size, "Payload in bytes").Range(0, kMaxPayload).ShowDefault();
  command.AddOption("--frame", options->frame,
                    "A whole Ethernet frame in hexadecimal, instead of all of the above");
  command.Footer(
      "Exits with 0 if it is delivered (to a port here or through a tunnel), with 1 if it is dropped.\n"
      "Examples:\n  kasanectl trace shop-front1 --dst-ip 172.16.1.5\n"
      "  kasanectl trace shop-front1 --dst-ip 172.16.0.7 --proto tcp --dport 443");
  command.OnParsed([&action, options] {
    action = [options](const Globals& globals) { return RunTrace(*options, globals); };
  });
}

}  // namespace kasane::ctl
