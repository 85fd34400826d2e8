// A frame with its headers found: what sim and the slow path read and rewrite. Rewriting keeps checksums right
// by the incremental update of RFC 1624, as a switch does, so that bytes agree with the datapaths.
//
// The EtherType says what a packet is; the version field in it is the receiver's to judge, since switches do
// not look at it. Parsing never reads beyond the frame. A header that is truncated or contradicts itself is not
// there: its has_... is false and `malformed` is set. Multi-byte values are in host order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/mac_address.h"

namespace kasane::packet {

inline constexpr uint16_t kEtherIpv4 = 0x0800;
inline constexpr size_t kEthernet = 14;       // Bytes of an Ethernet header without a tag.
inline constexpr uint16_t kVxlanPort = 4789;  // UDP. RFC 7348.
inline constexpr uint16_t kEtherArp = 0x0806;
inline constexpr uint16_t kEtherVlan = 0x8100;
inline constexpr uint16_t kEtherQinq = 0x88a8;
inline constexpr uint16_t kEtherIpv6 = 0x86dd;

inline constexpr uint8_t kProtoIcmp = 1;
inline constexpr uint8_t kProtoTcp = 6;
inline constexpr uint8_t kProtoUdp = 17;
inline constexpr uint8_t kProtoIcmpv6 = 58;

// Bytes of a frame with a neighbour solicitation, one link-layer option, no extension header and nothing behind
// it: the only form that becomes an advertisement by rewriting in place.
inline constexpr size_t kNdRewritable = 14 + 40 + 24 + 8;

class Packet {
 public:
  explicit Packet(std::vector<uint8_t> frame);

  const std::vector<uint8_t>& frame() const { return frame_; }
  bool malformed() const { return malformed_; }

  // Ethernet. A frame shorter than its header has no Ethernet fields at all.
  bool has_ethernet() const { return frame_.size() >= 14; }
  MacAddress eth_dst() const { return Mac(0); }
  MacAddress eth_src() const { return Mac(6); }
  uint16_t eth_type() const { return U16(12); }
  bool vlan_tagged() const { return eth_type() == kEtherVlan || eth_type() == kEtherQinq; }
  void set_eth_dst(const MacAddress& mac) { SetMac(0, mac); }
  void set_eth_src(const MacAddress& mac) { SetMac(6, mac); }

  // ARP for IPv4 over Ethernet (RFC 826).
  bool has_arp() const { return arp_; }
  uint16_t arp_op() const { return U16(20); }
  MacAddress arp_sha() const { return Mac(22); }
  IpAddress arp_spa() const { return Ip4(28); }
  IpAddress arp_tpa() const { return Ip4(38); }
  // Turns a request into the reply that says `mac` has the address asked for.
  void MakeArpReply(const MacAddress& mac);

  // IPv4 and IPv6.
  bool has_ip() const { return ip_.has_value(); }
  bool is_v4() const { return ip_ == IpFamily::kV4; }
  IpAddress ip_src() const;
  IpAddress ip_dst() const;
  uint8_t ttl() const { return frame_[is_v4() ? 22 : 21]; }
  uint8_t ip_proto() const { return proto_; }  // For IPv6: behind the extension headers.
  bool fragment() const { return fragment_; }
  bool later_fragment() const { return later_fragment_; }  // Not the first: has no transport header.
  std::span<const uint8_t> ip_packet() const;              // Without padding behind it.
  void set_ip_src(const IpAddress& ip) { SetIp(is_v4() ? 26 : 22, ip); }
  void set_ip_dst(const IpAddress& ip) { SetIp(is_v4() ? 30 : 38, ip); }
  void set_ttl(uint8_t ttl);

  // ICMP or ICMPv6 header in an unfragmented packet or first fragment.
  bool has_icmp() const { return l4_ != 0 && (proto_ == kProtoIcmp || proto_ == kProtoIcmpv6); }
  uint8_t icmp_type() const { return frame_[l4_]; }
  uint8_t icmp_code() const { return frame_[l4_ + 1]; }
  void set_icmp_type(uint8_t type);

  // The message with its payload, of an ICMP packet that is no fragment; for ICMPv6, whether its checksum is
  // right.
  std::span<const uint8_t> icmp_message() const { return std::span(frame_).subspan(l4_, l4_end_ - l4_); }
  bool icmpv6_checksum_right() const;

  // UDP header, likewise.
  bool has_udp() const { return l4_ != 0 && proto_ == kProtoUdp; }
  uint16_t udp_src() const { return U16(l4_); }
  uint16_t udp_dst() const { return U16(l4_ + 2); }

  // Neighbour solicitation or advertisement (RFC 4861, 4.3 and 4.4).
  bool has_neighbour_solicitation() const { return has_neighbour_message(135); }
  bool has_neighbour_advertisement() const { return has_neighbour_message(136); }
  // The source (1) or target (2) link-layer address option, if there is one.
  std::optional<MacAddress> nd_option(uint8_t type) const;
  IpAddress nd_target() const;
  // An advertisement's R, S and O, the top bits of the word behind the checksum.
  uint32_t nd_flags() const { return static_cast<uint32_t>(frame_[l4_ + 4]) << 24; }
  // Turns a solicitation into the advertisement that says `mac` has the target; `flags` are the top 32
  // bits (R, S, O) in host order. A source link-layer option becomes the target's; without one, there is none.
  void MakeNeighbourAdvertisement(const MacAddress& mac, uint32_t flags);

  // One line for people: "icmp 10.0.0.1 > 10.0.0.2 type 8 code 0 ttl 64".
  std::string Summary() const;

 private:
  bool has_neighbour_message(uint8_t type) const;
  size_t FindNdOption(uint8_t type) const;  // Offset, or 0.
  uint16_t Icmpv6Sum() const;               // Not inverted: 0xffff if the checksum in it is right.
  void SumIcmpv6();                         // Makes the checksum right.
  MacAddress Mac(size_t at) const;
  uint16_t U16(size_t at) const { return static_cast<uint16_t>(frame_[at] << 8 | frame_[at + 1]); }
  IpAddress Ip4(size_t at) const;
  void SetMac(size_t at, const MacAddress& mac);
  // Overwrites `at` with `bytes` and updates the checksum at `sum`, if there is one there.
  void SetSummed(size_t at, std::span<const uint8_t> bytes, size_t sum);
  void SetIp(size_t at, const IpAddress& ip);
  size_t L4Checksum() const;  // Offset, or 0: none that covers the addresses.
  void ParseArp();
  void ParseIpv4();
  void ParseIpv6();
  void FindL4(size_t at, size_t end);

  std::vector<uint8_t> frame_;
  bool malformed_ = false;
  bool arp_ = false;
  bool fragment_ = false;
  bool later_fragment_ = false;
  std::optional<IpFamily> ip_;
  uint8_t proto_ = 0;
  size_t l4_ = 0;      // Offset of the transport header; 0: none.
  size_t l4_end_ = 0;  // End of the IP packet.
};

}  // namespace kasane::packet
