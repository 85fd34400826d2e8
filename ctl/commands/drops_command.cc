// kasanectl drops
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "ctl/clients.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/run.h"
#include "ctl/output/drops.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

struct DropsOptions {
  std::string port;
  bool watch = false;
};

// Until interrupted: each second, what was dropped in it. A second in which nothing was is silent.
int WatchDrops(AgentClient& client, const v1::ListDropsRequest& request, const Globals& globals) {
  using Clock = std::chrono::steady_clock;
  auto before = client.ListDrops(request);
  Clock::time_point read = Clock::now();
  if (!before.ok()) return Failed(before.status());
  if (globals.format == Format::kTable) fmt::print("-- what is dropped from now on, each second; ^C ends --\n");
  std::fflush(stdout);
  for (;;) {
    std::this_thread::sleep_until(read + std::chrono::seconds(1));
    auto after = client.ListDrops(request);
    if (!after.ok()) return Failed(after.status());
    const Clock::time_point now = Clock::now();
    const v1::ListDropsResponse difference = DropsSince(*before, *after);
    const double seconds = std::chrono::duration<double>(now - read).count();
    if (globals.format == Format::kTable) {
      fmt::print("{}", DropRatesText(difference, seconds));
    } else if (!difference.drops().empty()) {
      fmt::print("{}\n", ToJson(difference).dump());
    }
    std::fflush(stdout);
    before = std::move(after);
    read = now;
  }
}

int RunDrops(const DropsOptions& options, const Globals& globals) {
  AgentClient client(globals);
  v1::ListDropsRequest request;
  request.set_port(options.port);
  if (options.watch) return WatchDrops(client, request, globals);
  const auto reply = client.ListDrops(request);
  if (!reply.ok()) return Failed(reply.status());
  Print(globals, DropsText(*reply, !options.port.empty()), *reply);
  return kOk;
}

}  // namespace

void AddDrops(cli::Command& app, Action& action) {
  auto options = std::make_shared<DropsOptions>();
  cli::Command command = app.AddCommand("drops", "Show what this host dropped: why, and of whom");
  command.AddOption("--port", options->port,
                    "Only what is counted for this local port: id, beginning of it, or name");
  command.AddFlag("--watch", options->watch, "Show the rates each second, until interrupted");
  command.Footer(
      "docs/operating.md says of each reason what to do. Some are counted for any port (pipeline).\n"
      "Examples:\n  kasanectl drops\n  kasanectl drops --port shop-front1 --watch\n"
      "Next: kasanectl trace PORT ADDRESS shows where such a packet ends.");
  RunWhenParsed(command, action, options, RunDrops);
}

}  // namespace kasane::ctl
