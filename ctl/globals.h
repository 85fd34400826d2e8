// The global options of kasanectl.
#pragma once

#include <string>

#include "ctl/output/output.h"

namespace kasane::ctl {

struct Globals {
  std::string controller = "127.0.0.1:6650";     // HOST:PORT
  std::string agent = "/run/kasane/agent.sock";  // Path of its Unix socket.
  bool insecure = false;                         // May dial a controller that is not on loopback.
  double timeout_seconds = 10;                   // For each call.
  Format format = Format::kTable;
};

}  // namespace kasane::ctl
