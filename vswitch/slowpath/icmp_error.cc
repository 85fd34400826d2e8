#include <fmt/format.h>
#include <tins/ethernetII.h>
#include <tins/icmp.h>
#include <tins/icmpv6.h>
#include <tins/ip.h>
#include <tins/ipv6.h>
#include <tins/rawpdu.h>

#include <algorithm>

#include "vswitch/slowpath/handlers.h"
#include "vswitch/slowpath/interfaces.h"

namespace kasane::slowpath {
namespace {

constexpr size_t kMaxError4 = 576;   // RFC 1812, 4.3.2.3.
constexpr size_t kMaxError6 = 1280;  // RFC 4443, 2.4 (c).
constexpr uint8_t kControl = 0xc0;   // Internetwork control, RFC 1812, 4.3.2.5.

struct TypeAndCode {
  uint8_t type;
  uint8_t code;
};

TypeAndCode ErrorOf(SlowPathCause cause, bool v4) {
  switch (cause) {
    case SlowPathCause::kTtlExceeded:
      return v4 ? TypeAndCode{11, 0} : TypeAndCode{3, 0};
    case SlowPathCause::kTooBig:
      return v4 ? TypeAndCode{3, 4} : TypeAndCode{2, 0};
    case SlowPathCause::kReassemblyTime:
      return v4 ? TypeAndCode{11, 1} : TypeAndCode{3, 1};
    case SlowPathCause::kNoNeighbour:
      return v4 ? TypeAndCode{3, 1} : TypeAndCode{1, 3};
    default:
      return v4 ? TypeAndCode{3, 0} : TypeAndCode{1, 0};
  }
}

// The all-ones or all-zeros address of an IPv4 subnet that the router is in.
bool IsBroadcast(const Interfaces& interfaces, const IpAddress& ip) {
  if (!ip.is_v4()) return false;
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const vswitch::RouterPort& port) {
    return std::any_of(port.addresses.begin(), port.addresses.end(), [&](const IpPrefix& subnet) {
      if (!subnet.Contains(ip) || subnet.length() >= 31) return false;
      const uint32_t host_bits = 0xffffffffU >> subnet.length();
      const uint32_t host = ip.v4_host_order() & host_bits;
      return host == host_bits || host == 0;
    });
  });
}

bool IsHost(const Interfaces& interfaces, const IpAddress& ip) {
  if (ip.IsUnspecified() || ip.IsMulticast() || ip.IsLoopback() || IsBroadcast(interfaces, ip)) return false;
  // A link-local source is on no network that an error could be routed to.
  if (ip.IsLinkLocal()) return false;
  // "This network", and the reserved class E with the limited broadcast (RFC 1122, 3.2.1.3).
  return ip.is_v6() || (ip.v4_host_order() >> 24 != 0 && ip.v4_host_order() >> 28 != 15);
}

