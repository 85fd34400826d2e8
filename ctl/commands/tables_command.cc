// kasanectl tables
#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/controller_records.h"
#include "ctl/commands/run.h"
#include "ctl/output/agent_tables.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

struct TablesOptions {
  std::string network;
  std::string owner;
  std::string family;
  std::string host;  // Empty: the agent's.
};

absl::StatusOr<v1::ListTablesResponse> Ask(const TablesOptions& options, const Globals& globals) {
  v1::ListTablesRequest request;
  request.set_network(options.network);
  request.set_owner(options.owner);
  request.set_family(options.family);
  if (options.host.empty()) return AgentClient(globals).ListTables(request);
  ControllerRecords records(globals);
  ASSIGN_OR_RETURN(CloudRecords* const recorded, records.Get());
  ASSIGN_OR_RETURN(const inspect::AgentSnapshot* snapshot, recorded->Host(HostId(options.host)));
  return inspect::TablesReply(*snapshot, request);
}

int RunTables(const TablesOptions& options, const Globals& globals) {
  const auto reply = Ask(options, globals);
  if (!reply.ok()) return Failed(reply.status());
  Print(globals, globals.format == Format::kTable ? ForwardingTablesTable(*reply) : "", *reply);
  return kOk;
}

}  // namespace

void AddTables(cli::Command& app, Action& action) {
  auto options = std::make_shared<TablesOptions>();
  cli::Command command = app.AddCommand(
      "tables", "Show what the state means before it becomes flows: who owns which key, and why");
  command.AddOption("--network", options->network,
                    "Only what is of this network or leads into it: id, beginning of it, or name");
  command.AddOption(
      "--owner", options->owner,
      "Only entries that this port, network, router or host claims: id, beginning of it, or name");
  command.AddOption("--family", options->family, "Only this family: mac, answer, route, ...");
  command.AddOption("--host", options->host,
                    "Of this host, by the controller's records, in place of the agent's own");
  command.Footer(
      "All who claim a key are shown in the order that decides; the first is in force, unless the key is only "
      "kept for it.\n"
      "With --host, ports count as plugged if the controller has them ACTIVE.\n"
      "Examples:\n  kasanectl tables --network front --family answer\n"
      "  kasanectl tables --owner shop-front1\n"
      "  kasanectl tables --host hv2 --family mac -o json\n"
      "Next: kasanectl flows --owner ID shows what the switch holds of it, kasanectl compare whether that is "
      "right.");
  RunWhenParsed(command, action, options, RunTables);
}

}  // namespace kasane::ctl
