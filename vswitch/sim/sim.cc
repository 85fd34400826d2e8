#include "vswitch/sim/sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vswitch/sim/packet.h"
#include "vswitch/sim/port_security.h"

namespace kasane::sim {
namespace {

constexpr int kMaxRouterHops = 8;

Owner PortOwner(const PortId& id) { return {OwnerKind::kPort, id.str()}; }
Owner NetworkOwner(const NetworkId& id) { return {OwnerKind::kNetwork, id.str()}; }
Owner RouterOwner(const RouterId& id) { return {OwnerKind::kRouter, id.str()}; }

// Who holds an address on a network.
struct Holder {
  Owner owner;
  MacAddress mac;
  std::optional<PortId> local;  // The VM port, when it is on this host.
  const RouterPort* router_port = nullptr;
};

// One packet's way through one host.
class Walk {
 public:
  Walk(const HostView& view, const Frame& frame) : view_(view), packet_(frame) {}

  Result FromPort(const PortId& id);
  Result FromTunnel(const IpAddress& outer_source, uint32_t vni);

 private:
  Result Finish() { return std::move(result_); }
  void Note(std::string_view stage, Owner owner, std::string text) {
    result_.steps.push_back({std::string(stage), std::move(owner), std::move(text)});
  }
  void Drop(std::string_view stage, Owner owner, DropReason reason) {
    Note(stage, std::move(owner), fmt::format("dropped: {} ({})", Label(reason), Explanation(reason)));
    result_.drop = reason;
  }
  bool Hygiene();
  bool PortSecurity(const LocalPort& port);
  bool AnswerArp(const NetworkView& network, const PortId& from);
  bool AnswerNd(const NetworkView& network, const PortId& from);
  void Bridge(const NetworkView& network);
  void Replicate(const NetworkView& network);
  void ReplicateLocal(const NetworkView& network);
  bool ToRouter(const NetworkView& network);
  void EnterRouter(const RouterView& router);
  bool ForRouterItself(const RouterView& router);
  std::optional<DropReason> WhyNotRouted() const;
  void RouteOut(const RouterView& router);
  void Resolve(const RouterPort& out_port, const IpAddress& next_hop);
  void DeliverLocal(const LocalPort& port);
  void SendToHost(const HostId& host, const NetworkView& network, const Owner& owner, std::string_view stage);
  std::optional<Holder> FindHolder(const NetworkId& network, const IpAddress& ip) const;

  const HostView& view_;
  Packet packet_;
  Result result_;
  std::optional<PortId> entered_;  // The VM's port, until the packet is routed: not sent back there.
  int hops_ = 0;
};

bool Holds(const std::vector<IpAddress>& ips, const IpAddress& ip) {
  return std::find(ips.begin(), ips.end(), ip) != ips.end();
}

std::optional<Holder> Walk::FindHolder(const NetworkId& network, const IpAddress& ip) const {
  for (const auto& [id, port] : view_.ports) {
    if (port.network == network && port.admin_state_up && Holds(port.ips, ip)) {
      return Holder{PortOwner(id), port.mac, id, nullptr};
    }
  }
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network == network && Holds(endpoint.ips, ip)) {
      return Holder{PortOwner(id), endpoint.mac, std::nullopt, nullptr};
    }
  }
  for (const auto& [id, router] : view_.routers) {
    if (!router.admin_state_up) continue;
    for (const RouterPort& port : router.ports) {
      const bool has = port.link_local == ip ||
                       std::any_of(port.addresses.begin(), port.addresses.end(),
                                   [&](const IpPrefix& address) { return address.address() == ip; });
      if (port.network == network && has) return Holder{RouterOwner(id), port.mac, std::nullopt, &port};
    }
  }
  return std::nullopt;
}

