// The decisions of the reconcile loop, as pure functions of what is wanted, what is installed and what the
// datapath says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/sync/sync_link.h"
#include "inspect/agent_snapshot.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::agent {

// What the datapath acknowledged last.
struct Installed {
  std::shared_ptr<const vswitch::HostView> view;  // Never null.
  model::Revision revision;  // Of the state that the view was built from, or of a later equal one.
  uint64_t session = 0;      // DatapathFacts::session at that time, its generation, its disturbances ...
  uint64_t generation = 0;
  uint64_t disturbances = 0;
  std::map<PortId, vswitch::Attachment> attachments;  // ... and its attachments.
  vswitch::ApplyResult result;
};

// Whether the datapath must be told. False while it is not ready: its next facts ask again.
bool NeedsApply(const vswitch::HostView& wanted, const std::optional<Installed>& installed,
                const vswitch::DatapathFacts& facts);

// One entry for each local port of `wanted`. A port is active when it and its network are up, it is
// plugged, its flows are acknowledged in the present session of the switch, and every host that its
// network floods to can be reached, or was tried and has a stated problem: a dead peer must not keep a
// port from becoming active for ever.
std::map<PortId, inspect::PortActivity> AssessPorts(const vswitch::HostView& wanted,
                                                    const std::optional<Installed>& installed,
                                                    const vswitch::DatapathFacts& facts);

// What to report: the ports of the installed view, judged.
AppliedReport MakeApplied(const Installed& installed, const std::map<PortId, inspect::PortActivity>& ports);

// The VTEPs that must be kept resolved, sorted, each once.
std::vector<IpAddress> WantedTunnels(const vswitch::HostView& view);

// What an operator can fix, of the datapath and the view; sorted as found, stable for equal input.
std::vector<vswitch::Problem> DatapathProblems(const vswitch::HostView* wanted,
                                               const std::optional<Installed>& installed,
                                               const vswitch::DatapathFacts& facts);

}  // namespace kasane::agent
