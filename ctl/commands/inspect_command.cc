// kasanectl status, ports, tunnels, networks, routers, flows, compare: what an agent tells of its host.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/output/agent_tables.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

// Prints a reply of the agent, or why there is none.
template <typename Reply, typename ToText>
int Show(const Globals& globals, const absl::StatusOr<Reply>& reply, ToText to_text) {
  if (!reply.ok()) return Failed(reply.status());
  Print(globals, globals.format == Format::kTable ? to_text(*reply) : "", *reply);
  return kOk;
}

struct FlowOptions {
  std::string owner;
  std::string stage;
};

// `all` are the flows of all owners: without an owner's flow in it a stage is still one.
absl::Status CheckStage(const std::string& stage, const v1::ListFlowsResponse& all) {
  std::vector<std::string> names;  // In the order of the packet's way, as the flows are.
  for (const v1::Flow& flow : all.flows()) {
    if (flow.stage() == stage) return absl::OkStatus();
    if (names.empty() || names.back() != flow.stage()) names.push_back(flow.stage());
  }
  if (names.empty()) return absl::OkStatus();  // The switch holds nothing yet.
  return Error(absl::StatusCode::kNotFound, "no flow is in a stage {}; there are {}", stage, Join(names));
}

int RunFlows(const FlowOptions& options, const Globals& globals) {
  AgentClient client(globals);
  v1::ListFlowsRequest request;
  request.set_owner(options.owner);
  auto reply = client.ListFlows(request);
  if (!reply.ok() || options.stage.empty()) return Show(globals, reply, FlowsTable);
  v1::ListFlowsResponse shown;
  for (const v1::Flow& flow : reply->flows()) {
    if (flow.stage() == options.stage) *shown.add_flows() = flow;
  }
  if (shown.flows().empty()) {
    const auto all = client.ListFlows(v1::ListFlowsRequest());
    const absl::Status known = all.ok() ? CheckStage(options.stage, *all) : all.status();
    if (!known.ok()) return Failed(known);
  }
  return Show(globals, absl::StatusOr<v1::ListFlowsResponse>(std::move(shown)), FlowsTable);
}

// Exit status 1 when they differ, so that a script can ask.
int RunCompare(const Globals& globals) {
  const auto reply = AgentClient(globals).CompareFlows();
  const int shown = Show(globals, reply, DifferencesTable);
  return reply.ok() && !reply->differences().empty() ? kFailed : shown;
}

void AddCompare(cli::Command& app, Action& action) {
  cli::Command compare = app.AddCommand(
      "compare", "Compare the switch's flows with what the present state compiles to; exit 1 if they differ");
  compare.Footer(
      "What it shows, the agent repairs by itself within a second; what stays is a fault: kasanectl status "
      "says what the switch refuses.\n"
      "Example:\n  kasanectl compare || kasanectl status\n"
      "Next: kasanectl tables --owner ID shows whether what was compiled is what you mean.");
  compare.OnParsed([&action] { action = RunCompare; });
}

void AddFlows(cli::Command& app, Action& action) {
  auto options = std::make_shared<FlowOptions>();
  cli::Command flows = app.AddCommand("flows", "Show the switch's flows, with their owners and counters");
  flows.AddOption("--owner", options->owner,
                  "Id, beginning of it, or name of a port, network, router or host; or pipeline");
  flows.AddOption("--stage", options->stage, "Only this stage of the packet's way");
  flows.Footer(
      "In the order of a packet's way. A counter that does not grow says that packets do not come so far.\n"
      "Examples:\n  kasanectl flows --owner shop-front1\n  kasanectl flows --stage tunnel_l2\n"
      "  kasanectl flows --owner shop-router --stage route -o json\n"
      "Next: kasanectl tables --owner ID says why a flow is as it is, kasanectl trace PORT ADDRESS which ones "
      "a packet meets.");
  RunWhenParsed(flows, action, options, RunFlows);
}

void AddStatus(cli::Command& app, Action& action) {
  auto verbose = std::make_shared<bool>(false);
  cli::Command status = app.AddCommand("status", "Show how the host's agent is doing, and what is wrong");
  status.AddFlag("-v,--verbose", *verbose, "List each resource that is not enforced");
  status.Footer(
      "Look at Problems first: each says what to do.\n"
      "Examples:\n  kasanectl status\n  kasanectl status -v --agent /run/kasane/agent.sock\n"
      "Next: kasanectl ports says which port is not active and why, kasanectl tunnels which host cannot be "
      "reached.");
  status.OnParsed([&action, verbose] {
    action = [verbose](const Globals& globals) {
      return Show(globals, AgentClient(globals).Status(),
                  [verbose](const v1::AgentStatusResponse& reply) { return StatusText(reply, *verbose); });
    };
  });
}

// A command without options that shows one list of the agent. `more` ends its --help.
template <typename Reply>
void AddList(cli::Command& app, Action& action, const std::string& name, const std::string& help,
             const std::string& more, absl::StatusOr<Reply> (AgentClient::*list)(),
             std::string (*to_text)(const Reply&)) {
  cli::Command command = app.AddCommand(name, help);
  command.Footer(fmt::format("Examples:\n  kasanectl {0}\n  kasanectl {0} -o json\n{1}", name, more));
  command.OnParsed([&action, list, to_text] {
    action = [list, to_text](const Globals& globals) {
      AgentClient client(globals);
      return Show(globals, (client.*list)(), to_text);
    };
  });
}

}  // namespace

void AddInspect(cli::Command& app, Action& action) {
  AddStatus(app, action);
  AddList(app, action, "ports", "Show the host's ports: plugged where, active or why not",
          "Next: a port that is active and does not reach another: kasanectl trace PORT ADDRESS, kasanectl "
          "drops --port PORT; one that is in BUILD for the controller: kasanectl status.",
          &AgentClient::ListPorts, PortsTable);
  AddList(app, action, "tunnels", "Show the tunnels to other hosts",
          "A tunnel is ready once its next hop on the underlay is resolved.\n"
          "Next: one that is not: ping its REMOTE address from this host; kasanectl hosts says whether the "
          "other agent is connected.",
          &AgentClient::ListTunnels, TunnelsTable);
  AddList(app, action, "networks", "Show the networks that the host forwards on",
          "Only those of ports here, and what their routers reach.\n"
          "Next: kasanectl tables --network ID says who has which address on it.",
          &AgentClient::ListNetworks, NetworksTable);
  AddList(app, action, "routers", "Show the routers with interfaces and routes",
          "Next: kasanectl tables --owner ROUTER --family route says which next hops carry traffic.",
          &AgentClient::ListRouters, RoutersText);
  AddFlows(app, action);
  AddCompare(app, action);
}

}  // namespace kasane::ctl
