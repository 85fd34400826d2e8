// The datapaths that this agent can forward with, by the name that the configuration gives (`datapath.type`). A
// new one is a line in datapaths.cc, and nothing else of the agent knows which one it works with.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>

#include "agent/config.h"
#include "vswitch/datapath.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::agent {

// `on_event` and `on_announcement` are called from threads of the datapath's own and must not block. An error
// if this process cannot have the datapath: another agent works on it, or nobody knows the name.
absl::StatusOr<std::unique_ptr<vswitch::Datapath>> OpenDatapath(
    const AgentConfig& config, std::function<void()> on_event,
    std::function<void(const slowpath::Announcement&)> on_announcement);

}  // namespace kasane::agent
