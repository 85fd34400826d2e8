#include "vswitch/slowpath/address_owner.h"

#include <algorithm>

namespace kasane::slowpath {
namespace {

bool Holds(const std::vector<IpAddress>& ips, const IpAddress& ip) {
  return std::find(ips.begin(), ips.end(), ip) != ips.end();
}

bool Holds(const vswitch::RouterPort& port, const IpAddress& ip) {
  return port.link_local == ip || std::any_of(port.addresses.begin(), port.addresses.end(),
                                              [&](const IpPrefix& address) { return address.address() == ip; });
}

}  // namespace

std::optional<AddressOwner> FindAddressOwner(const vswitch::HostView& view, const NetworkId& network,
                                             const IpAddress& ip) {
  if (const auto claim = view.claims.find({network, ip}); claim != view.claims.end()) {
    const PortId& port = claim->second.port;
    return AddressOwner{{vswitch::OwnerKind::kPort, port.str()},
                        claim->second.mac,
                        view.ports.count(port) != 0 ? std::optional(port) : std::nullopt,
                        nullptr};
  }
  for (const auto& [id, port] : view.ports) {
    if (port.network == network && port.admin_state_up && Holds(port.ips, ip)) {
      return AddressOwner{{vswitch::OwnerKind::kPort, id.str()}, port.mac, id, nullptr};
    }
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    if (endpoint.network == network && Holds(endpoint.ips, ip)) {
      return AddressOwner{{vswitch::OwnerKind::kPort, id.str()}, endpoint.mac, std::nullopt, nullptr};
    }
  }
  for (const auto& [id, router] : view.routers) {
    if (!router.admin_state_up) continue;
    for (const vswitch::RouterPort& port : router.ports) {
      if (port.network != network || !Holds(port, ip)) continue;
      return AddressOwner{{vswitch::OwnerKind::kRouter, id.str()}, port.mac, std::nullopt, &port};
    }
  }
  return std::nullopt;
}

bool IsAnycast(const vswitch::RouterPort& port, const IpAddress& ip) {
  return ip.is_v6() && std::any_of(port.addresses.begin(), port.addresses.end(), [&](const IpPrefix& own) {
           return own.address() == ip && own.length() < 127 && own.Network().address() == ip;
         });
}

}  // namespace kasane::slowpath
