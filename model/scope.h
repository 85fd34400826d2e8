// The scope of a host: the keys of all resources that it needs. The controller sends exactly these.
//
// A host's ports and their networks; the routers on these and, transitively, the networks those reach,
// but never through a router:external network; the ports (endpoints) on them, their subnets and the hosts
// of these ports; the security groups of its own ports; the claims on addresses of these networks. Floating IPs
// of its own ports, so that the agent can say that they are not enforced. A network that is external is
// included itself as a resource when a router has its gateway there, but nothing on it.
#pragma once

#include <set>

#include "model/network_state.h"

namespace kasane::model {

std::set<ResourceKey> ComputeScope(const NetworkState& state, const HostId& host);

}  // namespace kasane::model
