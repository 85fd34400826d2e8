// Frames for tests, byte by byte, with right checksums unless a test breaks them on purpose.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ip_address.h"
#include "base/mac_address.h"

namespace kasane::frames {

using Bytes = std::vector<uint8_t>;

struct Ethernet {
  MacAddress dst;
  MacAddress src;
};

struct Ip {
  IpAddress src;
  IpAddress dst;  // Of the same family as src.
  uint8_t ttl = 64;
};

Bytes Raw(const Ethernet& eth, uint16_t ether_type, std::span<const uint8_t> payload);
Bytes Arp(const Ethernet& eth, uint16_t op, const MacAddress& sha, const IpAddress& spa, const MacAddress& tha,
          const IpAddress& tpa);
// An IP packet with any payload. ICMP, ICMPv6, UDP and TCP payloads get their checksum.
Bytes Packet(const Ethernet& eth, const Ip& ip, uint8_t protocol, Bytes payload);

Bytes Echo(const Ethernet& eth, const Ip& ip, uint16_t sequence, size_t data_bytes);
Bytes Udp(const Ethernet& eth, const Ip& ip, uint16_t sport, uint16_t dport, size_t data_bytes);
Bytes Tcp(const Ethernet& eth, const Ip& ip, uint16_t sport, uint16_t dport);
// Neighbour solicitation; no link-layer option if `sll` is null.
Bytes Solicitation(const Ethernet& eth, const Ip& ip, const IpAddress& target, const MacAddress* sll);
Bytes Advertisement(const Ethernet& eth, const Ip& ip, const IpAddress& target, const MacAddress* tll);

// An IP packet (no options, no extension headers) in fragments of `bytes_each` of payload, a multiple of 8.
// `id`: its low 16 bits in IPv4.
std::vector<Bytes> Fragments(const Bytes& frame, size_t bytes_each, uint32_t id = 7);

// `inner` in VXLAN over UDP over IPv4 or IPv6, from one VTEP to another.
Bytes Vxlan(const Ethernet& eth, const Ip& outer, uint32_t vni, std::span<const uint8_t> inner);

}  // namespace kasane::frames
