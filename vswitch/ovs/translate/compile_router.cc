#include "vswitch/ovs/translate/compile_router.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/packet/hex.h"

namespace kasane::ovs {
namespace {

const vswitch::Owner kPipelineOwner;

// Priorities in kRouter, from the packet's point of view: loops first, then what is for nobody that a router
// could reach, then what is for the router itself (whatever its TTL), then what may not be forwarded, then
// forwarding.
constexpr uint16_t kLoop = 200;
constexpr uint16_t kMulticast = 190;  // Above kMartian: a packet may be both.
constexpr uint16_t kMartian = 180;
constexpr uint16_t kLinkEcho = 175;  // Answered on the link that it came from.
constexpr uint16_t kEcho = 170;
constexpr uint16_t kOwnAddress = 160;
constexpr uint16_t kNotRouted = 150;
constexpr uint16_t kTtl = 120;
constexpr uint16_t kForward = 50;

// Longer prefixes first; room below for nothing but the table's end.
uint16_t RoutePriority(const IpPrefix& destination) {
  return static_cast<uint16_t>(100 + destination.length());
}

// The 128 bits of an IPv6 address as ovs-actions(7) takes them for a register.
std::string Hex(const IpAddress& ip) { return "0x" + packet::HexText(ip.bytes()); }

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

// The answer to an echo request, back to where it came from on its link; the addresses are still to be set.
constexpr std::string_view kBackOnTheLink =
    "push:NXM_OF_ETH_SRC[],push:NXM_OF_ETH_DST[],pop:NXM_OF_ETH_SRC[],pop:NXM_OF_ETH_DST[],set_field:64->nw_"
    "ttl,in_port";

std::string InRouter(uint32_t key) { return fmt::format("{}={:#x}", reg::kRouter, key); }

// The router answers echo requests to its addresses; the reply is routed like any packet of its own, or goes
// back on the link to a link-local address, which is on no other.
void CompileOwnAddress(uint32_t key, const IpAddress& ip, const vswitch::Owner& owner, FlowTable& out) {
  const bool v4 = ip.is_v4();
  const std::string to_it = fmt::format("{},{}={}", InRouter(key), v4 ? "nw_dst" : "ipv6_dst", ip);
  const std::string echo =
      fmt::format("{},{},icmp_type={},icmp_code=0,nw_frag=no", v4 ? "icmp" : "icmp6", to_it, v4 ? 8 : 128);
  const std::string reply =
      v4 ? fmt::format("move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[],set_field:{}->ip_src,set_field:0->icmp_type,", ip)
         : fmt::format(
               "move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{}->ipv6_src,set_field:129->icmpv6_type,",
               ip);
  Add(out, Table::kRouter, kEcho, echo, fmt::format("{}set_field:64->nw_ttl,{}", reply, Goto(Table::kRoute)),
      owner);
  Add(out, Table::kRouter, kLinkEcho,
      fmt::format("{},{}", echo, v4 ? "nw_src=169.254.0.0/16" : "ipv6_src=fe80::/10"),
      fmt::format("{}{}", reply, kBackOnTheLink), owner);
  AddDrop(out, Table::kRouter, kOwnAddress, fmt::format("{},{}", v4 ? "ip" : "ipv6", to_it), owner,
          vswitch::DropReason::kRouterLocal);
}

// An echo request to the interface's link-local address is answered on the link that it came from.
void CompileLinkLocal(const vswitch::RouterPort& port, Vni vni, uint32_t key, const vswitch::Owner& owner,
                      FlowTable& out) {
  Add(out, Table::kRouter, kEcho,
      fmt::format("icmp6,{},metadata={:#x},dl_dst={},ipv6_dst={},icmp_type=128,icmp_code=0,nw_frag=no",
                  InRouter(key), vni.value(), port.mac, port.link_local),
      fmt::format("move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{}->eth_src,"
                  "move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{}->ipv6_src,set_field:129->icmpv6_type,"
                  "set_field:64->nw_ttl,in_port",
                  port.mac, port.link_local),
      owner);
}

// Whether a router must test what it sends into `network`: nothing enters a router that is larger than the
// largest MTU here, nor are the router's own ICMP errors larger than 1,280 bytes.
bool NeedsMtuTest(const vswitch::HostView& view, const vswitch::NetworkView& network) {
  uint32_t largest = 1280;
  for (const auto& [id, other] : view.networks) largest = std::max(largest, other.mtu);
  return network.mtu < largest;
}

// One next hop of a route, in the table that chose it.
struct Path {
  Table table;
  uint16_t priority;
  std::string match;
};

void CompilePath(const vswitch::HostView& view, const vswitch::RouterView& router, const vswitch::Route& route,
                 const vswitch::NextHop& hop, Path path, const vswitch::Owner& owner, FlowTable& out) {
  const vswitch::RouterPort& port = *vswitch::FindRouterPort(router, hop.out_port);
  const vswitch::NetworkView& network = view.networks.at(port.network);
  if (!network.admin_state_up) {
    AddDrop(out, path.table, path.priority, std::move(path.match), owner, vswitch::DropReason::kAdminDown);
    return;
  }
  Add(out, path.table, path.priority, std::move(path.match),
      fmt::format("{}{}set_field:{}->eth_src,{}{}", SetNextHop(route.destination, hop.gateway),
                  SetMetadata(network.vni), port.mac, NeedsMtuTest(view, network) ? TestMtu(network.mtu) : "",
                  Goto(Table::kNeighbour)),
      owner);
}

// `several` counts the router's routes of more than one next hop.
void CompileRoute(const vswitch::HostView& view, const vswitch::RouterView& router, uint32_t key,
                  const vswitch::Route& route, uint32_t& several, const vswitch::Owner& owner, FlowTable& out) {
  const bool v4 = route.destination.family() == IpFamily::kV4;
  const std::string family = v4 ? "ip" : "ipv6";
  const std::string match =
      fmt::format("{},{},{}={}", family, InRouter(key), v4 ? "nw_dst" : "ipv6_dst", route.destination);
  const uint16_t priority = RoutePriority(route.destination);
  if (route.next_hops.size() == 1) {
    CompilePath(view, router, route, route.next_hops.front(), {Table::kRoute, priority, match}, owner, out);
    return;
  }
  const uint32_t number = several++ << 16;
  const auto choose = [&](std::string_view fragments, std::string_view fields) {
    // Routers in a row must not all choose alike: each has a basis of its own.
    Add(out, Table::kRoute, priority, fmt::format("{}{}", match, fragments),
        fmt::format("set_field:{:#x}->{},multipath({},{},hrw,{},0,NXM_NX_REG7[0..15]),{}", number, reg::kPath,
                    fields, key & 0xffff, route.next_hops.size(), Goto(Table::kPath)),
        owner);
  };
  if (v4) {
    choose("", "symmetric_l3l4+udp");  // Without the ports for fragments.
  } else {
    // Of later fragments of IPv6 the switch does not know the protocol.
    choose(",nw_frag=no", "symmetric_l3l4+udp");
    choose(",nw_frag=yes", "symmetric_l3");
  }
  for (uint32_t n = 0; n < route.next_hops.size(); ++n) {
    CompilePath(
        view, router, route, route.next_hops[n],
        {Table::kPath, 100, fmt::format("{},{},{}={:#x}", family, InRouter(key), reg::kPath, number | n)},
        owner, out);
  }
}

void CompileNeighbour(Vni vni, const IpAddress& ip, const MacAddress& mac, const vswitch::Owner& owner,
                      FlowTable& out) {
  // The packet may leave by the port that it entered, which OVS allows only with another in_port.
  Add(out, Table::kNeighbour, 100, fmt::format("{},metadata={:#x}", NextHopMatch(ip), vni.value()),
      fmt::format("set_field:{}->eth_dst,load:0xffff->NXM_OF_IN_PORT[],resubmit(,{})", mac,
                  static_cast<int>(Table::kL2)),
      owner);
}

}  // namespace

void CompileRouterPipeline(FlowTable& out) {
  const auto drop = [&](uint16_t priority, std::string match, vswitch::DropReason reason) {
    AddDrop(out, Table::kRouter, priority, std::move(match), kPipelineOwner, reason);
  };
  drop(kLoop, fmt::format("{}={}", reg::kHops, vswitch::kMaxRouterHops), vswitch::DropReason::kRouterLoop);
  const auto drop_either = [&](uint16_t priority, std::initializer_list<std::string_view> prefixes,
                               vswitch::DropReason reason) {
    for (const std::string_view prefix : prefixes) {
      const bool v4 = prefix.find(':') == std::string_view::npos;
      for (const char* end : {"src", "dst"}) {
        drop(priority, fmt::format("{}_{}={}", v4 ? "ip,nw" : "ipv6,ipv6", end, prefix), reason);
      }
    }
  };
  drop_either(kMulticast, {"224.0.0.0/4", "255.255.255.255", "ff00::/8"},
              vswitch::DropReason::kRouterMulticast);
  // A host itself, or nobody (RFC 1122, 3.2.1.3; RFC 4291, 2.5.2 and 2.5.3).
  drop_either(kMartian, {"0.0.0.0/8", "127.0.0.0/8", "::", "::1"}, vswitch::DropReason::kRouterLocal);
  // Link-local packets never leave their link (RFC 3927, 2.7; RFC 4291, 2.5.6).
  drop_either(kNotRouted, {"169.254.0.0/16", "fe80::/10"}, vswitch::DropReason::kRouterLocal);
  for (const char* family : {"ip", "ipv6"}) {
    for (const int ttl : {0, 1}) {
      AddReportedDrop(out, Table::kRouter, kTtl, fmt::format("{},nw_ttl={}", family, ttl), kPipelineOwner,
                      vswitch::DropReason::kTtlExceeded, slowpath::SlowPathCause::kTtlExceeded);
    }
    for (int hops = 0; hops < vswitch::kMaxRouterHops; ++hops) {
      Add(out, Table::kRouter, kForward, fmt::format("{},{}={}", family, reg::kHops, hops),
          fmt::format("set_field:{}->{},dec_ttl,{}", hops + 1, reg::kHops, Goto(Table::kRoute)),
          kPipelineOwner);
    }
  }
  drop(0, "", vswitch::DropReason::kRouterNotIp);
  AddReportedDrop(out, Table::kRoute, 0, "", kPipelineOwner, vswitch::DropReason::kNoRoute,
                  slowpath::SlowPathCause::kNoRoute);
  AddReportedDrop(out, Table::kNeighbour, 0, "", kPipelineOwner, vswitch::DropReason::kNoNeighbour,
                  slowpath::SlowPathCause::kNoNeighbour);
}

std::map<RouterId, uint32_t> AssignRouterKeys(const std::map<RouterId, vswitch::RouterView>& routers) {
  std::map<RouterId, uint32_t> keys;
  std::set<uint32_t> taken;
  for (const auto& [id, router] : routers) {
    uint32_t key = RouterKey(id.str());
    while (key == 0 || !taken.insert(key).second) ++key;
    keys.emplace(id, key);
  }
  return keys;
}

void CompileRouter(const vswitch::HostView& view, const vswitch::RouterView& router, uint32_t key,
                   FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kRouter, router.id.str()};
  for (const vswitch::RouterPort& port : router.ports) {
    const vswitch::NetworkView& network = view.networks.at(port.network);
    if (!network.admin_state_up) continue;
    const std::string to_router = fmt::format("metadata={:#x},dl_dst={}", network.vni.value(), port.mac);
    if (!router.admin_state_up) {
      AddDrop(out, Table::kL2, 100, to_router, owner, vswitch::DropReason::kAdminDown);
      continue;
    }
    Add(out, Table::kL2, 100, to_router,
        fmt::format("set_field:{:#x}->{},set_field:{:#x}->{},{}", key, reg::kRouter, network.vni.value(),
                    reg::kEntry, Goto(Table::kRouter)),
        owner);
    CompileLinkLocal(port, network.vni, key, owner, out);
    for (const IpPrefix& address : port.addresses) CompileOwnAddress(key, address.address(), owner, out);
  }
  uint32_t several = 0;
  for (const vswitch::Route& route : router.routes) CompileRoute(view, router, key, route, several, owner, out);
}

