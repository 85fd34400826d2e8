// The rule of admission: which port may take over an address. One rule for all who admit claims (the view's
// builder, the agent, which reports what a port says) and for sim. ForwardingTables decide it for themselves,
// by their own keys (tables/claims.h); a property test holds the two to each other. Pure.
#pragma once

#include "vswitch/host_view.h"

namespace kasane::vswitch {

// Whether `port` may speak for `ip` with `mac` on `network`, whoever has it otherwise. With port security: if
// the pair is in its allowed list; that lets it take over another VM's fixed address, as a VRRP peer does.
// Without: if no other port has the address by its configuration (fixed or link-local, whether it is up,
// plugged or neither), and none the MAC. Never an address of a router or of another of Neutron's own ports, nor
// the metadata service's, nor the link-local address of another port, which its IPv6 would not survive.
bool MayClaim(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& port);

}  // namespace kasane::vswitch
