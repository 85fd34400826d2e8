// Who holds an address on a network: a VM here or elsewhere, or a router. Shared by sim and the slow path.
#pragma once

#include <optional>

#include "vswitch/datapath.h"
#include "vswitch/host_view.h"

namespace kasane::slowpath {

struct AddressOwner {
  vswitch::Owner owner;
  MacAddress mac;
  std::optional<PortId> local;  // The VM port, when it is on this host.
  const vswitch::RouterPort* router_port = nullptr;
};

// A claim goes before a fixed IP. Ports and routers that are down hold nothing. The result points into `view`.
std::optional<AddressOwner> FindAddressOwner(const vswitch::HostView& view, const NetworkId& network,
                                             const IpAddress& ip);

// Whether `ip` is a subnet-router anycast address of this interface (RFC 4291, 2.6.1).
bool IsAnycast(const vswitch::RouterPort& port, const IpAddress& ip);

}  // namespace kasane::slowpath
