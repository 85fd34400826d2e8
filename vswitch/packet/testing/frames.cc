#include "vswitch/packet/testing/frames.h"

#include <algorithm>

#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/checksum.h"
#include "vswitch/packet/packet.h"

namespace kasane::frames {
namespace {

using packet::Append;
using packet::Append16;
using packet::kEthernet;
using packet::kVxlanPort;
using packet::Put16;

size_t ChecksumOffset(uint8_t protocol) {
  return protocol == packet::kProtoTcp ? 16 : protocol == packet::kProtoUdp ? 6 : 2;
}

void SetTransportChecksum(const Ip& ip, uint8_t protocol, Bytes& payload) {
  if (protocol != packet::kProtoIcmp && protocol != packet::kProtoIcmpv6 && protocol != packet::kProtoUdp &&
      protocol != packet::kProtoTcp)
    return;
  const size_t at = ChecksumOffset(protocol);
  Put16(payload, at, 0);
  uint32_t sum = 0;
  if (protocol != packet::kProtoIcmp) {
    sum = packet::OnesComplementSum(ip.src.bytes());
    sum = packet::OnesComplementSum(ip.dst.bytes(), sum);
    sum += static_cast<uint32_t>(payload.size()) + protocol;
  }
  auto checksum = static_cast<uint16_t>(~packet::OnesComplementSum(payload, sum));
  if (protocol == packet::kProtoUdp && checksum == 0) checksum = 0xffff;
  Put16(payload, at, checksum);
}

Bytes NeighbourMessage(const Ethernet& eth, const Ip& ip, uint8_t type, const IpAddress& target, uint8_t option,
                       const MacAddress* mac) {
  Bytes message = {type, 0, 0, 0, static_cast<uint8_t>(type == 136 ? 0x20 : 0), 0, 0, 0};
  Append(message, target.bytes());
  if (mac != nullptr) {
    message.push_back(option);
    message.push_back(1);
    Append(message, mac->bytes());
  }
  return Packet(eth, ip, packet::kProtoIcmpv6, std::move(message));
}

}  // namespace

Bytes Raw(const Ethernet& eth, uint16_t ether_type, std::span<const uint8_t> payload) {
  Bytes frame;
  Append(frame, eth.dst.bytes());
  Append(frame, eth.src.bytes());
  Append16(frame, ether_type);
  Append(frame, payload);
  return frame;
}

Bytes Arp(const Ethernet& eth, uint16_t op, const MacAddress& sha, const IpAddress& spa, const MacAddress& tha,
          const IpAddress& tpa) {
  Bytes arp = {0, 1, 0x08, 0, 6, 4};
  Append16(arp, op);
  Append(arp, sha.bytes());
  Append(arp, spa.bytes());
  Append(arp, tha.bytes());
  Append(arp, tpa.bytes());
  return Raw(eth, 0x0806, arp);
}

Bytes Packet(const Ethernet& eth, const Ip& ip, uint8_t protocol, Bytes payload) {
  SetTransportChecksum(ip, protocol, payload);
  Bytes packet;
  if (ip.src.is_v4()) {
    packet = {0x45, 0};
    Append16(packet, 20 + payload.size());
    Append(packet, Bytes{0, 1, 0, 0, ip.ttl, protocol, 0, 0});
    Append(packet, ip.src.bytes());
    Append(packet, ip.dst.bytes());
    Put16(packet, 10, static_cast<uint16_t>(~packet::OnesComplementSum(packet)));
  } else {
    packet = {0x60, 0, 0, 0};
    Append16(packet, payload.size());
    Append(packet, Bytes{protocol, ip.ttl});
    Append(packet, ip.src.bytes());
    Append(packet, ip.dst.bytes());
  }
  Append(packet, payload);
  return Raw(eth, ip.src.is_v4() ? 0x0800 : 0x86dd, packet);
}

Bytes Echo(const Ethernet& eth, const Ip& ip, uint16_t sequence, size_t data_bytes) {
  Bytes message = {static_cast<uint8_t>(ip.src.is_v4() ? 8 : 128), 0, 0, 0, 0x4b, 0x53};
  Append16(message, sequence);
  message.resize(message.size() + data_bytes, 0x61);
  return Packet(eth, ip, ip.src.is_v4() ? packet::kProtoIcmp : packet::kProtoIcmpv6, std::move(message));
}

Bytes Udp(const Ethernet& eth, const Ip& ip, uint16_t sport, uint16_t dport, size_t data_bytes) {
  Bytes datagram;
  Append16(datagram, sport);
  Append16(datagram, dport);
  Append16(datagram, 8 + data_bytes);
  Append16(datagram, 0);
  datagram.resize(8 + data_bytes, 0x62);
  return Packet(eth, ip, packet::kProtoUdp, std::move(datagram));
}

Bytes Tcp(const Ethernet& eth, const Ip& ip, uint16_t sport, uint16_t dport) {
  Bytes segment;
  Append16(segment, sport);
  Append16(segment, dport);
  Append(segment, Bytes{0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0x20, 0, 0, 0, 0, 0});
  return Packet(eth, ip, packet::kProtoTcp, std::move(segment));
}

Bytes Solicitation(const Ethernet& eth, const Ip& ip, const IpAddress& target, const MacAddress* sll) {
  return NeighbourMessage(eth, ip, 135, target, 1, sll);
}

Bytes Advertisement(const Ethernet& eth, const Ip& ip, const IpAddress& target, const MacAddress* tll) {
  return NeighbourMessage(eth, ip, 136, target, 2, tll);
}

std::vector<Bytes> Fragments(const Bytes& frame, size_t bytes_each, uint32_t id) {
  const bool v4 = frame[12] == 0x08;
  const size_t header = kEthernet + (v4 ? 20 : 40);
  const uint8_t protocol = frame[v4 ? 23 : 20];
  std::vector<Bytes> fragments;
  for (size_t at = header; at < frame.size(); at += bytes_each) {
    const size_t end = std::min(at + bytes_each, frame.size());
    const auto offset = static_cast<uint16_t>(at - header);
    const bool more = end < frame.size();
    Bytes out(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(header));
    if (v4) {
      Put16(out, 16, static_cast<uint16_t>(20 + end - at));
      Put16(out, 18, id);
      Put16(out, 20, static_cast<uint16_t>((more ? 0x2000 : 0) | offset / 8));
      Put16(out, 24, 0);
      Put16(out, 24, static_cast<uint16_t>(~packet::OnesComplementSum(std::span(out).subspan(kEthernet))));
    } else {
      Put16(out, 18, static_cast<uint16_t>(8 + end - at));
      out[20] = 44;
      Append(out, Bytes{protocol, 0});
      Append16(out, static_cast<size_t>(offset | (more ? 1 : 0)));
      packet::Append32(out, id);
    }
    out.insert(out.end(), frame.begin() + static_cast<std::ptrdiff_t>(at),
               frame.begin() + static_cast<std::ptrdiff_t>(end));
    fragments.push_back(std::move(out));
  }
  return fragments;
}

Bytes Vxlan(const Ethernet& eth, const Ip& outer, uint32_t vni, std::span<const uint8_t> inner) {
  Bytes datagram;
  Append16(datagram, 49152 + vni % 16384);
  Append16(datagram, kVxlanPort);
  Append16(datagram, 16 + inner.size());
  Append16(datagram, 0);
  Append(datagram, Bytes{0x08, 0, 0, 0, static_cast<uint8_t>(vni >> 16), static_cast<uint8_t>(vni >> 8),
                         static_cast<uint8_t>(vni), 0});
  Append(datagram, inner);
  return Packet(eth, outer, packet::kProtoUdp, std::move(datagram));
}

}  // namespace kasane::frames
