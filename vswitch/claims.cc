#include "vswitch/claims.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace kasane::vswitch {
namespace {

bool IsRouters(const HostView& view, const ClaimKey& address, const MacAddress& mac) {
  for (const auto& [id, router] : view.routers) {
    for (const RouterPort& port : router.ports) {
      if (port.network != address.first) continue;
      if (port.mac == mac || port.link_local == address.second) return true;
      for (const IpPrefix& own : port.addresses) {
        if (own.address() == address.second) return true;
      }
    }
  }
  return false;
}

bool IsAllowed(const std::vector<AllowedAddress>& allowed, const IpAddress& ip, const MacAddress& mac) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const AllowedAddress& entry) {
    return entry.mac == mac && entry.prefix.Contains(ip);
  });
}

template <typename Port>
bool IsAnothers(const std::map<PortId, Port>& ports, const ClaimKey& address, const MacAddress& mac,
                const PortId& claimer) {
  return std::any_of(ports.begin(), ports.end(), [&](const auto& entry) {
    const Port& port = entry.second;
    if (port.id == claimer || port.network != address.first) return false;
    return port.mac == mac || std::find(port.ips.begin(), port.ips.end(), address.second) != port.ips.end();
  });
}

}  // namespace

bool MayClaim(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& port) {
  const NetworkId& network = address.first;
  const IpAddress& ip = address.second;
  if (ip.IsUnspecified() || ip.IsMulticast() || ip.IsLoopback() || mac.IsMulticast() || mac == MacAddress()) {
    return false;
  }
  const auto judge = [&](const auto& claimer) {
    if (claimer.network != network) return false;
    if (claimer.port_security_enabled) return IsAllowed(claimer.allowed, ip, mac);
    return !IsAnothers(view.ports, address, mac, port) && !IsAnothers(view.endpoints, address, mac, port);
  };
  if (IsRouters(view, address, mac)) return false;
  if (const auto local = view.ports.find(port); local != view.ports.end()) {
    return local->second.admin_state_up && judge(local->second);
  }
  const auto endpoint = view.endpoints.find(port);
  return endpoint != view.endpoints.end() && judge(endpoint->second);
}

std::map<std::pair<NetworkId, MacAddress>, PortId> ClaimedMacs(const HostView& view) {
  std::map<std::pair<NetworkId, MacAddress>, const AddressClaim*> newest;
  for (const auto& [key, claim] : view.claims) {
    const AddressClaim*& best = newest[{key.first, claim.mac}];
    if (best == nullptr || std::tie(best->sequence, best->port) < std::tie(claim.sequence, claim.port)) {
      best = &claim;
    }
  }
  if (newest.empty()) return {};
  for (const auto& [id, port] : view.ports) newest.erase({port.network, port.mac});
  for (const auto& [id, endpoint] : view.endpoints) newest.erase({endpoint.network, endpoint.mac});
  std::map<std::pair<NetworkId, MacAddress>, PortId> macs;
  for (const auto& [key, claim] : newest) macs.emplace(key, claim->port);
  return macs;
}

}  // namespace kasane::vswitch