// Errors are never answered; nor is what may be one.
bool MayBeIcmpError(const packet::Packet& packet) {
  if (packet.ip_proto() != (packet.is_v4() ? packet::kProtoIcmp : packet::kProtoIcmpv6)) return false;
  if (!packet.has_icmp()) return true;
  const uint8_t type = packet.icmp_type();
  if (!packet.is_v4()) return type < 128 || type == 137;
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

// Empty if an error may be sent.
std::string_view WhyNone(const Interfaces& interfaces, const packet::Packet& packet) {
  if (!packet.has_ip()) return "not IP";
  if (packet.eth_dst().IsMulticast() || packet.ip_dst().IsMulticast() ||
      IsBroadcast(interfaces, packet.ip_dst()) || packet.ip_dst() == IpAddress::V4(0xffffffff)) {
    return "its destination is a group";
  }
  if (packet.later_fragment()) return "not a first fragment";
  if (!IsHost(interfaces, packet.ip_src())) return "its source is no host";
  if (IsOwn(interfaces, packet.ip_src())) return "it is the router's own";
  if (MayBeIcmpError(packet)) return "it is an error itself";
  return "";
}

// The router's address on the network that the packet entered by: of the source's subnet, else the lowest.
std::optional<IpAddress> AnswersFrom(const Interfaces& interfaces, const NetworkId& network,
                                     const IpAddress& source) {
  std::optional<IpAddress> near;
  std::optional<IpAddress> lowest;
  std::optional<IpAddress> link_local;
  const auto lower = [](std::optional<IpAddress>& best, const IpAddress& ip) {
    if (!best || ip < *best) best = ip;
  };
  for (const vswitch::RouterPort& port : interfaces) {
    if (port.network != network) continue;
    if (source.is_v6()) lower(link_local, port.link_local);
    for (const IpPrefix& address : port.addresses) {
      if (address.family() != source.family()) continue;
      lower(lowest, address.address());
      if (address.Contains(source)) lower(near, address.address());
    }
  }
  return near ? near : lowest ? lowest : link_local;
}

Tins::RawPDU Quote(const packet::Packet& packet, size_t room) {
  const std::span<const uint8_t> whole = packet.ip_packet();
  return {whole.data(), static_cast<uint32_t>(std::min(whole.size(), room))};
}

std::vector<uint8_t> Error4(const packet::Packet& packet, const IpAddress& from, TypeAndCode error,
                            uint32_t mtu) {
  Tins::ICMP message(static_cast<Tins::ICMP::Flags>(error.type));
  message.code(error.code);
  message.mtu(static_cast<uint16_t>(std::min(mtu, uint32_t{0xffff})));
  Tins::IP ip(packet.ip_src().ToString(), from.ToString());
  ip.ttl(64);
  ip.tos(kControl);
  ip.id(0);
  ip.flags(Tins::IP::DONT_FRAGMENT);
  Tins::EthernetII frame = Tins::EthernetII() / ip / message / Quote(packet, kMaxError4 - 28);
  return frame.serialize();
}

std::vector<uint8_t> Error6(const packet::Packet& packet, const IpAddress& from, TypeAndCode error,
                            uint32_t mtu) {
  Tins::ICMPv6 message(static_cast<Tins::ICMPv6::Types>(error.type));
  message.code(error.code);
  // libtins has no name for the MTU (RFC 4443, 3.2): the same 32 bits hold an echo's identifier and sequence.
  message.identifier(static_cast<uint16_t>(mtu >> 16));
  message.sequence(static_cast<uint16_t>(mtu));
  Tins::IPv6 ip(packet.ip_src().ToString(), from.ToString());
  ip.hop_limit(64);
  Tins::EthernetII frame = Tins::EthernetII() / ip / message / Quote(packet, kMaxError6 - 48);
  return frame.serialize();
}

}  // namespace

SlowPathOutcome SendIcmpError(const NetworkFacts& facts, const SlowPathPacket& in) {
  SlowPathOutcome out;
  const Interfaces interfaces = in.router ? facts.FindInterfaces(*in.router) : Interfaces();
  if (interfaces.empty()) {
    out.text = "no ICMP error: the router is gone";
    return out;
  }
  packet::Packet packet(in.frame);
  if (const std::string_view why = WhyNone(interfaces, packet); !why.empty()) {
    out.text = fmt::format("no ICMP error: {}", why);
    return out;
  }
  const auto from = AnswersFrom(interfaces, in.network, packet.ip_src());
  if (!from) {
    out.text = "no ICMP error: the router has no address where the packet came from";
    return out;
  }
  const TypeAndCode error = ErrorOf(in.cause, packet.is_v4());
  // The error quotes the packet as it came; what failed later than the TTL has lost one.
  const bool forwarded = in.cause != SlowPathCause::kTtlExceeded && in.cause != SlowPathCause::kReassemblyTime;
  if (forwarded) packet.set_ttl(static_cast<uint8_t>(packet.ttl() + 1));
  const uint32_t mtu = in.cause == SlowPathCause::kTooBig ? in.mtu : 0;
  out.text =
      fmt::format("ICMP error type {} code {} from {} to {}", error.type, error.code, *from, packet.ip_src());
  out.injections.push_back(
      {{},
       in.router,
       {},
       {},
       packet.is_v4() ? Error4(packet, *from, error, mtu) : Error6(packet, *from, error, mtu)});
  return out;
}

}  // namespace kasane::slowpath
