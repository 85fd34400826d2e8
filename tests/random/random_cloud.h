// Random small clouds, and changes of them, from a seed: the inputs of the differential test.
#pragma once

#include <vector>

#include "model/network_state.h"
#include "tests/random/kinds.h"
#include "tests/random/random.h"
#include "vswitch/host_view.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::random {

// What stays the same in every cloud: the switch's ports and the underlay.
std::vector<PortId> LocalPorts();
vswitch::TunnelAddresses OwnVteps();
std::vector<IpAddress> PeerVteps();  // Of both families.
inline const HostId kHost("h0");

MacAddress NthMac(uint32_t n);                      // Of a port of the clouds.
IpAddress Nth(const IpPrefix& prefix, uint32_t n);  // The prefix's address plus `n`.

// Networks with the same addresses, routers between some of them, extra routes, ports here and on peers,
// things that are down.
model::NetworkState RandomCloud(Random& random, const Kinds& kinds);

// One thing is other than it was: a port is new, gone, elsewhere, up or down, has other pairs; a claim is made,
// of `heard` most of the time; routes, a router or a network change.
model::NetworkState ChangedCloud(const model::NetworkState& state,
                                 const std::vector<slowpath::Announcement>& heard, Random& random,
                                 const Kinds& kinds);

}  // namespace kasane::random
