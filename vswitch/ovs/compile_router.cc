#include "vswitch/ovs/compile_router.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "vswitch/ovs/actions.h"

namespace kasane::ovs {
namespace {

const Owner kPipelineOwner;

// Priorities in kRouter, from the packet's point of view: loops first, then what is for the router
// itself (whatever its TTL), then what may not be forwarded, then forwarding.
constexpr uint16_t kLoop = 200;
constexpr uint16_t kEcho = 170;
constexpr uint16_t kOwnAddress = 160;
constexpr uint16_t kMulticast = 155;  // Above kNotRouted: a packet from a link-local address may be both.
constexpr uint16_t kNotRouted = 150;
constexpr uint16_t kTtl = 120;
constexpr uint16_t kForward = 50;

// Longer prefixes first; room below for nothing but the table's end.
uint16_t RoutePriority(const IpPrefix& destination) {
  return static_cast<uint16_t>(100 + destination.length());
}

// The 128 bits of an IPv6 address as ovs-actions(7) takes them for a register.
std::string Hex(const IpAddress& ip) {
  std::string text = "0x";
  for (const uint8_t byte : ip.bytes()) text += fmt::format("{:02x}", byte);
  return text;
}

std::string NextHopMatch(const IpAddress& ip) {
  return ip.is_v4() ? fmt::format("ip,{}={}", reg::kNextHop4, Hex(ip))
                    : fmt::format("ipv6,{}={}", reg::kNextHop6, Hex(ip));
}

// Sets the next hop's register, with a comma behind it.
std::string SetNextHop(const IpPrefix& destination, const std::optional<IpAddress>& gateway) {
  const bool v4 = destination.family() == IpFamily::kV4;
  if (gateway) return fmt::format("set_field:{}->{},", Hex(*gateway), v4 ? reg::kNextHop4 : reg::kNextHop6);
  return v4 ? "move:NXM_OF_IP_DST[]->NXM_NX_REG3[]," : "move:NXM_NX_IPV6_DST[]->NXM_NX_XXREG2[],";
}

std::string InRouter(uint32_t key) { return fmt::format("{}={:#x}", reg::kRouter, key); }

// The router answers echo requests to its addresses; the reply is routed like any packet of its own.
void CompileOwnAddress(uint32_t key, const IpAddress& ip, const Owner& owner, FlowTable& out) {
  const std::string in_router = InRouter(key);
  if (ip.is_v4()) {
    Add(out, Table::kRouter, kEcho,
        fmt::format("icmp,{},nw_dst={},icmp_type=8,icmp_code=0,nw_frag=no", in_router, ip),
        fmt::format("move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[],set_field:{}->ip_src,set_field:0->icmp_type,"
                    "set_field:64->nw_ttl,{}",
                    ip, Goto(Table::kRoute)),
        owner);
    AddDrop(out, Table::kRouter, kOwnAddress, fmt::format("ip,{},nw_dst={}", in_router, ip), owner,
            DropReason::kRouterLocal);
    return;
  }
  Add(out, Table::kRouter, kEcho,
      fmt::format("icmp6,{},ipv6_dst={},icmp_type=128,icmp_code=0,nw_frag=no", in_router, ip),
      fmt::format("move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{}->ipv6_src,set_field:129->icmpv6_type,"
                  "set_field:64->nw_ttl,{}",
                  ip, Goto(Table::kRoute)),
      owner);
  AddDrop(out, Table::kRouter, kOwnAddress, fmt::format("ipv6,{},ipv6_dst={}", in_router, ip), owner,
          DropReason::kRouterLocal);
}

void CompileRoute(const HostView& view, const RouterView& router, uint32_t key, const Route& route,
                  const Owner& owner, FlowTable& out) {
  const bool v4 = route.destination.family() == IpFamily::kV4;
  const std::string match = fmt::format("{},{},{}={}", v4 ? "ip" : "ipv6", InRouter(key),
                                        v4 ? "nw_dst" : "ipv6_dst", route.destination);
  // Of several equal next hops the first one forwards.
  const NextHop& hop = route.next_hops.front();
  const RouterPort& port = *FindRouterPort(router, hop.out_port);
  const NetworkView& network = view.networks.at(port.network);
  const uint16_t priority = RoutePriority(route.destination);
  if (!network.admin_state_up) {
    AddDrop(out, Table::kRoute, priority, match, owner, DropReason::kAdminDown);
    return;
  }
  Add(out, Table::kRoute, priority, match,
      fmt::format("{}{}set_field:{}->eth_src,{}", SetNextHop(route.destination, hop.gateway),
                  SetMetadata(network.vni), port.mac, Goto(Table::kNeighbour)),
      owner);
}

void CompileNeighbour(Vni vni, const IpAddress& ip, const MacAddress& mac, const Owner& owner, FlowTable& out) {
  // The packet may leave by the port that it entered, which OVS allows only with another in_port.
  Add(out, Table::kNeighbour, 100, fmt::format("{},metadata={:#x}", NextHopMatch(ip), vni.value()),
      fmt::format("set_field:{}->eth_dst,load:0xffff->NXM_OF_IN_PORT[],resubmit(,{})", mac,
                  static_cast<int>(Table::kL2)),
      owner);
}

}  // namespace

void CompileRouterPipeline(FlowTable& out) {
  const auto drop = [&](uint16_t priority, std::string match, DropReason reason) {
    AddDrop(out, Table::kRouter, priority, std::move(match), kPipelineOwner, reason);
  };
  drop(kLoop, fmt::format("{}={}", reg::kHops, kMaxRouterHops), DropReason::kRouterLoop);
  drop(kMulticast, "ip,nw_dst=224.0.0.0/4", DropReason::kRouterMulticast);
  drop(kMulticast, "ip,nw_dst=255.255.255.255", DropReason::kRouterMulticast);
  drop(kMulticast, "ipv6,ipv6_dst=ff00::/8", DropReason::kRouterMulticast);
  // Link-local packets never leave their link (RFC 4291, 2.5.6).
  drop(kNotRouted, "ipv6,ipv6_dst=fe80::/10", DropReason::kRouterLocal);
  drop(kNotRouted, "ipv6,ipv6_src=fe80::/10", DropReason::kRouterLocal);
  for (const char* family : {"ip", "ipv6"}) {
    for (const int ttl : {0, 1}) drop(kTtl, fmt::format("{},nw_ttl={}", family, ttl), DropReason::kTtlExceeded);
    for (int hops = 0; hops < kMaxRouterHops; ++hops) {
      Add(out, Table::kRouter, kForward, fmt::format("{},{}={}", family, reg::kHops, hops),
          fmt::format("set_field:{}->{},dec_ttl,{}", hops + 1, reg::kHops, Goto(Table::kRoute)),
          kPipelineOwner);
    }
  }
  drop(0, "", DropReason::kRouterNotIp);
  AddDrop(out, Table::kRoute, 0, "", kPipelineOwner, DropReason::kNoRoute);
  AddDrop(out, Table::kNeighbour, 0, "", kPipelineOwner, DropReason::kNoNeighbour);
}

std::map<RouterId, uint32_t> AssignRouterKeys(const std::map<RouterId, RouterView>& routers) {
  std::map<RouterId, uint32_t> keys;
  std::set<uint32_t> taken;
  for (const auto& [id, router] : routers) {
    uint32_t key = RouterKey(id.str());
    while (key == 0 || !taken.insert(key).second) ++key;
    keys.emplace(id, key);
  }
  return keys;
}

void CompileRouter(const HostView& view, const RouterView& router, uint32_t key, FlowTable& out) {
  const Owner owner{OwnerKind::kRouter, router.id.str()};
  for (const RouterPort& port : router.ports) {
    const NetworkView& network = view.networks.at(port.network);
    if (!network.admin_state_up) continue;
    const std::string to_router = fmt::format("metadata={:#x},dl_dst={}", network.vni.value(), port.mac);
    if (!router.admin_state_up) {
      AddDrop(out, Table::kL2, 100, to_router, owner, DropReason::kAdminDown);
      continue;
    }
    Add(out, Table::kL2, 100, to_router,
        fmt::format("set_field:{:#x}->{},{}", key, reg::kRouter, Goto(Table::kRouter)), owner);
    for (const IpPrefix& address : port.addresses) CompileOwnAddress(key, address.address(), owner, out);
  }
  for (const Route& route : router.routes) CompileRoute(view, router, key, route, owner, out);
}

void CompileNeighbours(const HostView& view, FlowTable& out) {
  std::set<NetworkId> routed;
  for (const auto& [id, router] : view.routers) {
    if (!router.admin_state_up) continue;
    const Owner owner{OwnerKind::kRouter, id.str()};
    for (const RouterPort& port : router.ports) {
      const NetworkView& network = view.networks.at(port.network);
      if (!network.admin_state_up) continue;
      routed.insert(port.network);
      for (const IpPrefix& address : port.addresses) {
        CompileNeighbour(network.vni, address.address(), port.mac, owner, out);
      }
    }
  }
  const auto add = [&](const auto& port) {
    if (routed.count(port.network) == 0) return;
    const Vni vni = view.networks.at(port.network).vni;
    for (const IpAddress& ip : port.ips) {
      if (view.claims.count({port.network, ip}) != 0) continue;
      CompileNeighbour(vni, ip, port.mac, {OwnerKind::kPort, port.id.str()}, out);
    }
  };
  for (const auto& [id, port] : view.ports) {
    if (port.admin_state_up) add(port);
  }
  for (const auto& [id, endpoint] : view.endpoints) add(endpoint);
  for (const auto& [key, claim] : view.claims) {
    if (routed.count(key.first) == 0) continue;
    CompileNeighbour(view.networks.at(key.first).vni, key.second, claim.mac,
                     {OwnerKind::kPort, claim.port.str()}, out);
  }
}

}  // namespace kasane::ovs
