// kasaned's command line.
#pragma once

#include <string>
#include <variant>

#include "agent/config.h"

namespace kasane::agent {

// Nothing is left to do: print `text` and exit with `code`.
struct ExitNow {
  int code = 0;
  std::string text;
};

// Reads the flags, then the file that they name, and judges both. --help, --version, --check and every fault
// end in ExitNow: code 1 for a fault of the configuration, 2 for one of the flags.
std::variant<AgentConfig, ExitNow> ReadCommandLine(int argc, const char* const* argv);

}  // namespace kasane::agent
