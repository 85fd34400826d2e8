// Claims: which port may take over an address, and what follows for forwarding. Used where claims are admitted
// (the view's builder, the agent) and by the datapaths. Pure.
#pragma once

#include <map>
#include <utility>

#include "vswitch/host_view.h"

namespace kasane::vswitch {

// Whether `port` may speak for `ip` with `mac` on `network`, whoever has it otherwise. With port security: if
// the pair is in its allowed list; that lets it take over another VM's fixed address, as a VRRP peer does.
// Without: if no other port has the address by its configuration (fixed or link-local, whether it is up,
// plugged or neither), and none the MAC. Never an address of a router or of another of Neutron's own ports, nor
// the metadata service's, nor the link-local address of another port, which its IPv6 would not survive.
bool MayClaim(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& port);

// MACs that are no port's and no router's own, each to the port that spoke with it last: the virtual MAC of a
// VRRP group, for instance, follows its master.
std::map<std::pair<NetworkId, MacAddress>, PortId> ClaimedMacs(const HostView& view);

}  // namespace kasane::vswitch
