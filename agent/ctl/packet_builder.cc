#include "agent/ctl/packet_builder.h"

#include <tins/arp.h>
#include <tins/ethernetII.h>
#include <tins/exceptions.h>
#include <tins/icmp.h>
#include <tins/icmpv6.h>
#include <tins/ip.h>
#include <tins/ipv6.h>
#include <tins/rawpdu.h>
#include <tins/tcp.h>
#include <tins/udp.h>

#include <utility>

#include "vswitch/base/status.h"

namespace kasane::ctl {
namespace {

constexpr std::pair<Protocol, std::string_view> kProtocols[] = {
    {Protocol::kIcmp, "icmp"}, {Protocol::kTcp, "tcp"}, {Protocol::kUdp, "udp"},
    {Protocol::kArp, "arp"},   {Protocol::kNd, "nd"},
};

constexpr uint16_t kEchoId = 1;
constexpr uint16_t kEchoSequence = 1;
constexpr uint8_t kNdHopLimit = 255;  // RFC 4861, 7.1.
constexpr size_t kMinFrame = 60;

Tins::HWAddress<6> Mac(const MacAddress& mac) { return Tins::HWAddress<6>(mac.bytes().data()); }
Tins::IPv4Address V4(const IpAddress& ip) { return Tins::IPv4Address(ip.ToString()); }
Tins::IPv6Address V6(const IpAddress& ip) { return Tins::IPv6Address(ip.bytes().data()); }

Tins::RawPDU Payload(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i);
  return Tins::RawPDU(bytes);
}

// The transport header and the payload, put behind `packet`.
template <typename Network>
void AppendTransport(const PacketSpec& spec, Network& packet) {
  switch (spec.protocol) {
    case Protocol::kTcp: {
      Tins::TCP tcp(spec.destination_port, spec.source_port);
      tcp.flags(Tins::TCP::SYN);
      tcp.window(64240);
      packet /= tcp / Payload(spec.payload);
      break;
    }
    case Protocol::kUdp:
      packet /= Tins::UDP(spec.destination_port, spec.source_port) / Payload(spec.payload);
      break;
    default: {
      if constexpr (std::is_same_v<Network, Tins::IP>) {
        Tins::ICMP echo;
        echo.set_echo_request(kEchoId, kEchoSequence);
        packet /= echo / Payload(spec.payload);
      } else {
        Tins::ICMPv6 echo(Tins::ICMPv6::ECHO_REQUEST);
        echo.identifier(kEchoId);
        echo.sequence(kEchoSequence);
        packet /= echo / Payload(spec.payload);
      }
    }
  }
}

Tins::EthernetII Arp(const PacketSpec& spec) {
  Tins::ARP arp(V4(spec.destination), V4(spec.source), {}, Mac(spec.source_mac));
  arp.opcode(Tins::ARP::REQUEST);
  return Tins::EthernetII(Mac(spec.destination_mac), Mac(spec.source_mac)) / arp;
}

Tins::EthernetII NeighbourSolicitation(const PacketSpec& spec) {
  const IpAddress group =
      spec.destination_mac.IsMulticast() ? SolicitedNode(spec.destination) : spec.destination;
  Tins::IPv6 ip(V6(group), V6(spec.source));
  ip.hop_limit(kNdHopLimit);
  Tins::ICMPv6 solicitation(Tins::ICMPv6::NEIGHBOUR_SOLICIT);
  solicitation.target_addr(V6(spec.destination));
  // DAD, from the unspecified address, carries no link-layer address.
  if (!spec.source.IsUnspecified()) solicitation.source_link_layer_addr(Mac(spec.source_mac));
  return Tins::EthernetII(Mac(spec.destination_mac), Mac(spec.source_mac)) / ip / solicitation;
}

Tins::EthernetII Routed(const PacketSpec& spec) {
  Tins::EthernetII frame(Mac(spec.destination_mac), Mac(spec.source_mac));
  if (spec.destination.is_v4()) {
    Tins::IP ip(V4(spec.destination), V4(spec.source));
    ip.ttl(spec.ttl);
    AppendTransport(spec, ip);
    frame /= ip;
  } else {
    Tins::IPv6 ip(V6(spec.destination), V6(spec.source));
    ip.hop_limit(spec.ttl);
    AppendTransport(spec, ip);
    frame /= ip;
  }
  return frame;
}

absl::Status Check(const PacketSpec& spec) {
  if (spec.source.family() != spec.destination.family()) {
    return Invalid("source {} and destination {} differ in family", spec.source, spec.destination);
  }
  if (spec.protocol == Protocol::kArp && !spec.destination.is_v4()) {
    return Invalid("arp asks for an IPv4 address, not {}; use --proto nd", spec.destination);
  }
  if (spec.protocol == Protocol::kNd && !spec.destination.is_v6()) {
    return Invalid("nd asks for an IPv6 address, not {}; use --proto arp", spec.destination);
  }
  if (spec.payload > kMaxPayload)
    return Invalid("a payload has at most {} bytes, not {}", kMaxPayload, spec.payload);
  return absl::OkStatus();
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string DescribeIcmp(const Tins::ICMP& icmp) {
  switch (icmp.type()) {
    case Tins::ICMP::ECHO_REQUEST:
      return "icmp echo request";
    case Tins::ICMP::ECHO_REPLY:
      return "icmp echo reply";
    default:
      return fmt::format("icmp type {} code {}", static_cast<int>(icmp.type()), icmp.code());
  }
}

std::string DescribeIcmpV6(const Tins::ICMPv6& icmp) {
  switch (icmp.type()) {
    case Tins::ICMPv6::ECHO_REQUEST:
      return "icmpv6 echo request";
    case Tins::ICMPv6::ECHO_REPLY:
      return "icmpv6 echo reply";
    case Tins::ICMPv6::NEIGHBOUR_SOLICIT:
      return "neighbour solicitation for " + icmp.target_addr().to_string();
    case Tins::ICMPv6::NEIGHBOUR_ADVERT:
      return "neighbour advertisement of " + icmp.target_addr().to_string();
    default:
      return fmt::format("icmpv6 type {} code {}", static_cast<int>(icmp.type()), icmp.code());
  }
}

std::string DescribeTransport(const Tins::PDU& packet, int protocol) {
  if (const auto* icmp = packet.find_pdu<Tins::ICMP>()) return DescribeIcmp(*icmp);
  if (const auto* icmp = packet.find_pdu<Tins::ICMPv6>()) return DescribeIcmpV6(*icmp);
  if (const auto* tcp = packet.find_pdu<Tins::TCP>())
    return fmt::format("tcp {} > {}", tcp->sport(), tcp->dport());
  if (const auto* udp = packet.find_pdu<Tins::UDP>())
    return fmt::format("udp {} > {}", udp->sport(), udp->dport());
  return fmt::format("protocol {}", protocol);
}

std::string DescribeNetwork(const Tins::EthernetII& frame) {
  if (const auto* arp = frame.find_pdu<Tins::ARP>()) {
    if (arp->opcode() == Tins::ARP::REQUEST) {
      return fmt::format("arp who has {} tell {}", arp->target_ip_addr().to_string(),
                         arp->sender_ip_addr().to_string());
    }
    return fmt::format("arp {} is at {}", arp->sender_ip_addr().to_string(), arp->sender_hw_addr().to_string());
  }
  if (const auto* ip = frame.find_pdu<Tins::IP>()) {
    return fmt::format("{} > {} {}, ttl {}", ip->src_addr().to_string(), ip->dst_addr().to_string(),
                       DescribeTransport(*ip, ip->protocol()), ip->ttl());
  }
  if (const auto* ip = frame.find_pdu<Tins::IPv6>()) {
    return fmt::format("{} > {} {}, hop limit {}", ip->src_addr().to_string(), ip->dst_addr().to_string(),
                       DescribeTransport(*ip, ip->next_header()), ip->hop_limit());
  }
  return fmt::format("ethertype {:#06x}", frame.payload_type());
}

}  // namespace

std::optional<Protocol> ProtocolFromText(std::string_view text) {
  for (const auto& [protocol, label] : kProtocols) {
    if (text == label) return protocol;
  }
  return std::nullopt;
}

std::string_view Label(Protocol protocol) {
  for (const auto& [known, label] : kProtocols) {
    if (known == protocol) return label;
  }
  return "";
}

absl::StatusOr<std::vector<uint8_t>> BuildFrame(const PacketSpec& spec) {
  RETURN_IF_ERROR(Check(spec));
  try {
    Tins::EthernetII frame = spec.protocol == Protocol::kArp  ? Arp(spec)
                             : spec.protocol == Protocol::kNd ? NeighbourSolicitation(spec)
                                                              : Routed(spec);
    std::vector<uint8_t> bytes = frame.serialize();
    if (bytes.size() < kMinFrame) bytes.resize(kMinFrame);
    return bytes;
  } catch (const Tins::exception_base& error) {
    return Error(absl::StatusCode::kInternal, "the packet cannot be built: {}", error.what());
  }
}

absl::StatusOr<std::vector<uint8_t>> FrameFromHex(std::string_view text) {
  std::vector<uint8_t> out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == ':' || c == '\n' || c == '\t') continue;
    const int digit = HexDigit(c);
    if (digit < 0) return Invalid("the frame has '{}', which is no hexadecimal digit", c);
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) return Invalid("the frame has an odd number of hexadecimal digits");
  if (out.size() < 14) return Invalid("the frame has {} bytes; an Ethernet header alone has 14", out.size());
  return out;
}

std::string DescribeFrame(std::span<const uint8_t> frame) {
  try {
    const Tins::EthernetII ethernet(frame.data(), static_cast<uint32_t>(frame.size()));
    return fmt::format("{} > {}, {}, {} bytes", ethernet.src_addr().to_string(),
                       ethernet.dst_addr().to_string(), DescribeNetwork(ethernet), frame.size());
  } catch (const Tins::exception_base&) {
    return fmt::format("{} bytes that are no whole Ethernet frame", frame.size());
  }
}

}  // namespace kasane::ctl
