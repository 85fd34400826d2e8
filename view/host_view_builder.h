// Builds the HostView of one host from the whole NetworkState: the definition of what a host needs.
//
// Pure. Dangling references and resources of kinds that are not forwarded (unbound ports, ports of
// external networks) are left out, never guessed. Uses no more of the state than the host's scope, so a
// controller that sends exactly the scope gets the same view.
#pragma once

#include <vector>

#include "model/network_state.h"
#include "vswitch/host_view.h"

namespace kasane::view {

// What a port with port security may send as: its fixed IPs, its allowed address pairs, and the link-local
// address of each MAC among them. Sorted.
std::vector<vswitch::AllowedAddress> AllowedOf(const model::Port& port);

// `own` are this host's tunnel addresses as its configuration has them.
vswitch::HostView BuildHostView(const model::NetworkState& state, const HostId& host,
                                const vswitch::TunnelAddresses& own);

}  // namespace kasane::view
