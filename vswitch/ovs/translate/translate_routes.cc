#include "vswitch/ovs/translate/translate_routes.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/packet/hex.h"

namespace kasane::ovs {
namespace {

// In kNeighbour.
constexpr uint16_t kTooLarge = 200;
constexpr uint16_t kKnown = 100;
constexpr uint16_t kUnknown = 50;

// In kRoute and kPath: longer prefixes first; room below for nothing but the table's end.
uint16_t RoutePriority(const IpPrefix& destination) {
  return static_cast<uint16_t>(100 + destination.length());
}

// The bits of an address as ovs-actions(7) takes them for a register.
std::string Hex(const IpAddress& ip) { return "0x" + packet::HexText(ip.bytes()); }

std::string Mask(const IpPrefix& prefix) {
  std::vector<uint8_t> bytes(prefix.address().bytes().size(), 0);
  for (size_t bit = 0; bit < static_cast<size_t>(prefix.length()); ++bit) {
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | 0x80 >> bit % 8);
  }
  return "0x" + packet::HexText(bytes);
}

std::string_view Family(IpFamily family) { return family == IpFamily::kV4 ? "ip" : "ipv6"; }
std::string_view NextHopField(IpFamily family) {
  return family == IpFamily::kV4 ? reg::kNextHop4 : reg::kNextHop6;
}

// Sets the next hop's register, with a comma behind it.
std::string SetNextHop(IpFamily family, const std::optional<IpAddress>& gateway) {
  if (gateway) return fmt::format("set_field:{}->{},", Hex(*gateway), NextHopField(family));
  return family == IpFamily::kV4 ? "move:NXM_OF_IP_DST[]->NXM_NX_REG3[],"
                                 : "move:NXM_NX_IPV6_DST[]->NXM_NX_XXREG2[],";
}

class RouteTranslator {
 public:
  RouteTranslator(const IpPrefix& destination, uint32_t router_key,
                  const tables::Claimant<tables::Route>& winner, FlowTable& out)
      : family_(destination.family()),
        priority_(RoutePriority(destination)),
        match_(fmt::format("{},{}={:#x},{}={}", Family(family_), reg::kRouter, router_key,
                           family_ == IpFamily::kV4 ? "nw_dst" : "ipv6_dst", destination)),
        router_key_(router_key),
        route_(winner.value),
        owner_(winner.owner),
        out_(out) {}

  void Translate() const {
    if (route_.hops.size() == 1) return Hop(Table::kRoute, match_, route_.hops.front());
    if (family_ == IpFamily::kV4) {
      Choose("", "symmetric_l3l4+udp");  // Without the ports for fragments.
    } else {
      // Of later fragments of IPv6 the switch does not know the protocol.
      Choose(",nw_frag=no", "symmetric_l3l4+udp");
      Choose(",nw_frag=yes", "symmetric_l3");
    }
    // The longest prefix is the same one again, so the number of the hop is enough.
    for (size_t n = 0; n < route_.hops.size(); ++n) {
      Hop(Table::kPath, fmt::format("{},{}={:#x}", match_, reg::kPath, n), route_.hops[n]);
    }
  }

 private:
  void Choose(std::string_view fragments, std::string_view fields) const {
    // Routers in a row must not all choose alike: each has a basis of its own.
    Add(out_, Table::kRoute, priority_, fmt::format("{}{}", match_, fragments),
        fmt::format("multipath({},{},hrw,{},0,NXM_NX_REG7[]),{}", fields, router_key_ & 0xffff,
                    route_.hops.size(), Goto(Table::kPath)),
        owner_);
  }

  void Hop(Table table, std::string match, const tables::RouteHop& hop) const {
    if (!hop.network_up) {
      AddDrop(out_, table, priority_, std::move(match), owner_, vswitch::DropReason::kAdminDown);
      return;
    }
    Add(out_, table, priority_, std::move(match),
        fmt::format("{}{}set_field:{}->eth_src,{}{}", SetNextHop(family_, hop.gateway), SetMetadata(hop.vni),
                    hop.source, hop.test_mtu ? TestMtu(*hop.test_mtu) : "", Goto(Table::kNeighbour)),
        owner_);
  }

  const IpFamily family_;
  const uint16_t priority_;
  const std::string match_;
  const uint32_t router_key_;
  const tables::Route& route_;
  const vswitch::Owner& owner_;
  FlowTable& out_;
};

}  // namespace

void TranslateRoute(const IpPrefix& destination, uint32_t router_key,
                    const tables::Claimant<tables::Route>& winner, FlowTable& out) {
  RouteTranslator(destination, router_key, winner, out).Translate();
}

void TranslateNeighbour(const IpAddress& ip, const tables::Claimant<tables::Neighbour>& first, FlowTable& out) {
  std::string match = fmt::format("{},{}={},metadata={:#x}", Family(ip.family()), NextHopField(ip.family()),
                                  Hex(ip), first.value.vni.value());
  if (!tables::Forwards(first.rank)) {
    AddReportedDrop(out, Table::kNeighbour, kKnown, std::move(match), first.owner,
                    vswitch::DropReason::kNoNeighbour, slowpath::SlowPathCause::kNoNeighbour);
    return;
  }
  // The packet may leave by the port that it entered, which OVS allows only with another in_port.
  Add(out, Table::kNeighbour, kKnown, std::move(match),
      fmt::format("set_field:{}->eth_dst,load:0xffff->NXM_OF_IN_PORT[],{}", first.value.mac,
                  Resubmit(Table::kL2)),
      first.owner);
}

void TranslateUnknownNeighbour(const IpPrefix& prefix, const tables::Claimant<tables::UnknownNeighbour>& winner,
                               FlowTable& out) {
  const IpFamily family = prefix.family();
  std::string match = fmt::format("{}", Family(family));
  if (prefix.length() == prefix.address().bits()) {
    match += fmt::format(",{}={}", NextHopField(family), Hex(prefix.address()));
  } else if (prefix.length() != 0) {
    match += fmt::format(",{}={}/{}", NextHopField(family), Hex(prefix.address()), Mask(prefix));
  }
  Add(out, Table::kNeighbour, kUnknown, fmt::format("{},metadata={:#x}", match, winner.value.vni.value()),
      ToAgent(slowpath::SlowPathCause::kResolve), winner.owner);
}

void TranslateRoutedNetwork(const tables::Claimant<tables::RoutedNetwork>& winner, FlowTable& out) {
  Add(out, Table::kNeighbour, kTooLarge,
      fmt::format("{}=0x1/0x1,metadata={:#x}", reg::kTooBig, winner.value.vni.value()),
      ToAgent(slowpath::SlowPathCause::kTooBig, winner.value.mtu), winner.owner);
}

}  // namespace kasane::ovs
