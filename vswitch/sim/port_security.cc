#include "vswitch/sim/port_security.h"

#include <algorithm>

namespace kasane::sim {
namespace {

constexpr uint16_t kDhcpServerPort = 67;
constexpr uint16_t kDhcpClientPort = 68;
constexpr uint16_t kDhcpv6ServerPort = 547;
constexpr uint8_t kRouterSolicitation = 133;
constexpr uint8_t kRouterAdvertisementType = 134;
constexpr uint8_t kNeighbourSolicitation = 135;
constexpr uint8_t kNeighbourAdvertisement = 136;
constexpr uint8_t kMldReport = 131;
constexpr uint8_t kMldv2Report = 143;

bool IsIcmpv6(const packet::Packet& packet, uint8_t type) {
  return packet.has_ip() && !packet.is_v4() && packet.has_icmp() && packet.ip_proto() == packet::kProtoIcmpv6 &&
         packet.icmp_type() == type;
}

bool MayUse(const vswitch::LocalPort& port, const MacAddress& mac, const IpAddress& ip) {
  return std::any_of(port.allowed.begin(), port.allowed.end(), [&](const vswitch::AllowedAddress& allowed) {
    return allowed.mac == mac && allowed.prefix.Contains(ip);
  });
}

std::optional<vswitch::DropReason> WhyForbidden(const packet::Packet& packet) {
  if (packet.has_ip() && packet.has_udp() &&
      packet.udp_src() == (packet.is_v4() ? kDhcpServerPort : kDhcpv6ServerPort)) {
    return vswitch::DropReason::kDhcpServer;
  }
  if (IsIcmpv6(packet, kRouterAdvertisementType)) return vswitch::DropReason::kRouterAdvertisement;
  return std::nullopt;
}

bool ArpAllowed(const vswitch::LocalPort& port, const packet::Packet& packet) {
  if (packet.arp_sha() != packet.eth_src()) return false;
  if (packet.arp_op() == 1 && packet.arp_spa().IsUnspecified()) return true;
  return MayUse(port, packet.eth_src(), packet.arp_spa());
}

// What a host sends before it has an address.
bool UnaddressedAllowed(const packet::Packet& packet) {
  if (packet.is_v4()) {
    return packet.ip_dst() == IpAddress::V4(0xffffffff) && packet.has_udp() &&
           packet.udp_src() == kDhcpClientPort && packet.udp_dst() == kDhcpServerPort;
  }
  for (const uint8_t type : {kRouterSolicitation, kNeighbourSolicitation, kMldReport, kMldv2Report}) {
    if (IsIcmpv6(packet, type)) return true;
  }
  return false;
}

std::optional<vswitch::DropReason> WhyNeighbourRefused(const vswitch::LocalPort& port,
                                                       const packet::Packet& packet) {
  const bool solicitation = IsIcmpv6(packet, kNeighbourSolicitation);
  if (!solicitation && !IsIcmpv6(packet, kNeighbourAdvertisement)) return std::nullopt;
  const auto option = packet.nd_option(solicitation ? 1 : 2);
  const bool well_formed = packet.has_neighbour_solicitation() || packet.has_neighbour_advertisement();
  // About no address: switches cannot tell it from one that is cut short.
  if (!well_formed || packet.nd_target().IsUnspecified()) return vswitch::DropReason::kSpoofedNd;
  if (option && *option != packet.eth_src()) return vswitch::DropReason::kSpoofedNd;
  if (!solicitation && !MayUse(port, packet.eth_src(), packet.nd_target()))
    return vswitch::DropReason::kSpoofedNd;
  return std::nullopt;
}

}  // namespace

std::optional<vswitch::DropReason> WhyRefused(const vswitch::LocalPort& port, const packet::Packet& packet) {
  if (const auto reason = WhyForbidden(packet)) return reason;
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
      MayUse(port, packet.eth_src(), source) || (source.IsUnspecified() && UnaddressedAllowed(packet));
  if (!allowed) return vswitch::DropReason::kSpoofedIp;
  return WhyNeighbourRefused(port, packet);
}

}  // namespace kasane::sim
