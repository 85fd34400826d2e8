#include <fmt/format.h>

#include <algorithm>

#include "vswitch/packet/checksum.h"
#include "vswitch/packet/fragment.h"
#include "vswitch/slowpath/handlers.h"
#include "vswitch/slowpath/interfaces.h"

namespace kasane::slowpath {
namespace {

constexpr uint8_t kTtl = 64;
constexpr uint32_t kSmallestMtu = 68;  // Every link carries as much (RFC 791, 3.2).

bool IsEchoRequest(const packet::Packet& packet) {
  if (packet.fragment() || !packet.has_icmp() || packet.icmp_code() != 0) return false;
  return packet.is_v4() ? packet.ip_proto() == packet::kProtoIcmp && packet.icmp_type() == 8
                        : packet.ip_proto() == packet::kProtoIcmpv6 && packet.icmp_type() == 128;
}

// Fragments of two datagrams that were taken for one do not fit it (RFC 4963).
bool IsChecksumRight(const packet::Packet& packet) {
  if (!packet.is_v4()) return packet.icmpv6_checksum_right();
  return packet::OnesComplementSum(packet.icmp_message()) == 0xffff;
}

// Without the options and extension headers of the request, which asked for something on its way.
std::vector<uint8_t> ReplyTo(const packet::Packet& request) {
  const bool v4 = request.is_v4();
  const auto first = request.frame().begin();
  const size_t header = packet::kEthernet + (v4 ? packet::kIpv4Header : packet::kIpv6Header);
  std::vector<uint8_t> head(first, first + static_cast<std::ptrdiff_t>(header));
  if (v4) head[packet::kEthernet] = 0x45;
  if (!v4) head[packet::kEthernet + 6] = packet::kProtoIcmpv6;
  packet::Packet reply(packet::MakeDatagram(std::move(head), request.icmp_message()).value());
  reply.set_eth_dst(request.eth_src());
  reply.set_eth_src(request.eth_dst());
  reply.set_ip_dst(request.ip_src());
  reply.set_ip_src(request.ip_dst());
  reply.set_icmp_type(v4 ? 0 : 129);
  reply.set_ttl(kTtl);
  return reply.frame();
}

SlowPathOutcome Dropped(vswitch::DropReason reason, std::string_view why) {
  SlowPathOutcome out;
  out.drop = reason;
  out.text = fmt::format("not answered: {}", why);
  return out;
}

}  // namespace

SlowPathOutcome AnswerEcho(const NetworkFacts& facts, const SlowPathPacket& in) {
  const Interfaces interfaces = in.router ? facts.FindInterfaces(*in.router) : Interfaces();
  const packet::Packet request(in.frame);
  // The entries that sent it here may be older than the facts.
  if (!request.has_ip() || !IsOwn(interfaces, request.ip_dst()))
    return Dropped(vswitch::DropReason::kRouterLocal, "the router is gone, or the address is not its own");
  SlowPathOutcome out;
  if (!in.reassembled) {
    if (!request.fragment()) return Dropped(vswitch::DropReason::kRouterLocal, "it is no fragment");
    out.is_part = true;
    out.text = fmt::format("a fragment for {} itself: kept until its datagram is whole", request.ip_dst());
    return out;
  }
  if (!IsEchoRequest(request)) return Dropped(vswitch::DropReason::kRouterLocal, "it is no echo request");
  if (!IsChecksumRight(request)) return Dropped(vswitch::DropReason::kMalformed, "its checksum is wrong");
  // A link-local address is on no network that the answer could be routed to: it goes back on the link.
  const bool on_link = request.ip_src().IsLinkLocal() || request.ip_dst().IsLinkLocal();
  uint32_t mtu = in.reassembled->largest;
  if (!on_link) mtu = std::min(mtu, facts.FindMtuTo(*in.router, request.ip_src()).value_or(mtu));
  auto fragments = packet::CutIntoFragments(ReplyTo(request), in.reassembled->id, std::max(mtu, kSmallestMtu));
  out.text = fmt::format("echo request of {} bytes to {}: answered in {} fragments", request.ip_packet().size(),
                         request.ip_dst(), fragments.size());
  for (std::vector<uint8_t>& frame : fragments) {
    Injection& injection = out.injections.emplace_back();
    if (on_link) injection.port = in.port;
    if (!on_link) injection.router = in.router;
    injection.frame = std::move(frame);
  }
  return out;
}

}  // namespace kasane::slowpath
