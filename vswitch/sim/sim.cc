#include "vswitch/sim/sim.h"

#include "vswitch/sim/walk.h"

namespace kasane::sim {

Result FromPort(const vswitch::HostView& view, const PortId& port, const Frame& frame,
                const LearnedMacs& learned, const Unanswered& unanswered,
                const slowpath::Reassembly& fragments) {
  Choices choices;
  return Walk(view, frame, learned, choices, unanswered, fragments).FromPort(port);
}

std::vector<Result> EveryFromPort(const vswitch::HostView& view, const PortId& port, const Frame& frame,
                                  const LearnedMacs& learned, const Unanswered& unanswered,
                                  const slowpath::Reassembly& fragments) {
  std::vector<Result> results;
  Choices choices;
  do {
    results.push_back(Walk(view, frame, learned, choices, unanswered, fragments).FromPort(port));
  } while (choices.Next() && results.size() < kMaxAlternatives);
  return results;
}

Result FromTunnel(const vswitch::HostView& view, const IpAddress& outer_source, uint32_t vni,
                  const Frame& frame, const LearnedMacs& learned) {
  Choices choices;
  return Walk(view, frame, learned, choices).FromTunnel(outer_source, vni);
}

}  // namespace kasane::sim
