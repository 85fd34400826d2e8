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

namespace {

bool IsGroup(const IpAddress& ip) { return ip.IsMulticast() || ip == IpAddress::V4(0xffffffff); }

// Addresses that mean a host itself, or nobody (RFC 1122, 3.2.1.3; RFC 4291, 2.5.2 and 2.5.3): on no link, so
// that the router is not asked by them either.
bool IsNeverOnALink(const IpAddress& ip) {
  if (ip.IsUnspecified() || ip.IsLoopback()) return true;
  return ip.is_v4() && (ip.v4_host_order() >> 24 == 0 || ip.v4_host_order() >> 24 == 127);
}

}  // namespace

// What is for nobody that a router could reach, not even itself.
std::optional<vswitch::DropReason> Walk::WhyMartian() const {
  const IpAddress src = packet_.ip_src();
  const IpAddress dst = packet_.ip_dst();
  if (IsGroup(dst) || IsGroup(src)) return vswitch::DropReason::kRouterMulticast;
  if (IsNeverOnALink(dst) || IsNeverOnALink(src)) return vswitch::DropReason::kRouterLocal;
  return std::nullopt;
}

// What the router does not forward, though it might be for itself: link-local addresses mean nothing behind it
// (RFC 3927, 2.7; RFC 4291, 2.5.6).
std::optional<vswitch::DropReason> Walk::WhyNotRouted() const {
  if (packet_.ip_dst().IsLinkLocal() || packet_.ip_src().IsLinkLocal())
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
  if (const auto reason = WhyMartian()) return Drop("router", {}, *reason);
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

bool Walk::IsEcho() const {
  const uint8_t request = packet_.is_v4() ? 8 : 128;
  const uint8_t icmp = packet_.is_v4() ? packet::kProtoIcmp : packet::kProtoIcmpv6;
  return packet_.has_icmp() && packet_.ip_proto() == icmp && packet_.icmp_type() == request &&
         packet_.icmp_code() == 0;
}

// A fragment of what may be an echo request: whose protocol, of IPv6, only the first fragment tells.
bool Walk::MayBePartOfEcho() const {
  if (!packet_.fragment()) return false;
  if (packet_.later_fragment()) return !packet_.is_v4() || packet_.ip_proto() == packet::kProtoIcmp;
  return IsEcho();
}

void Walk::MakeEchoReply() {
  const IpAddress dst = packet_.ip_dst();
  packet_.set_ip_dst(packet_.ip_src());
  packet_.set_ip_src(dst);
  packet_.set_icmp_type(packet_.is_v4() ? 0 : 129);
  packet_.set_ttl(64);
}

bool Walk::IsOwnAddress(const vswitch::RouterView& router, const IpAddress& ip) const {
  return std::any_of(router.ports.begin(), router.ports.end(), [&](const vswitch::RouterPort& port) {
    if (!view_.networks.at(port.network).admin_state_up) return false;
    return std::any_of(port.addresses.begin(), port.addresses.end(),
                       [&](const IpPrefix& address) { return address.address() == ip; });
  });
}

// An echo request to the interface's link-local address, or from one to any address of the router, is answered
// on the link that it came from.
bool Walk::ForLinkLocal(const vswitch::RouterView& router) {
  const bool is_part = MayBePartOfEcho();
  if (!entered_ || (!IsEchoRequest() && !is_part)) return false;
  const IpAddress dst = packet_.ip_dst();
  const bool own_link_local =
      std::any_of(router.ports.begin(), router.ports.end(), [&](const vswitch::RouterPort& candidate) {
        return candidate.network == router_network_ && candidate.mac == packet_.eth_dst() &&
               candidate.link_local == dst;
      });
  if (!own_link_local && !(packet_.ip_src().IsLinkLocal() && IsOwnAddress(router, dst))) return false;
  if (is_part) {
    AskSlowPath(router_network_, slowpath::SlowPathCause::kEcho, router.id);
    return true;
  }
  Note("router", RouterOwner(router.id), fmt::format("echo request to {} on its link: answered", dst));
  MakeEchoReply();
  const MacAddress interface = packet_.eth_dst();
  packet_.set_eth_dst(packet_.eth_src());
  packet_.set_eth_src(interface);
  result_.deliveries.push_back({entered_, {}, {}, {}, packet_.frame()});
  return true;
}

// Echo requests to the router's addresses are answered, anything else to them is dropped.
bool Walk::ForRouterItself(const vswitch::RouterView& router) {
  const IpAddress dst = packet_.ip_dst();
  if (!IsOwnAddress(router, dst)) return false;
  if (MayBePartOfEcho()) {
    AskSlowPath(router_network_, slowpath::SlowPathCause::kEcho, router.id);
    return true;
  }
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
  const vswitch::Route* best = facts_.FindRoute(router, packet_.ip_dst());
  if (best == nullptr)
    return DropAtRouter("route", router, vswitch::DropReason::kNoRoute, slowpath::SlowPathCause::kNoRoute);
  const std::vector<vswitch::NextHop> hops = facts_.UsableHops(router, *best);
  // Fragments of one datagram stay together.
  const size_t choice = packet_.fragment() ? choices_.PickFor({router.id, packet_.ip_dst()}, hops.size())
                                           : choices_.Pick(hops.size());
  const vswitch::NextHop& hop = hops[choice];
  const vswitch::RouterPort& out_port = *vswitch::FindRouterPort(router, hop.out_port);
  const vswitch::NetworkView& network = view_.networks.at(out_port.network);
  if (!network.admin_state_up) return Drop("route", RouterOwner(router.id), vswitch::DropReason::kAdminDown);
  std::string text =
      fmt::format("{} {}into network {} (VNI {})", best->destination,
                  hop.gateway ? fmt::format("via {} ", *hop.gateway) : "", network.name, network.vni);
  if (hops.size() > 1) text += fmt::format(", next hop {} of {}", choice + 1, hops.size());
  Note("route", RouterOwner(router.id), std::move(text));
  packet_.set_eth_src(out_port.mac);
  if (TooBigFor(network))
    return DropAtRouter("neighbour", router, vswitch::DropReason::kMtu, slowpath::SlowPathCause::kTooBig,
                        network.mtu);
  Resolve(router, out_port, hop.gateway.value_or(packet_.ip_dst()));
}

void Walk::Resolve(const vswitch::RouterView& router, const vswitch::RouterPort& out_port,
                   const IpAddress& next_hop) {
  const vswitch::ClaimKey address(out_port.network, next_hop);
  // An IPv6 link-local address is no next hop: it means nothing without its link.
  const bool on_link_only = next_hop.is_v6() && next_hop.IsLinkLocal();
  const auto mac = on_link_only ? std::nullopt : facts_.FindNextHop(address);
  if (!mac) {
    if (on_link_only || unanswered_.contains(address) || facts_.FindCandidates(address).empty())
      return DropAtRouter("neighbour", router, vswitch::DropReason::kNoNeighbour,
                          slowpath::SlowPathCause::kNoNeighbour);
    Note("neighbour", RouterOwner(router.id), fmt::format("nobody has announced {}: asks", next_hop));
    return AskForNextHop(router, address);
  }
  const auto owner = facts_.FindOwner(address);
  Note("neighbour", owner ? owner->owner : RouterOwner(router.id), fmt::format("{} is at {}", next_hop, *mac));
  packet_.set_eth_dst(*mac);
  entered_.reset();
  Bridge(view_.networks.at(out_port.network));
}

}  // namespace kasane::sim