Result Walk::FromPort(const PortId& id) {
  const auto port = view_.ports.find(id);
  if (port == view_.ports.end()) {
    Drop("input", {}, DropReason::kUnknownPort);
    return Finish();
  }
  const NetworkView& network = view_.networks.at(port->second.network);
  if (!port->second.admin_state_up || !network.admin_state_up) {
    Drop("input", PortOwner(id), DropReason::kAdminDown);
    return Finish();
  }
  Note("input", PortOwner(id),
       fmt::format("from port {} into network {} (VNI {}): {}", port->second.name, network.name, network.vni,
                   packet_.Summary()));
  entered_ = id;
  if (Hygiene() && PortSecurity(port->second) && !AnswerArp(network, id) && !AnswerNd(network, id))
    Bridge(network);
  return Finish();
}

Result Walk::FromTunnel(const IpAddress& outer_source, uint32_t vni) {
  const RemoteHost* sender = nullptr;
  for (const auto& [id, host] : view_.hosts) {
    if (host.addresses.v4 == outer_source || host.addresses.v6 == outer_source) sender = &host;
  }
  if (sender == nullptr) {
    Drop("input", {}, DropReason::kUnknownVtep);
    return Finish();
  }
  Note("input", {OwnerKind::kHost, sender->id.str()}, fmt::format("from the tunnel of host {}", sender->id));
  const auto found = std::find_if(view_.networks.begin(), view_.networks.end(),
                                  [&](const auto& entry) { return entry.second.vni.value() == vni; });
  if (found == view_.networks.end()) {
    Drop("tunnel", {}, DropReason::kUnknownVni);
    return Finish();
  }
  const NetworkView& network = found->second;
  if (!network.admin_state_up) {
    Drop("tunnel", NetworkOwner(network.id), DropReason::kAdminDown);
    return Finish();
  }
  Note("tunnel", NetworkOwner(network.id), fmt::format("VNI {} is network {}", vni, network.name));
  if (!packet_.has_ethernet()) {
    Drop("tunnel_l2", {}, DropReason::kMalformed);
    return Finish();
  }
  if (packet_.eth_dst().IsMulticast()) {
    ReplicateLocal(network);
    return Finish();
  }
  for (const auto& [id, port] : view_.ports) {
    if (port.network == network.id && port.admin_state_up && port.mac == packet_.eth_dst()) {
      Note("tunnel_l2", PortOwner(id), fmt::format("{} is port {}", port.mac, port.name));
      DeliverLocal(port);
      return Finish();
    }
  }
  Drop("tunnel_l2", {}, DropReason::kNotLocal);
  return Finish();
}

bool Walk::Hygiene() {
  const auto refuse = [&](DropReason reason) {
    Drop("hygiene", {}, reason);
    return false;
  };
  if (!packet_.has_ethernet()) return refuse(DropReason::kMalformed);
  if (packet_.vlan_tagged()) return refuse(DropReason::kVlanTagged);
  const MacAddress::Bytes dst = packet_.eth_dst().bytes();
  const MacAddress::Bytes reserved = {0x01, 0x80, 0xc2, 0x00, 0x00};
  if (std::equal(dst.begin(), dst.end() - 1, reserved.begin()) && dst[5] < 0x10) {
    return refuse(DropReason::kReservedMulticast);
  }
  if (packet_.eth_src().IsMulticast()) return refuse(DropReason::kMulticastSource);
  if (packet_.malformed()) return refuse(DropReason::kMalformed);
  return true;
}

bool Walk::PortSecurity(const LocalPort& port) {
  if (!port.port_security_enabled) return true;
  const auto reason = WhyRefused(port, packet_);
  if (reason) Drop("port_security", PortOwner(port.id), *reason);
  return !reason;
}

