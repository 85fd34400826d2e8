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
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane {

// What the datapath acknowledged last.
struct Installed {
  std::shared_ptr<const HostView> view;  // Never null.
  Revision revision;                     // Of the state that the view was built from, or of a later equal one.
  uint64_t session = 0;                  // DatapathFacts::session at that time, its generation ...
  uint64_t generation = 0;
  std::map<PortId, Attachment> attachments;  // ... and its attachments.
  ApplyResult result;
};

// Whether the datapath must be told. False while it is not ready: its next facts ask again.
bool NeedsApply(const HostView& wanted, const std::optional<Installed>& installed, const DatapathFacts& facts);

struct PortActivity {
  bool active = false;
  std::string why_not;  // Empty exactly if active.

  bool operator==(const PortActivity&) const = default;
};

// One entry for each local port of `wanted`. A port is active when it and its network are up, it is
// plugged, its flows are acknowledged in the present session of the switch, and every host that its
// network floods to can be reached, or was tried and has a stated problem: a dead peer must not keep a
// port from becoming active for ever.
std::map<PortId, PortActivity> JudgePorts(const HostView& wanted, const std::optional<Installed>& installed,
                                          const DatapathFacts& facts);

// What to report: the ports of the installed view, judged.
AppliedReport MakeApplied(const Installed& installed, const std::map<PortId, PortActivity>& ports);

// The VTEPs that must be kept resolved, sorted, each once.
std::vector<IpAddress> WantedTunnels(const HostView& view);

// What an operator can mend, of the datapath and the view; sorted as found, stable for equal input.
std::vector<Problem> DatapathProblems(const HostView* wanted, const std::optional<Installed>& installed,
                                      const DatapathFacts& facts);

}  // namespace kasane
