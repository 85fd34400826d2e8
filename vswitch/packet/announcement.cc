#include "vswitch/packet/announcement.h"

namespace kasane::packet {
namespace {

constexpr uint32_t kSolicited = 0x40000000;  // RFC 4861, 4.4.
constexpr uint8_t kTargetLinkLayer = 2;
constexpr uint16_t kReply = 2;

bool IsUnicast(const IpAddress& ip) {
  return !ip.IsUnspecified() && !ip.IsMulticast() && !ip.IsLoopback() && ip != IpAddress::V4(0xffffffff);
}

}  // namespace

bool IsGratuitousRequest(const Packet& packet) {
  return packet.has_arp() && packet.arp_op() == 1 && packet.arp_spa() == packet.arp_tpa();
}

std::optional<AnnouncedAddress> AnnouncedBy(const Packet& packet) {
  if (!packet.has_ethernet() || !packet.eth_dst().IsMulticast()) return std::nullopt;
  AnnouncedAddress announced;
  if (packet.has_arp()) {
    if (!IsGratuitousRequest(packet) && packet.arp_op() != kReply) return std::nullopt;
    announced = {packet.arp_spa(), packet.arp_sha()};
  } else if (packet.has_neighbour_advertisement() && packet.ttl() == 255 &&
             (packet.nd_flags() & kSolicited) == 0) {
    const auto mac = packet.nd_option(kTargetLinkLayer);
    if (!mac) return std::nullopt;
    announced = {packet.nd_target(), *mac};
  } else {
    return std::nullopt;
  }
  if (!IsUnicast(announced.ip) || announced.mac.IsMulticast() || announced.mac == MacAddress()) {
    return std::nullopt;
  }
  return announced;
}

}  // namespace kasane::packet
