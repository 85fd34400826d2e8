#include <fmt/format.h>
#include <tins/ethernetII.h>
#include <tins/icmpv6.h>
#include <tins/ipv6.h>

#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
namespace {

// Why a solicitation is to be ignored (RFC 4861, 7.1.1); empty if it is good.
std::string_view WhyIgnored(const packet::Packet& packet) {
  if (!packet.has_neighbour_solicitation() || packet.fragment()) return "no neighbour solicitation";
  if (packet.ttl() != 255) return "the hop limit is not 255";
  if (!packet.icmpv6_checksum_right()) return "its checksum is wrong";
  const IpAddress target = packet.nd_target();
  if (target.IsMulticast()) return "its target is a group";
  const std::span<const uint8_t> message = packet.icmp_message();
  for (size_t at = 24; at + 8 <= message.size(); at += size_t{message[at + 1]} * 8) {
    if (message[at + 1] == 0) return "an option has no length";
  }
  const IpAddress source = packet.ip_src();
  if (source.IsMulticast()) return "its source is a group";
  if (!source.IsUnspecified()) return "";
  if (packet.ip_dst() != SolicitedNode(target)) return "from ::, not to the target's solicited-node group";
  if (packet.nd_option(1)) return "from ::, with a link-layer address";
  return "";
}

std::vector<uint8_t> Advertisement(const packet::Packet& asked, const AddressOwner& owner) {
  const IpAddress target = asked.nd_target();
  const bool dad = asked.ip_src().IsUnspecified();
  const IpAddress all_nodes = *IpAddress::Parse("ff02::1");
  const IpAddress to = dad ? all_nodes : asked.ip_src();
  const MacAddress to_mac = dad ? MulticastMac(all_nodes) : asked.eth_src();
  Tins::ICMPv6 message(Tins::ICMPv6::NEIGHBOUR_ADVERT);
  message.router(owner.router ? 1 : 0);
  message.solicited(dad ? 0 : 1);
  message.override(owner.anycast ? 0 : 1);
  message.target_addr(Tins::IPv6Address(target.ToString()));
  message.target_link_layer_addr(Tins::ICMPv6::hwaddress_type(owner.mac.ToString()));
  Tins::IPv6 ip(to.ToString(), target.ToString());
  ip.hop_limit(255);
  Tins::EthernetII frame = Tins::EthernetII(to_mac.ToString(), owner.mac.ToString()) / ip / message;
  return frame.serialize();
}

}  // namespace

SlowPathOutcome AnswerNeighbour(const NetworkFacts& facts, const SlowPathPacket& in) {
  SlowPathOutcome out;
  packet::Packet packet(in.frame);
  const bool arp = packet.has_arp() && packet.arp_op() == 1;
  if (const std::string_view why = arp ? "" : WhyIgnored(packet); !why.empty()) {
    out.drop = vswitch::DropReason::kMalformed;
    out.text = fmt::format("not answered: {}", why);
    return out;
  }
  const IpAddress asked = arp ? packet.arp_tpa() : packet.nd_target();
  std::optional<AddressOwner> owner;
  if (in.port) {
    const bool probe = (arp ? packet.arp_spa() : packet.ip_src()).IsUnspecified();
    owner = facts.FindAnswer({in.network, asked, *in.port, packet.eth_src(), probe});
  }
  // The entries that sent it here may be older than the facts.
  if (!owner) {
    out.text = fmt::format("not answered: nobody has {}, or its owner must answer", asked);
    return out;
  }
  out.text = fmt::format("answered for {}: {} has it", asked, owner->mac);
  if (arp) {
    packet.MakeArpReply(owner->mac);
    out.injections.push_back({in.port, {}, {}, {}, packet.frame()});
  } else {
    out.injections.push_back({in.port, {}, {}, {}, Advertisement(packet, *owner)});
  }
  return out;
}

}  // namespace kasane::slowpath
