// Random small clouds and random frames in them, from a seed: the inputs of the differential test.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "model/network_state.h"
#include "vswitch/host_view.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::differential {

using Random = std::mt19937_64;

// What stays the same in every cloud: the switch's ports and the underlay.
std::vector<PortId> LocalPorts();
IpAddress OwnVtep();
std::vector<IpAddress> PeerVteps();
inline const HostId kHost("h0");

// Networks with the same addresses, routers between some of them, extra routes, ports here and on peers,
// things that are down.
model::NetworkState RandomCloud(Random& random);

// One frame and where it enters.
struct Stimulus {
  std::optional<PortId> port;  // Absent: from a tunnel, with the two below.
  IpAddress outer_source;
  uint32_t vni = 0;
  frames::Bytes frame;
  std::string_view mutation = "none";  // What was made wrong of the frame; see mutate.h.
};

// Mostly frames that get somewhere, some that are subtly wrong, and some malformed.
Stimulus RandomStimulus(const vswitch::HostView& view, Random& random);

}  // namespace kasane::differential
