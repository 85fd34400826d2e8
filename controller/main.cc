// kasane-controller: see --help.
#include <fmt/format.h>
#include <grpc/support/log.h>

#include <csignal>
#include <cstdio>
#include <variant>

#include "base/log.h"
#include "base/status.h"
#include "controller/options.h"
#include "controller/server.h"

namespace {

void LogOfGrpc(gpr_log_func_args* args) {
  kasane::log::Debug("grpc", {{"severity", gpr_log_severity_string(args->severity)}, {"text", args->message}});
}

// Blocked in this thread, and so in all that it starts; main waits for them.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int Run(const kasane::controller::Options& options) {
  const sigset_t signals = BlockStopSignals();
  if (const absl::Status status = kasane::log::Configure(options.log); !status.ok()) {
    fmt::print(stderr, "kasane-controller: {}\n", kasane::Message(status));
    return 1;
  }
  gpr_set_log_function(LogOfGrpc);
  auto server = kasane::controller::ControllerServer::Start(options.listen, options.store);
  if (!server.ok()) {
    kasane::log::Error(kasane::Message(server.status()));
    return 1;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  kasane::log::Info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
  server->reset();
  kasane::log::Info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::variant<kasane::controller::Options, kasane::controller::ExitNow> options =
      kasane::controller::ReadOptions(argc, argv);
  if (const auto* exit = std::get_if<kasane::controller::ExitNow>(&options)) {
    fmt::print(exit->code == 0 ? stdout : stderr, "{}", exit->text);
    return exit->code;
  }
  return Run(std::get<kasane::controller::Options>(options));
}
