#include "vswitch/claims.h"

#include <algorithm>
#include <vector>

namespace kasane::vswitch {
namespace {

// The metadata service's addresses, the same on every network (RFC 3927; Neutron's for IPv6).
bool IsMetadata(const IpAddress& ip) {
  static const IpAddress kMetadata6 = *IpAddress::Parse("fe80::a9fe:a9fe");
  return ip == IpAddress::V4(0xa9fea9fe) || ip == kMetadata6;
}

bool IsAllowed(const std::vector<AllowedAddress>& allowed, const IpAddress& ip, const MacAddress& mac) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const AllowedAddress& entry) {
    return entry.mac == mac && entry.prefix.Contains(ip);
  });
}

// What a configuration gives to a port: its fixed addresses, and the link-local address of its MAC.
template <typename Port>
bool HasAddress(const Port& port, const IpAddress& ip) {
  return ip == IpAddress::LinkLocal(port.mac) ||
         std::find(port.ips.begin(), port.ips.end(), ip) != port.ips.end();
}

// Whether a port of the network, other than `claimer`, is one that `matches`.
template <typename Ports, typename Predicate>
bool AnyOther(const Ports& ports, const NetworkId& network, const PortId& claimer, Predicate matches) {
  return std::any_of(ports.begin(), ports.end(), [&](const auto& entry) {
    return entry.first != claimer && entry.second.network == network && matches(entry.second);
  });
}

// An address or a MAC of a router, of another of Neutron's own ports, or of the metadata service.
bool IsInfrastructures(const HostView& view, const ClaimKey& address, const MacAddress& mac) {
  const NetworkId& network = address.first;
  const IpAddress& ip = address.second;
  if (IsMetadata(ip)) return true;
  for (const auto& [id, router] : view.routers) {
    for (const RouterPort& port : router.ports) {
      if (port.network != network) continue;
      if (port.mac == mac || port.link_local == ip) return true;
      for (const IpPrefix& own : port.addresses) {
        if (own.address() == ip) return true;
      }
    }
  }
  return AnyOther(view.reserved, network, PortId(), [&](const ReservedPort& port) {
    return port.infrastructure && (port.mac == mac || HasAddress(port, ip));
  });
}

bool IsAnothersLinkLocal(const HostView& view, const ClaimKey& address, const PortId& claimer) {
  if (!address.second.is_v6() || !address.second.IsLinkLocal()) return false;
  const auto matches = [&](const auto& port) { return IpAddress::LinkLocal(port.mac) == address.second; };
  return AnyOther(view.ports, address.first, claimer, matches) ||
         AnyOther(view.endpoints, address.first, claimer, matches) ||
         AnyOther(view.reserved, address.first, claimer, matches);
}

bool IsAnothers(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& claimer) {
  const auto matches = [&](const auto& port) { return port.mac == mac || HasAddress(port, address.second); };
  return AnyOther(view.ports, address.first, claimer, matches) ||
         AnyOther(view.endpoints, address.first, claimer, matches) ||
         AnyOther(view.reserved, address.first, claimer, matches);
}

}  // namespace

bool MayClaim(const HostView& view, const ClaimKey& address, const MacAddress& mac, const PortId& port) {
  const NetworkId& network = address.first;
  const IpAddress& ip = address.second;
  if (ip.IsUnspecified() || ip.IsMulticast() || ip.IsLoopback() || mac.IsMulticast() || mac == MacAddress()) {
    return false;
  }
  const auto may = [&](const auto& claimer) {
    if (claimer.network != network || IsInfrastructures(view, address, mac)) return false;
    if (!claimer.port_security_enabled) return !IsAnothers(view, address, mac, port);
    return IsAllowed(claimer.allowed, ip, mac) && !IsAnothersLinkLocal(view, address, port);
  };
  if (const auto local = view.ports.find(port); local != view.ports.end()) {
    return local->second.admin_state_up && may(local->second);
  }
  const auto endpoint = view.endpoints.find(port);
  return endpoint != view.endpoints.end() && may(endpoint->second);
}

}  // namespace kasane::vswitch
