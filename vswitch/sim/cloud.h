// A cloud in sim: several hosts with their HostViews, and the underlay between them. A frame that enters at a
// port, or from a tunnel, is followed through every tunnel to where it ends. Pure; any thread.
#pragma once

#include <map>
#include <vector>

#include "vswitch/sim/sim.h"

namespace kasane::sim {

struct CloudDelivery {
  HostId host;
  PortId port;
  Frame frame;

  bool operator==(const CloudDelivery&) const = default;
};

struct CloudDrop {
  HostId host;
  DropReason reason;

  bool operator==(const CloudDrop&) const = default;
};

struct CloudStep {
  HostId host;
  Step step;
};

struct CloudResult {
  std::vector<CloudDelivery> deliveries;
  std::vector<CloudDrop> drops;
  std::vector<CloudStep> steps;
};

class Cloud {
 public:
  explicit Cloud(std::map<HostId, HostView> views) : views_(std::move(views)) {}

  const std::map<HostId, HostView>& views() const { return views_; }

  // `frame` is sent by the VM at `port`. On a host that does not have the port it drops as unknown_port.
  CloudResult FromPort(const HostId& host, const PortId& port, const Frame& frame) const;

  // `frame` is the inner frame of a VXLAN packet that reaches `host` from `outer_source`.
  CloudResult FromTunnel(const HostId& host, const IpAddress& outer_source, uint32_t vni,
                         const Frame& frame) const;

 private:
  void Follow(const HostId& host, Result result, CloudResult& out) const;

  std::map<HostId, HostView> views_;
};

}  // namespace kasane::sim
