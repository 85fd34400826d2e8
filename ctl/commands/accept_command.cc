// kasanectl accept
#include <fmt/format.h>

#include "base/status.h"
#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

struct AcceptOptions {};

int RunAccept(const AcceptOptions& /*options*/, const Globals& globals) {
  const auto reply = AgentClient(globals).AcceptStore();
  if (!reply.ok()) return Failed(reply.status());
  Print(globals,
        globals.format == Format::kTable ? "accepted: the agent takes this database's state when it next "
                                           "connects; kasanectl status shows it in "
                                           "sync then\n"
                                         : "",
        *reply);
  return kOk;
}

}  // namespace

void AddAccept(cli::Command& app, Action& action) {
  auto options = std::make_shared<AcceptOptions>();
  cli::Command command =
      app.AddCommand("accept", "Let this host take the state of a controller's database that it has refused");
  command.Footer(
      "An agent refuses a database that does not know where the state of the host came from: another one, or "
      "one "
      "restored from a backup. It goes on forwarding what it holds. After accept it takes the state of that "
      "database; "
      "what the database does not have is removed from the host.\n"
      "Example:\n  kasanectl accept\n"
      "Next: kasanectl status shows whether the host is in sync, kasanectl ports what it has now.");
  RunWhenParsed(command, action, options, RunAccept);
}

}  // namespace kasane::ctl
