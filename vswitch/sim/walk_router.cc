// The distributed routers: what is for them, longest prefix, next hop.
#include <fmt/format.h>

#include <algorithm>

#include "vswitch/sim/walk.h"

namespace kasane::sim {

bool Walk::ToRouter(const NetworkView& network) {
  for (const auto& [id, router] : view_.routers) {
    for (const RouterPort& port : router.ports) {
      if (port.network != network.id || port.mac != packet_.eth_dst()) continue;
      if (!router.admin_state_up) {
        Drop("l2", RouterOwner(id), DropReason::kAdminDown);
      } else {
        Note("l2", RouterOwner(id), fmt::format("{} is router {}", port.mac, router.name));
        EnterRouter(router);
      }
      return true;
    }
  }
  return false;
}

// What the router does not forward, whoever it is for; in the order in which the reasons win.
std::optional<DropReason> Walk::WhyNotRouted() const {
  const IpAddress dst = packet_.ip_dst();
  if (dst.IsMulticast() || dst == IpAddress::V4(0xffffffff)) return DropReason::kRouterMulticast;
  if (dst.is_v6() && (dst.IsLinkLocal() || packet_.ip_src().IsLinkLocal())) return DropReason::kRouterLocal;
  if (packet_.ttl() <= 1) return DropReason::kTtlExceeded;
  return std::nullopt;
}

void Walk::EnterRouter(const RouterView& router) {
  if (hops_ == kMaxRouterHops) return Drop("router", {}, DropReason::kRouterLoop);
  if (!packet_.has_ip()) return Drop("router", {}, DropReason::kRouterNotIp);
  if (ForRouterItself(router)) return;
  if (const auto reason = WhyNotRouted()) return Drop("router", {}, *reason);
  ++hops_;
  packet_.set_ttl(static_cast<uint8_t>(packet_.ttl() - 1));
  Note("router", RouterOwner(router.id), fmt::format("in router {}, TTL now {}", router.name, packet_.ttl()));
  RouteOut(router);
}

// Echo requests to the router's addresses are answered, anything else to them is dropped.
bool Walk::ForRouterItself(const RouterView& router) {
  const IpAddress dst = packet_.ip_dst();
  const bool own = std::any_of(router.ports.begin(), router.ports.end(), [&](const RouterPort& port) {
    if (!view_.networks.at(port.network).admin_state_up) return false;
    return std::any_of(port.addresses.begin(), port.addresses.end(),
                       [&](const IpPrefix& address) { return address.address() == dst; });
  });
  if (!own) return false;
  const uint8_t request = packet_.is_v4() ? 8 : 128;
  const uint8_t icmp = packet_.is_v4() ? kProtoIcmp : kProtoIcmpv6;
  const bool echo = packet_.has_icmp() && packet_.ip_proto() == icmp && packet_.icmp_type() == request &&
                    packet_.icmp_code() == 0 && !packet_.fragment();
  if (!echo) {
    Drop("router", RouterOwner(router.id), DropReason::kRouterLocal);
    return true;
  }
  Note("router", RouterOwner(router.id), fmt::format("echo request to the router's address {}: answered", dst));
  packet_.set_ip_dst(packet_.ip_src());
  packet_.set_ip_src(dst);
  packet_.set_icmp_type(packet_.is_v4() ? 0 : 129);
  packet_.set_ttl(64);
  RouteOut(router);
  return true;
}

void Walk::RouteOut(const RouterView& router) {
  const Route* best = nullptr;
  for (const Route& route : router.routes) {
    if (!route.destination.Contains(packet_.ip_dst())) continue;
    if (best == nullptr || route.destination.length() > best->destination.length()) best = &route;
  }
  if (best == nullptr) return Drop("route", {}, DropReason::kNoRoute);
  // Of several equal next hops the first one forwards.
  const NextHop& hop = best->next_hops.front();
  const RouterPort& out_port = *FindRouterPort(router, hop.out_port);
  const NetworkView& network = view_.networks.at(out_port.network);
  if (!network.admin_state_up) return Drop("route", RouterOwner(router.id), DropReason::kAdminDown);
  Note("route", RouterOwner(router.id),
       fmt::format("{} {}into network {} (VNI {})", best->destination,
                   hop.gateway ? fmt::format("via {} ", *hop.gateway) : "", network.name, network.vni));
  packet_.set_eth_src(out_port.mac);
  Resolve(out_port, hop.gateway.value_or(packet_.ip_dst()));
}

void Walk::Resolve(const RouterPort& out_port, const IpAddress& next_hop) {
  const auto holder = FindHolder(out_port.network, next_hop);
  // An IPv6 link-local address is no next hop: it means nothing without its link.
  if (!holder || (next_hop.is_v6() && next_hop.IsLinkLocal()))
    return Drop("neighbour", {}, DropReason::kNoNeighbour);
  Note("neighbour", holder->owner, fmt::format("{} is at {}", next_hop, holder->mac));
  packet_.set_eth_dst(holder->mac);
  entered_.reset();
  Bridge(view_.networks.at(out_port.network));
}

}  // namespace kasane::sim
