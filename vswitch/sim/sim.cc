#include "vswitch/sim/sim.h"

#include "vswitch/sim/walk.h"

namespace kasane::sim {

Result FromPort(const HostView& view, const PortId& port, const Frame& frame) {
  return Walk(view, frame).FromPort(port);
}

Result FromTunnel(const HostView& view, const IpAddress& outer_source, uint32_t vni, const Frame& frame) {
  return Walk(view, frame).FromTunnel(outer_source, vni);
}

}  // namespace kasane::sim
