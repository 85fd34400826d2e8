// Claims: which port may take over an address, and what follows for forwarding. Used where claims are admitted
// (the view's builder, the agent) and by the datapaths. Pure.
#pragma once

#include <map>
#include <utility>

#include "vswitch/host_view.h"

namespace kasane::vswitch {

// Whether `port` may speak for `ip` with `mac` on `network`, whoever has it otherwise. With port security: if
// the pair is in its allowed list. Without: if no other port has the address, and none the MAC. Never for an
// address or with the MAC of a router.
bool MayClaim(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& port);

// MACs that are no port's and no router's own, each to the port that spoke with it last: the virtual MAC of a
// VRRP group, for instance, follows its master.
std::map<std::pair<NetworkId, MacAddress>, PortId> ClaimedMacs(const HostView& view);

}  // namespace kasane::vswitch
