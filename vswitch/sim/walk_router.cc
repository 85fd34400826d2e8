// The distributed routers: what is for them, longest prefix, next hop.
#include <fmt/format.h>

#include <algorithm>

#include "vswitch/sim/walk.h"

namespace kasane::sim {

bool Walk::ToRouter(const vswitch::NetworkView& network) {
  for (const auto& [id, router] : view_.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      if (port.network != network.id || port.mac != packet_.eth_dst()) continue;
      if (!router.admin_state_up) {
        Drop("l2", RouterOwner(id), vswitch::DropReason::kAdminDown);
      } else {
        Note("l2", RouterOwner(id), fmt::format("{} is router {}", port.mac, router.name));
        router_network_ = network.id;
        EnterRouter(router);
      }
      return true;
    }
  }
  return false;
}

// What the router does not forward, whoever it is for; in the order in which the reasons win.
std::optional<vswitch::DropReason> Walk::WhyNotRouted() const {
  const IpAddress dst = packet_.ip_dst();
  if (dst.IsMulticast() || dst == IpAddress::V4(0xffffffff)) return vswitch::DropReason::kRouterMulticast;
  if (dst.is_v6() && (dst.IsLinkLocal() || packet_.ip_src().IsLinkLocal()))
    return vswitch::DropReason::kRouterLocal;
  if (packet_.ttl() <= 1) return vswitch::DropReason::kTtlExceeded;
  return std::nullopt;
}

// A drop that a router tells the sender of.
void Walk::DropAtRouter(std::string_view stage, const vswitch::RouterView& router, vswitch::DropReason reason,
                        slowpath::SlowPathCause cause, uint32_t mtu) {
  Drop(stage, {}, reason);
  AskSlowPath(router_network_, cause, router.id, mtu);
}

void Walk::EnterRouter(const vswitch::RouterView& router) {
  if (hops_ == vswitch::kMaxRouterHops) return Drop("router", {}, vswitch::DropReason::kRouterLoop);
  if (!packet_.has_ip()) return Drop("router", {}, vswitch::DropReason::kRouterNotIp);
  if (ForLinkLocal(router) || ForRouterItself(router)) return;
  if (const auto reason = WhyNotRouted()) {
    if (*reason != vswitch::DropReason::kTtlExceeded) return Drop("router", {}, *reason);
    return DropAtRouter("router", router, *reason, slowpath::SlowPathCause::kTtlExceeded);
  }
  ++hops_;
  packet_.set_ttl(static_cast<uint8_t>(packet_.ttl() - 1));
  Note("router", RouterOwner(router.id), fmt::format("in router {}, TTL now {}", router.name, packet_.ttl()));
  RouteOut(router);
}

bool Walk::IsEchoRequest() const {
  const uint8_t request = packet_.is_v4() ? 8 : 128;
  const uint8_t icmp = packet_.is_v4() ? packet::kProtoIcmp : packet::kProtoIcmpv6;
  return packet_.has_icmp() && packet_.ip_proto() == icmp && packet_.icmp_type() == request &&
         packet_.icmp_code() == 0 && !packet_.fragment();
}

void Walk::MakeEchoReply() {
  const IpAddress dst = packet_.ip_dst();
  packet_.set_ip_dst(packet_.ip_src());
  packet_.set_ip_src(dst);
  packet_.set_icmp_type(packet_.is_v4() ? 0 : 129);
  packet_.set_ttl(64);
}

// An echo request to the interface's link-local address is answered on the link that it came from.
bool Walk::ForLinkLocal(const vswitch::RouterView& router) {
  if (!entered_ || !IsEchoRequest()) return false;
  const auto port =
      std::find_if(router.ports.begin(), router.ports.end(), [&](const vswitch::RouterPort& candidate) {
        return candidate.network == router_network_ && candidate.mac == packet_.eth_dst() &&
               candidate.link_local == packet_.ip_dst();
      });
  if (port == router.ports.end()) return false;
  Note("router", RouterOwner(router.id),
       fmt::format("echo request to the interface's link-local address {}: answered", port->link_local));
  MakeEchoReply();
  packet_.set_eth_dst(packet_.eth_src());
  packet_.set_eth_src(port->mac);
  result_.deliveries.push_back({entered_, {}, {}, {}, packet_.frame()});
  return true;
}

// Echo requests to the router's addresses are answered, anything else to them is dropped.
bool Walk::ForRouterItself(const vswitch::RouterView& router) {
  const IpAddress dst = packet_.ip_dst();
  const bool own = std::any_of(router.ports.begin(), router.ports.end(), [&](const vswitch::RouterPort& port) {
    if (!view_.networks.at(port.network).admin_state_up) return false;
    return std::any_of(port.addresses.begin(), port.addresses.end(),
                       [&](const IpPrefix& address) { return address.address() == dst; });
  });
  if (!own) return false;
  if (!IsEchoRequest()) {
    Drop("router", RouterOwner(router.id), vswitch::DropReason::kRouterLocal);
    return true;
  }
  Note("router", RouterOwner(router.id), fmt::format("echo request to the router's address {}: answered", dst));
  MakeEchoReply();
  RouteOut(router);
  return true;
}

void Walk::RouteOut(const vswitch::RouterView& router) {
  const vswitch::Route* best = nullptr;
  for (const vswitch::Route& route : router.routes) {
    if (!route.destination.Contains(packet_.ip_dst())) continue;
    if (best == nullptr || route.destination.length() > best->destination.length()) best = &route;
  }
  if (best == nullptr)
    return DropAtRouter("route", router, vswitch::DropReason::kNoRoute, slowpath::SlowPathCause::kNoRoute);
  const size_t choice = choices_.Pick(best->next_hops.size());
  const vswitch::NextHop& hop = best->next_hops[choice];
  const vswitch::RouterPort& out_port = *vswitch::FindRouterPort(router, hop.out_port);
  const vswitch::NetworkView& network = view_.networks.at(out_port.network);
  if (!network.admin_state_up) return Drop("route", RouterOwner(router.id), vswitch::DropReason::kAdminDown);
  std::string text =
      fmt::format("{} {}into network {} (VNI {})", best->destination,
                  hop.gateway ? fmt::format("via {} ", *hop.gateway) : "", network.name, network.vni);
  if (best->next_hops.size() > 1)
    text += fmt::format(", next hop {} of {}", choice + 1, best->next_hops.size());
  Note("route", RouterOwner(router.id), std::move(text));
  packet_.set_eth_src(out_port.mac);
  if (TooBigFor(network))
    return DropAtRouter("neighbour", router, vswitch::DropReason::kMtu, slowpath::SlowPathCause::kTooBig,
                        network.mtu);
  Resolve(router, out_port, hop.gateway.value_or(packet_.ip_dst()));
}

void Walk::Resolve(const vswitch::RouterView& router, const vswitch::RouterPort& out_port,
                   const IpAddress& next_hop) {
  const auto holder = facts_.FindOwner({out_port.network, next_hop});
  // An IPv6 link-local address is no next hop: it means nothing without its link.
  if (!holder || (next_hop.is_v6() && next_hop.IsLinkLocal()))
    return DropAtRouter("neighbour", router, vswitch::DropReason::kNoNeighbour,
                        slowpath::SlowPathCause::kNoNeighbour);
  Note("neighbour", holder->owner, fmt::format("{} is at {}", next_hop, holder->mac));
  packet_.set_eth_dst(holder->mac);
  entered_.reset();
  Bridge(view_.networks.at(out_port.network));
}

}  // namespace kasane::sim
