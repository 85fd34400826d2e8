// The TunnelKeeper on a real host: one thread that keeps the next hop of every wanted VTEP resolved in the
// kernel and, for the userspace datapath, known to Open vSwitch, which drops the packets that miss its own
// neighbour cache.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "vswitch/ovs/ovs_config.h"
#include "vswitch/ovs/tunnel_keeper.h"

namespace kasane::ovs {

absl::StatusOr<std::unique_ptr<TunnelKeeper>> NewNeighbourKeeper(const OvsConfig& config);

// The answer of `ovs-appctl tnl/neigh/show`: (bridge, address) to MAC, without expired entries.
using TunnelNeighbours = std::map<std::pair<std::string, IpAddress>, MacAddress>;
TunnelNeighbours ParseTunnelNeighbours(std::string_view text);

}  // namespace kasane::ovs
