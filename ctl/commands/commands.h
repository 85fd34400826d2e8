// The commands of kasanectl: how one is added to the command line, and run.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/arguments.h"
#include "ctl/globals.h"

namespace kasane::ctl {

// Exit codes.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  // A fault in the input, or the other side failed or refused.
inline constexpr int kUsage = 2;   // The command line is wrong.

// What to do once the command line is read: set by the command that was given.
using Action = std::function<int(const Globals&)>;

// Once `command` is given, the action is `run` with what was read into `options`.
template <typename Options, typename Run>
void RunWhenParsed(cli::Command& command, Action& action, std::shared_ptr<Options> options, Run run) {
  command.OnParsed([&action, options = std::move(options), run] {
    action = [options, run](const Globals& globals) { return run(*options, globals); };
  });
}

// One for each command group: adds its commands to `app`; the one given sets `action`. Both must outlive
// the parsing.
void AddApply(cli::Command& app, Action& action);
void AddImport(cli::Command& app, Action& action);
void AddGet(cli::Command& app, Action& action);  // get, hosts
void AddDelete(cli::Command& app, Action& action);
void AddWatch(cli::Command& app, Action& action);
void AddInspect(cli::Command& app, Action& action);  // status, ports, tunnels, networks, routers, flows
void AddTables(cli::Command& app, Action& action);
void AddDrops(cli::Command& app, Action& action);
void AddTrace(cli::Command& app, Action& action);
void AddAccept(cli::Command& app, Action& action);

}  // namespace kasane::ctl