void CompileNeighbours(const vswitch::HostView& view, FlowTable& out) {
  std::set<NetworkId> routed;
  for (const auto& [id, router] : view.routers) {
    if (!router.admin_state_up) continue;
    const vswitch::Owner owner{vswitch::OwnerKind::kRouter, id.str()};
    for (const vswitch::RouterPort& port : router.ports) {
      const vswitch::NetworkView& network = view.networks.at(port.network);
      if (!network.admin_state_up) continue;
      if (routed.insert(port.network).second && NeedsMtuTest(view, network)) {
        Add(out, Table::kNeighbour, 200,
            fmt::format("{}=0x1/0x1,metadata={:#x}", reg::kTooBig, network.vni.value()),
            ToAgent(slowpath::SlowPathCause::kTooBig, network.mtu),
            {vswitch::OwnerKind::kNetwork, network.id.str()});
      }
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
      CompileNeighbour(vni, ip, port.mac, {vswitch::OwnerKind::kPort, port.id.str()}, out);
    }
  };
  for (const auto& [id, port] : view.ports) {
    if (port.admin_state_up) add(port);
  }
  for (const auto& [id, endpoint] : view.endpoints) add(endpoint);
  for (const auto& [key, claim] : view.claims) {
    if (routed.count(key.first) == 0) continue;
    CompileNeighbour(view.networks.at(key.first).vni, key.second, claim.mac,
                     {vswitch::OwnerKind::kPort, claim.port.str()}, out);
  }
}

}  // namespace kasane::ovs
