#include "tests/random/messages.h"

#include <utility>

#include "vswitch/packet/packet.h"

namespace kasane::random {

using frames::Bytes;

namespace {

const IpAddress kAllNodes = *IpAddress::Parse("ff02::1");
const IpAddress kUnspecified6 = *IpAddress::Parse("::");

}  // namespace

Bytes Announcement(const MacAddress& mac, const IpAddress& ip) {
  if (ip.is_v4()) return frames::Arp({MacAddress::Broadcast(), mac}, 1, mac, ip, MacAddress(), ip);
  return frames::Advertisement({MulticastMac(kAllNodes), mac}, {ip, kAllNodes, 255}, ip, &mac);
}

Bytes Probe(const MacAddress& mac, const IpAddress& ip) {
  if (ip.is_v4()) return frames::Arp({MacAddress::Broadcast(), mac}, 1, mac, IpAddress(), MacAddress(), ip);
  const IpAddress group = SolicitedNode(ip);
  return frames::Solicitation({MulticastMac(group), mac}, {kUnspecified6, group, 255}, ip, nullptr);
}

Bytes TwiceAdvertised(const IpAddress& ip, const MacAddress& mac, const MacAddress& second) {
  Bytes message = {136, 0, 0, 0, 0x20, 0, 0, 0};
  message.insert(message.end(), ip.bytes().begin(), ip.bytes().end());
  for (const MacAddress& named : {mac, second}) {
    message.insert(message.end(), {2, 1});
    const MacAddress::Bytes bytes = named.bytes();
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  return frames::Packet({MulticastMac(kAllNodes), mac}, {ip, kAllNodes, 255}, packet::kProtoIcmpv6,
                        std::move(message));
}

}  // namespace kasane::random
