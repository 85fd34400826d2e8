#include <fmt/format.h>
#include <tins/arp.h>
#include <tins/ethernetII.h>
#include <tins/icmpv6.h>
#include <tins/ipv6.h>

#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
namespace {

// Who asks: an interface of the router on the egress network, and its address there.
struct Asker {
  MacAddress mac;
  IpAddress ip;
};

// Of the subnet that `next_hop` is in; for IPv6 the link-local address serves as well (RFC 4861, 7.2.2).
std::optional<Asker> FindAsker(const std::vector<vswitch::RouterPort>& interfaces, const NetworkId& egress,
                               const IpAddress& next_hop) {
  std::optional<Asker> other;
  for (const vswitch::RouterPort& port : interfaces) {
    if (port.network != egress) continue;
    for (const IpPrefix& own : port.addresses) {
      if (own.family() == next_hop.family() && own.Contains(next_hop)) return Asker{port.mac, own.address()};
    }
    if (next_hop.is_v6() && !other) other = Asker{port.mac, port.link_local};
  }
  return other;
}

std::vector<uint8_t> QuestionOf(const Asker& asker, const IpAddress& next_hop) {
  if (next_hop.is_v4()) {
    Tins::ARP arp(next_hop.ToString(), asker.ip.ToString(), MacAddress().ToString(), asker.mac.ToString());
    arp.opcode(Tins::ARP::REQUEST);
    Tins::EthernetII frame = Tins::EthernetII(MacAddress::Broadcast().ToString(), asker.mac.ToString()) / arp;
    return frame.serialize();
  }
  const IpAddress group = SolicitedNode(next_hop);
  Tins::ICMPv6 message(Tins::ICMPv6::NEIGHBOUR_SOLICIT);
  message.target_addr(Tins::IPv6Address(next_hop.ToString()));
  message.source_link_layer_addr(Tins::ICMPv6::hwaddress_type(asker.mac.ToString()));
  Tins::IPv6 ip(group.ToString(), asker.ip.ToString());
  ip.hop_limit(255);
  Tins::EthernetII frame =
      Tins::EthernetII(MulticastMac(group).ToString(), asker.mac.ToString()) / ip / message;
  return frame.serialize();
}

SlowPathOutcome NobodyHasIt(const NetworkFacts& facts, const SlowPathPacket& in) {
  SlowPathPacket given_up = in;
  given_up.cause = SlowPathCause::kNoNeighbour;
  SlowPathOutcome out = SendIcmpError(facts, given_up);
  out.drop = vswitch::DropReason::kNoNeighbour;
  return out;
}

}  // namespace

SlowPathOutcome AskForNextHop(const NetworkFacts& facts, const SlowPathPacket& in) {
  SlowPathOutcome out;
  const auto vni = facts.FindVni(in.egress);
  if (!in.router || !in.next_hop || !vni) {
    out.drop = vswitch::DropReason::kNoNeighbour;
    out.text = "not asked: the router or the network is gone";
    return out;
  }
  const vswitch::ClaimKey address(in.egress, *in.next_hop);
  if (facts.FindNextHop(address)) {
    // Announced while it was on its way here.
    out.text = fmt::format("{} is known by now", *in.next_hop);
    out.injections.push_back({{}, in.router, {}, {}, in.frame});
    return out;
  }
  const Candidates candidates = facts.FindCandidates(address);
  const auto asker = FindAsker(facts.FindInterfaces(*in.router), in.egress, *in.next_hop);
  if (candidates.empty() || !asker) return NobodyHasIt(facts, in);
  const std::vector<uint8_t> question = QuestionOf(*asker, *in.next_hop);
  for (const PortId& port : candidates.ports) out.injections.push_back({port, {}, {}, {}, question});
  for (const HostId& host : candidates.hosts) out.injections.push_back({{}, {}, host, vni, question});
  out.waits_for = address;
  out.text = fmt::format("waits for {}: {} ports here and {} hosts are asked", *in.next_hop,
                         candidates.ports.size(), candidates.hosts.size());
  return out;
}

}  // namespace kasane::slowpath
