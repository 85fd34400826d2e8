// What the reference expects against what a switch did, for one frame and for the drops of many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/differential/switch_under_test.h"
#include "vswitch/drop_reason.h"
#include "vswitch/sim/sim.h"

namespace kasane::differential {

using Counts = std::map<vswitch::DropReason, uint64_t>;

Observed Expected(const sim::Result& result, const vswitch::TunnelAddresses& own);

// Which of the choices of next hops gives what was observed: none is a divergence, and of several it cannot be
// told from outside which one it was.
std::vector<size_t> Matches(const std::vector<sim::Result>& results, const Observed& observed,
                            const vswitch::TunnelAddresses& own);

std::string Describe(const Observed& observed);

// Takes out the announcements that change nothing: by the port whose own address it is, where nobody else has
// claimed it. A datapath need not report them.
void RemoveWhatIsKnown(const vswitch::HostView& view, std::vector<slowpath::Announcement>& announcements);

// The drops that some frames may have caused: where the choice cannot be told, from the least to the most.
class DropBounds {
 public:
  void Add(const std::vector<sim::Result>& results, const std::vector<size_t>& matches);
  // What does not fit between two readings, one line each; nothing if all does.
  std::vector<std::string> Differences(const Counts& before, const Counts& after) const;

 private:
  std::map<vswitch::DropReason, std::pair<uint64_t, uint64_t>> bounds_;
};

}  // namespace kasane::differential
