#include "vswitch/sim/port_security.h"

#include <algorithm>

#include "vswitch/sim/upper_layer.h"

namespace kasane::sim {
namespace {

constexpr uint16_t kDhcpServerPort = 67;
constexpr uint16_t kDhcpClientPort = 68;
constexpr uint16_t kDhcpv6ClientPort = 546;
constexpr uint16_t kDhcpv6ServerPort = 547;
constexpr uint8_t kRouterSolicitation = 133;
constexpr uint8_t kRouterAdvertisementType = 134;
constexpr uint8_t kNeighbourSolicitation = 135;
constexpr uint8_t kMldReport = 131;
constexpr uint8_t kMldv2Report = 143;

using Upper = std::optional<UpperLayer>;

// The type of an ICMPv6 message.
std::optional<uint8_t> Icmpv6Type(const Upper& upper) {
  if (!upper || upper->later_fragment || upper->protocol != packet::kProtoIcmpv6) return std::nullopt;
  return upper->message.size() < 8 ? std::nullopt : std::optional(upper->message[0]);
}

struct UdpPorts {
  uint16_t source;
  uint16_t destination;
};

std::optional<UdpPorts> FindUdpPorts(const Upper& upper) {
  if (!upper || upper->later_fragment || upper->protocol != packet::kProtoUdp || upper->message.size() < 8)
    return std::nullopt;
  const auto& message = upper->message;
  return UdpPorts{static_cast<uint16_t>(message[0] << 8 | message[1]),
                  static_cast<uint16_t>(message[2] << 8 | message[3])};
}

bool MayUse(const vswitch::LocalPort& port, const MacAddress& mac, const IpAddress& ip) {
  return std::any_of(port.allowed.begin(), port.allowed.end(), [&](const vswitch::AllowedAddress& allowed) {
    return allowed.mac == mac && allowed.prefix.Contains(ip);
  });
}

// What a client takes for an answer, by where it arrives; and what a server sends by.
bool IsDhcpServer(const UdpPorts& ports, bool v4) {
  return v4 ? ports.source == kDhcpServerPort || ports.destination == kDhcpClientPort
            : ports.source == kDhcpv6ServerPort || ports.destination == kDhcpv6ClientPort;
}

std::optional<vswitch::DropReason> WhyForbidden(const packet::Packet& packet, const Upper& upper) {
  if (!upper) return std::nullopt;
  if (HidesItsHeader(*upper)) return vswitch::DropReason::kMalformed;
  const auto ports = FindUdpPorts(upper);
  if (ports && IsDhcpServer(*ports, packet.is_v4())) return vswitch::DropReason::kDhcpServer;
  if (!packet.is_v4() && Icmpv6Type(upper) == kRouterAdvertisementType)
    return vswitch::DropReason::kRouterAdvertisement;
  return std::nullopt;
}

bool ArpAllowed(const vswitch::LocalPort& port, const packet::Packet& packet) {
  if (packet.arp_sha() != packet.eth_src()) return false;
  if (packet.arp_op() == 1 && packet.arp_spa().IsUnspecified()) return true;
  return MayUse(port, packet.eth_src(), packet.arp_spa());
}

// What a host sends before it has an address.
bool UnaddressedAllowed(const packet::Packet& packet, const Upper& upper) {
  if (packet.is_v4()) {
    const auto ports = FindUdpPorts(upper);
    return packet.ip_dst() == IpAddress::V4(0xffffffff) && ports && ports->source == kDhcpClientPort &&
           ports->destination == kDhcpServerPort;
  }
  const auto type = Icmpv6Type(upper);
  return type == kRouterSolicitation || type == kNeighbourSolicitation || type == kMldReport ||
         type == kMldv2Report;
}

std::optional<vswitch::DropReason> WhyNeighbourRefused(const vswitch::LocalPort& port,
                                                       const packet::Packet& packet, const Upper& upper) {
  if (packet.is_v4() || !upper) return std::nullopt;
  const auto message = ReadNeighbourMessage(*upper);
  if (!message) return std::nullopt;
  // In fragments it is no receiver's (RFC 6980); about no address, switches cannot tell it from one that is cut
  // short or says its link-layer address twice.
  const bool good = message->code_is_zero && !upper->first_fragment && !message->repeats_an_option &&
                    message->target && !message->target->IsUnspecified();
  if (!good) return vswitch::DropReason::kSpoofedNd;
  if (message->link_layer && *message->link_layer != packet.eth_src()) return vswitch::DropReason::kSpoofedNd;
  if (!message->solicitation && !MayUse(port, packet.eth_src(), *message->target))
    return vswitch::DropReason::kSpoofedNd;
  return std::nullopt;
}

}  // namespace

std::optional<vswitch::DropReason> WhyRefused(const vswitch::LocalPort& port, const packet::Packet& packet) {
  const Upper upper = FindUpperLayer(packet.frame());
  if (const auto reason = WhyForbidden(packet, upper)) return reason;
  const bool mac_known =
      std::any_of(port.allowed.begin(), port.allowed.end(),
                  [&](const vswitch::AllowedAddress& allowed) { return allowed.mac == packet.eth_src(); });
  if (!mac_known) return vswitch::DropReason::kSpoofedMac;
  if (packet.has_arp()) {
    if (ArpAllowed(port, packet)) return std::nullopt;
    return vswitch::DropReason::kSpoofedArp;
  }
  if (!packet.has_ip()) return vswitch::DropReason::kNotIp;
  const IpAddress source = packet.ip_src();
  const bool allowed =
      MayUse(port, packet.eth_src(), source) || (source.IsUnspecified() && UnaddressedAllowed(packet, upper));
  if (!allowed) return vswitch::DropReason::kSpoofedIp;
  return WhyNeighbourRefused(port, packet, upper);
}

}  // namespace kasane::sim
