// sim: the reference implementation of the virtual network. A frame enters at a port of a host, or from
// a tunnel, and comes out as deliveries or a DropReason, with the steps between. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vswitch/base/drop_reason.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::sim {

using Frame = std::vector<uint8_t>;  // From the Ethernet header on, without FCS.

struct Step {
  std::string stage;  // As the OVS pipeline names it: "l2", "route", ...
  Owner owner;
  std::string text;
};

// One copy of the frame leaving.
struct Delivery {
  // To a local port, or ...
  std::optional<PortId> port;
  // ... through a tunnel to a host's VTEP, in a network.
  std::optional<HostId> host;
  std::optional<IpAddress> vtep;
  std::optional<Vni> vni;
  Frame frame;

  bool operator==(const Delivery&) const = default;
};

struct Result {
  std::vector<Delivery> deliveries;
  // Set if there are no deliveries, but for a replication that reaches nobody and a frame to the port that it
  // came from: a bridge does nothing with these.
  std::optional<DropReason> drop;
  std::vector<Step> steps;
};

// `frame` is sent by the VM at local port `port` of `view`.
Result FromPort(const HostView& view, const PortId& port, const Frame& frame);

// `frame` is the inner frame of a VXLAN packet that arrived from `outer_source` with `vni`.
Result FromTunnel(const HostView& view, const IpAddress& outer_source, uint32_t vni, const Frame& frame);

}  // namespace kasane::sim
