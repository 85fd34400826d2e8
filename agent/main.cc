// kasaned: the Kasane agent of one hypervisor.
#include <cstdio>
#include <string>
#include <variant>

#include "agent/command_line.h"
#include "agent/daemon.h"
#include "agent/log/log.h"
#include "agent/signals.h"
#include "vswitch/base/status.h"

int main(int argc, char** argv) {
  const std::variant<kasane::AgentConfig, kasane::ExitNow> read = kasane::ReadCommandLine(argc, argv);
  if (const auto* exit = std::get_if<kasane::ExitNow>(&read)) {
    std::fputs(exit->text.c_str(), exit->code == 0 ? stdout : stderr);
    return exit->code;
  }
  const auto& config = std::get<kasane::AgentConfig>(read);
  kasane::TakeOverSignals();
  if (const absl::Status status = kasane::log::Configure(config.log); !status.ok()) {
    std::fprintf(stderr, "kasaned: %s\n", kasane::Message(status).c_str());
    return 1;
  }
  return kasane::RunDaemon(config);
}
