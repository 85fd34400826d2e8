#include "vswitch/packet/announcement.h"

namespace kasane::packet {
namespace {

constexpr uint32_t kRouter = 0x80000000;  // RFC 4861, 4.4.
constexpr uint32_t kSolicited = 0x40000000;
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
  if (!packet.has_ethernet()) return std::nullopt;
  AnnouncedAddress announced;
  if (packet.has_arp()) {
    if (!IsGratuitousRequest(packet) && packet.arp_op() != kReply) return std::nullopt;
    announced = {packet.arp_spa(), packet.arp_sha()};
  } else if (packet.has_neighbour_advertisement() && packet.ttl() == 255 && !packet.fragment()) {
    const auto mac = packet.nd_option(kTargetLinkLayer);
    const bool may_lack_it = (packet.nd_flags() & kSolicited) != 0 && !packet.ip_dst().IsMulticast();
    if (!mac && !may_lack_it) return std::nullopt;
    announced = {packet.nd_target(), mac.value_or(packet.eth_src()), (packet.nd_flags() & kRouter) != 0};
  } else {
    return std::nullopt;
  }
  if (!IsUnicast(announced.ip) || announced.mac.IsMulticast() || announced.mac == MacAddress()) {
    return std::nullopt;
  }
  return announced;
}

}  // namespace kasane::packet
