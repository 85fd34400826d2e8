#include "vswitch/sim/sim.h"

#include "vswitch/sim/walk.h"

namespace kasane::sim {

Result FromPort(const HostView& view, const PortId& port, const Frame& frame, const LearnedMacs& learned) {
  return Walk(view, frame, learned).FromPort(port);
}

Result FromTunnel(const HostView& view, const IpAddress& outer_source, uint32_t vni, const Frame& frame,
                  const LearnedMacs& learned) {
  return Walk(view, frame, learned).FromTunnel(outer_source, vni);
}

}  // namespace kasane::sim