bool Walk::AnswerArp(const NetworkView& network, const PortId& from) {
  if (!packet_.has_arp() || packet_.arp_op() != 1) return false;
  const auto holder = FindHolder(network.id, packet_.arp_tpa());
  if (!holder || holder->local == from) return false;
  Note("arp", holder->owner, fmt::format("answered for {}: {} has it", packet_.arp_tpa(), holder->mac));
  packet_.MakeArpReply(holder->mac);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

bool Walk::AnswerNd(const NetworkView& network, const PortId& from) {
  if (!packet_.has_neighbour_solicitation() || packet_.ip_src().IsUnspecified() || packet_.ttl() != 255)
    return false;
  const auto holder = FindHolder(network.id, packet_.nd_target());
  if (!holder || holder->local == from) return false;
  bool anycast = false;
  if (holder->router_port != nullptr) {
    for (const IpPrefix& own : holder->router_port->addresses) {
      if (own.address() != packet_.nd_target()) continue;
      anycast = own.length() < 127 && own.address() == own.Network().address();
    }
  }
  Note("nd", holder->owner, fmt::format("answered for {}: {} has it", packet_.nd_target(), holder->mac));
  // Router, Solicited, Override (RFC 4861, 4.4); an anycast address is advertised without Override.
  const uint32_t flags =
      (holder->router_port != nullptr ? 0x80000000U : 0U) | 0x40000000U | (anycast ? 0 : 0x20000000U);
  packet_.MakeNeighbourAdvertisement(holder->mac, flags);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

void Walk::Bridge(const NetworkView& network) {
  const MacAddress dst = packet_.eth_dst();
  if (dst.IsMulticast()) return Replicate(network);
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || port.mac != dst || !port.admin_state_up) continue;
    Note("l2", PortOwner(id), fmt::format("{} is local port {}", dst, port.name));
    return DeliverLocal(port);
  }
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network != network.id || endpoint.mac != dst) continue;
    Note("l2", PortOwner(id), fmt::format("{} is port {} on host {}", dst, endpoint.name, endpoint.host));
    return SendToHost(endpoint.host, network, PortOwner(id), "l2");
  }
  if (ToRouter(network)) return;
  Drop("l2", {}, DropReason::kUnknownMac);
}

void Walk::Replicate(const NetworkView& network) {
  Note("l2", NetworkOwner(network.id),
       fmt::format("group address: a copy to each of {} hosts and to the local ports",
                   network.flood_hosts.size()));
  for (const HostId& host : network.flood_hosts) {
    const auto remote = view_.hosts.find(host);
    if (remote == view_.hosts.end() || !remote->second.vtep) continue;
    result_.deliveries.push_back({{}, host, remote->second.vtep, network.vni, packet_.frame()});
  }
  ReplicateLocal(network);
}

void Walk::ReplicateLocal(const NetworkView& network) {
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || !port.admin_state_up || entered_ == id) continue;
    Note("flood_local", NetworkOwner(network.id), fmt::format("copy to port {}", port.name));
    result_.deliveries.push_back({id, {}, {}, {}, packet_.frame()});
  }
}

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

void Walk::DeliverLocal(const LocalPort& port) {
  if (entered_ == port.id) {
    Note("deliver", PortOwner(port.id), "a bridge never sends a frame back to where it came from");
    return;
  }
  Note("deliver", PortOwner(port.id), fmt::format("to port {}", port.name));
  result_.deliveries.push_back({port.id, {}, {}, {}, packet_.frame()});
}

void Walk::SendToHost(const HostId& host, const NetworkView& network, const Owner& owner,
                      std::string_view stage) {
  const auto remote = view_.hosts.find(host);
  if (remote == view_.hosts.end() || !remote->second.vtep) return Drop(stage, owner, DropReason::kNoTunnel);
  result_.deliveries.push_back({{}, host, remote->second.vtep, network.vni, packet_.frame()});
}

}  // namespace

Result FromPort(const HostView& view, const PortId& port, const Frame& frame) {
  return Walk(view, frame).FromPort(port);
}

Result FromTunnel(const HostView& view, const IpAddress& outer_source, uint32_t vni, const Frame& frame) {
  return Walk(view, frame).FromTunnel(outer_source, vni);
}

}  // namespace kasane::sim
