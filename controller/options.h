// Command line and configuration file of kasane-controller. A flag wins over the file.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <variant>

#include "base/log.h"
#include "rpc/listen_address.h"

namespace kasane::controller {

struct Options {
  rpc::ListenAddress listen;
  std::string store;
  bool insecure = false;  // May listen on an address that is not loopback.
  log::Options log;
};

// What to print and exit with instead of running: after --help, --version, or a fault.
struct ExitNow {
  int code = 0;
  std::string text;  // For standard output if the code is 0, else for standard error.
};

// Reads the flags, and the file that they name or /etc/kasane/controller.yaml if there is one. Every fault
// is listed, one a line, with the flag or the file and line.
std::variant<Options, ExitNow> ReadOptions(int argc, const char* const* argv);

}  // namespace kasane::controller
