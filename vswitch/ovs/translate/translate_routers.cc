#include "vswitch/ovs/translate/translate_routers.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "vswitch/ovs/translate/actions.h"

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

// The answer to an echo request, back to where it came from on its link; the addresses are still to be set.
constexpr std::string_view kBackOnTheLink =
    "push:NXM_OF_ETH_SRC[],push:NXM_OF_ETH_DST[],pop:NXM_OF_ETH_SRC[],pop:NXM_OF_ETH_DST[],set_field:64->nw_"
    "ttl,in_port";

// What may be a part of an echo request to an address of the router goes to the agent, which puts it together:
// the first fragment says what it is; later ones of IPv6 do not even say their protocol.
void AddFragments(const std::string& to_it, bool v4, const vswitch::Owner& owner, FlowTable& out) {
  const std::string ask = ToAgent(slowpath::SlowPathCause::kEcho);
  Add(out, Table::kRouter, kEcho,
      fmt::format("{},{},icmp_type={},icmp_code=0,nw_frag=first", v4 ? "icmp" : "icmp6", to_it, v4 ? 8 : 128),
      ask, owner);
  Add(out, Table::kRouter, kEcho, fmt::format("{},{},nw_frag=later", v4 ? "icmp" : "ipv6", to_it), ask, owner);
}

std::string InRouter(uint32_t key) { return fmt::format("{}={:#x}", reg::kRouter, key); }

// The router answers echo requests to its addresses; the reply is routed like any packet of its own, or goes
// back on the link to a link-local address, which is on no other.
void AddOwnAddress(uint32_t key, const IpAddress& ip, const vswitch::Owner& owner, FlowTable& out) {
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
  AddFragments(to_it, v4, owner, out);
  AddDrop(out, Table::kRouter, kOwnAddress, fmt::format("{},{}", v4 ? "ip" : "ipv6", to_it), owner,
          vswitch::DropReason::kRouterLocal);
}

// An echo request to the interface's link-local address is answered on the link that it came from.
void AddLinkLocal(const vswitch::RouterPort& port, Vni vni, uint32_t key, const vswitch::Owner& owner,
                  FlowTable& out) {
  const std::string to_it = fmt::format("{},metadata={:#x},dl_dst={},ipv6_dst={}", InRouter(key), vni.value(),
                                        port.mac, port.link_local);
  Add(out, Table::kRouter, kEcho, fmt::format("icmp6,{},icmp_type=128,icmp_code=0,nw_frag=no", to_it),
      fmt::format("move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{}->eth_src,"
                  "move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{}->ipv6_src,set_field:129->icmpv6_type,"
                  "set_field:64->nw_ttl,in_port",
                  port.mac, port.link_local),
      owner);
  AddFragments(to_it, false, owner, out);
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

void TranslateInterface(const tables::Claimant<tables::Interface>& winner, uint32_t router_number,
                        FlowTable& out) {
  const tables::Interface& interface = winner.value;
  if (!interface.network_up) return;
  AddLinkLocal(interface.port, interface.vni, router_number, winner.owner, out);
  for (const IpPrefix& address : interface.port.addresses) {
    AddOwnAddress(router_number, address.address(), winner.owner, out);
  }
}

}  // namespace kasane::ovs
