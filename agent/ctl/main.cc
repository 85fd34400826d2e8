// kasanectl: the operator's tool for the controller and the agents.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include "agent/ctl/globals.h"

namespace kasane::ctl {
namespace {

// The option's text; FormatOf its meaning.
void AddGlobals(CLI::App& app, Globals& globals, std::string& format) {
  app.add_option("--controller", globals.controller, "HOST:PORT of kasane-controller")
      ->envname("KASANE_CONTROLLER")
      ->capture_default_str();
  app.add_option("--agent", globals.agent, "Admin socket of kasaned")
      ->envname("KASANE_AGENT")
      ->capture_default_str();
  app.add_flag("--insecure", globals.insecure, "Allow a controller that is not on this machine, in clear")
      ->envname("KASANE_INSECURE");
  app.add_option("--timeout", globals.timeout_seconds, "Seconds to wait for each answer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("-o,--output", format, "Form of what is shown")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
}

Format FormatOf(const std::string& text) {
  if (text == "json") return Format::kJson;
  return text == "yaml" ? Format::kYaml : Format::kTable;
}

int Main(int argc, char** argv) {
  Globals globals;
  Action action;
  std::string format = "table";
  CLI::App app("Kasane: change and show the virtual network (controller), inspect a host (agent)", "kasanectl");
  app.set_version_flag("--version", KASANE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  AddGlobals(app, globals, format);
  for (const auto add : {AddApply, AddGet, AddDelete, AddWatch, AddInspect, AddTrace}) add(app, action);
  app.footer(
      "Controller: apply, get, delete, hosts, watch. Agent: status, ports, tunnels, networks, routers, flows, "
      "compare, trace.\n"
      "Examples:\n  kasanectl apply -f topology.json\n  kasanectl get ports\n  kasanectl status\n"
      "  kasanectl trace shop-front1 --dst-ip 172.16.1.5\nExit codes: 0 done, 1 a fault or a failure, 2 wrong "
      "usage.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
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
