// The neighbour cache of ovs-vswitchd's userspace tunnels, over its control socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vswitch/underlay/neighbour_keeper.h"

namespace kasane::ovs {

// Of the ovs-vswitchd with this run directory. The bridge with the VTEP address is the link.
std::unique_ptr<underlay::NeighbourCache> NewTunnelNeighbours(std::string run_dir);

// The answer of `ovs-appctl tnl/neigh/show`.
underlay::CachedNeighbours ParseTunnelNeighbours(std::string_view text);

}  // namespace kasane::ovs
