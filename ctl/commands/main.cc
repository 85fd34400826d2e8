// kasanectl: the operator's tool for the controller and the agents.
#include <cstdio>
#include <exception>
#include <string>

#include "ctl/commands/commands.h"

namespace kasane::ctl {
namespace {

// The option's text; FormatOf its meaning.
void AddGlobals(cli::Command& app, Globals& globals, std::string& format) {
  app.AddOption("--controller", globals.controller, "HOST:PORT of kasane-controller")
      .Environment("KASANE_CONTROLLER")
      .ShowDefault();
  app.AddOption("--agent", globals.agent, "Admin socket of kasaned").Environment("KASANE_AGENT").ShowDefault();
  app.AddFlag("--insecure", globals.insecure, "Allow a controller that is not on this machine, in clear")
      .Environment("KASANE_INSECURE");
  app.AddOption("--timeout", globals.timeout_seconds, "Seconds to wait for each answer")
      .Positive()
      .ShowDefault();
  app.AddOption("-o,--output", format, "Form of what is shown").OneOf({"table", "json", "yaml"}).ShowDefault();
}

Format FormatOf(const std::string& text) {
  if (text == "json") return Format::kJson;
  return text == "yaml" ? Format::kYaml : Format::kTable;
}

int Main(int argc, char** argv) {
  Globals globals;
  Action action;
  std::string format = "table";
  cli::CommandLine app("Kasane: change and show the virtual network (controller), inspect a host (agent)",
                       "kasanectl");
  app.AddVersion(KASANE_VERSION);
  app.RequireCommand(/*global_options=*/true);
  AddGlobals(app, globals, format);
  for (const auto add :
       {AddApply, AddImport, AddGet, AddDelete, AddWatch, AddInspect, AddTables, AddDrops, AddTrace, AddAccept})
    add(app, action);
  app.Footer(
      "Controller: apply, import, get, delete, hosts, watch. Agent: status, ports, tunnels, networks, routers, "
      "flows, "
      "compare, drops, trace, accept.\n"
      "Examples:\n  kasanectl apply -f topology.json\n  kasanectl get ports\n  kasanectl status\n"
      "  kasanectl trace shop-front1 172.16.1.5\nExit codes: 0 done, 1 a fault or a failure, 2 wrong "
      "usage.");
  if (const auto ending = app.Parse(argc, argv)) {
    ending->Print();
    return ending->code == 0 ? kOk : kUsage;
  }
  try {
    globals.format = FormatOf(format);
    return action(globals);
  } catch (const std::exception& error) {
    // fmt::print throws when standard output cannot be written.
    std::fprintf(stderr, "kasanectl: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace kasane::ctl

int main(int argc, char** argv) { return kasane::ctl::Main(argc, argv); }
