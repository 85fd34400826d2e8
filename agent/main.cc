// kasaned: the Kasane agent of one hypervisor.
#include <cstdio>
#include <string>
#include <variant>

#include "agent/command_line.h"
#include "agent/daemon.h"
#include "agent/signals.h"
#include "base/log.h"
#include "base/status.h"

int main(int argc, char** argv) {
  const std::variant<kasane::agent::AgentConfig, kasane::agent::ExitNow> read =
      kasane::agent::ReadCommandLine(argc, argv);
  if (const auto* exit = std::get_if<kasane::agent::ExitNow>(&read)) {
    std::fputs(exit->text.c_str(), exit->code == 0 ? stdout : stderr);
    return exit->code;
  }
  const auto& config = std::get<kasane::agent::AgentConfig>(read);
  kasane::agent::TakeOverSignals();
  if (const absl::Status status = kasane::log::Configure(config.log); !status.ok()) {
    std::fprintf(stderr, "kasaned: %s\n", kasane::Message(status).c_str());
    return 1;
  }
  return kasane::agent::RunDaemon(config);
}
