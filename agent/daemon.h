// The agent, put together.
#pragma once

#include "agent/config.h"

namespace kasane::agent {

// Runs until SIGTERM or SIGINT; signals.h must have taken them over. Returns the exit code: 0 after a signal,
// 1 if it could not start, for which the reason is logged. The switch is left forwarding.
int RunDaemon(const AgentConfig& config);

}  // namespace kasane::agent
