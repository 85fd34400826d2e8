// Rare forms of frames, one function each kind.
#include <algorithm>
#include <utility>

#include "tests/random/messages.h"
#include "tests/random/sender.h"
#include "vswitch/packet/packet.h"

namespace kasane::random {
namespace {

IpAddress Ip(const char* text) { return *IpAddress::Parse(text); }

void Append(Bytes& out, std::span<const uint8_t> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

constexpr size_t kIpv6Headers = 14 + 40;

}  // namespace

Bytes Sender::Special(Kind kind) {
  switch (kind) {
    case Kind::kAh:
      return WithAh();
    case Kind::kHeaders:
      return WithHeaders();
    case Kind::kFragments:
      return OddFragment();
    case Kind::kNdOptions:
      return NdOptions();
    case Kind::kMulticast:
      return Multicast();
    case Kind::kSolicitRouter:
      return SolicitRouter();
    case Kind::kDhcp:
      return Dhcp();
    case Kind::kNeverRouted:
      return NeverRouted();
    default:
      return Unannounced();
  }
}

frames::Ethernet Sender::EthToRouter() {
  frames::Ethernet eth = Eth();
  if (!targets_.routers.empty() && !Chance(random_, 4)) eth.dst = Pick(targets_.routers, random_).first;
  return eth;
}

Bytes Sender::AnyPacket() {
  const bool v4 = Chance(random_, 2);
  return WholePacket(Eth(), {From(v4), Pick(targets_.Of(v4), random_), Ttl()});
}

Bytes Sender::AnyIpv6Packet() {
  switch (Below(random_, 5)) {
    case 0:
      return Neighbour();
    case 1:
      return SolicitRouter();
    case 2: {
      const std::vector<uint16_t> ports = {546, 547, 1024};
      return frames::Udp(Eth(), {From(false), Pick(targets_.v6, random_), Ttl()}, Pick(ports, random_),
                         Pick(ports, random_), DataBytes());
    }
    default:
      return WholePacket(Eth(), {From(false), Pick(targets_.v6, random_), Ttl()});
  }
}

Bytes Sender::WithAh() {
  Bytes frame = Chance(random_, 3) ? AnyIpv6Packet() : AnyPacket();
  if (Chance(random_, 4)) InsertHeader(frame, kDestinationOptions, random_);
  InsertHeader(frame, kAuthentication, random_);
  return frame;
}

Bytes Sender::WithHeaders() {
  Bytes frame = AnyIpv6Packet();
  const std::vector<uint8_t> kinds = {kHopByHop,
                                      kHopByHop,
                                      kRouting,
                                      kFragmentHeader,
                                      kAuthentication,
                                      kDestinationOptions,
                                      kDestinationOptions,
                                      135,
                                      139,
                                      140,
                                      50,
                                      kNoNextHeader,
                                      253};
  const uint64_t count = 1 + Below(random_, 4);
  for (uint64_t n = 0; n < count; ++n) InsertHeader(frame, Pick(kinds, random_), random_);
  return frame;
}

// What is behind the IP header in pieces: cut within the upper header, overlapping, or in one piece.
Bytes Sender::OddFragment() {
  Bytes frame = AnyIpv6Packet();
  if (Chance(random_, 3)) InsertHeader(frame, kDestinationOptions, random_);
  if (Chance(random_, 6)) InsertHeader(frame, kFragmentHeader, random_);
  const size_t all = frame.size() - kIpv6Headers;
  const size_t offset = Chance(random_, 2) ? 0 : 8 * Below(random_, std::min<size_t>(all / 8 + 1, 6));
  const std::vector<size_t> sizes = {0, 1, 4, 7, 8, 16, 20, 24, all};
  const size_t size = std::min(Pick(sizes, random_), all - std::min(all, offset));
  Bytes fragment = FragmentOf(frame, std::min(all, offset), size, Chance(random_, 2));
  if (Chance(random_, 4)) InsertHeader(fragment, Chance(random_, 2) ? kHopByHop : kDestinationOptions, random_);
  return fragment;
}

// Link-layer options of both kinds, other options, and such whose length is none.
Bytes Sender::NdOptions() {
  const bool solicit = Chance(random_, 2);
  const IpAddress target = Chance(random_, 3) ? Pick(own6_, random_) : Pick(targets_.v6, random_);
  Bytes message = {static_cast<uint8_t>(solicit ? 135 : 136), 0, 0, 0, 0, 0, 0, 0};
  if (!solicit) message[4] = static_cast<uint8_t>(Below(random_, 8) << 5);
  Append(message, target.bytes());
  const uint64_t count = Below(random_, 4);
  const bool usual = Chance(random_, 2);  // The kind that belongs there, however often.
  for (uint64_t n = 0; n < count; ++n) {
    const std::vector<uint8_t> types = {1, 1, 1, 2, 2, 2, 5, 14, 253};
    const std::vector<uint8_t> lengths = {1, 1, 1, 1, 1, 1, 1, 1, 2, 0};
    const uint8_t length = Pick(lengths, random_);
    message.push_back(usual ? static_cast<uint8_t>(solicit ? 1 : 2) : Pick(types, random_));
    message.push_back(length);
    Append(message, (Chance(random_, 3) ? Pick(targets_.macs, random_) : mac_).bytes());
    if (length == 2) message.resize(message.size() + 8, 0);
  }
  frames::Ethernet eth = Eth();
  const bool unspecified = Chance(random_, 6);
  const IpAddress source = unspecified ? Ip("::") : From(false);
  const IpAddress group = solicit ? SolicitedNode(target) : Ip("ff02::1");
  const IpAddress destination = Chance(random_, 4) ? Pick(targets_.v6, random_) : group;
  if (destination.IsMulticast()) eth.dst = MulticastMac(destination);
  return frames::Packet(eth, {source, destination, 255}, packet::kProtoIcmpv6, std::move(message));
}

Bytes Sender::Multicast() {
  frames::Ethernet eth{{}, Source()};
  if (Chance(random_, 3)) {
    const IpAddress group = Chance(random_, 2) ? IpAddress::V4(0xe0000016) : IpAddress::V4(0xe0000005);
    eth.dst = MacAddress({0x01, 0, 0x5e, 0, 0, group.bytes()[3]});
    Bytes igmp(Chance(random_, 2) ? 8 : 16, 0);
    igmp[0] = Chance(random_, 2) ? 0x16 : 0x22;
    return frames::Packet(eth, {Chance(random_, 3) ? IpAddress() : From(true), group, 1}, 2, std::move(igmp));
  }
  const std::vector<uint8_t> types = {130, 131, 132, 143};
  const IpAddress group = Ip(Chance(random_, 2) ? "ff02::16" : "ff02::1:ff00:1");
  eth.dst = MulticastMac(group);
  Bytes report(Chance(random_, 2) ? 24 : 28, 0);
  report[0] = Pick(types, random_);
  const IpAddress source = Chance(random_, 2) ? Ip("::") : From(false);
  Bytes frame = frames::Packet(eth, {source, group, static_cast<uint8_t>(Chance(random_, 4) ? 64 : 1)},
                               packet::kProtoIcmpv6, std::move(report));
  // The router alert of RFC 2711, or not.
  if (!Chance(random_, 3)) {
    InsertHeader(frame, kHopByHop, random_);
    frame[kIpv6Headers + 2] = 5;
    frame[kIpv6Headers + 3] = 2;
    frame[kIpv6Headers + 6] = 1;
    frame[kIpv6Headers + 7] = 0;
  }
  return frame;
}

// Router solicitations; what a VM may not send, too: advertisements and redirects.
Bytes Sender::SolicitRouter() {
  const std::vector<uint8_t> types = {133, 133, 133, 134, 137};
  const uint8_t type = Pick(types, random_);
  Bytes message(type == 133 ? 8 : type == 134 ? 16 : 40, 0);
  message[0] = type;
  if (Chance(random_, 2)) {
    message.push_back(1);
    message.push_back(1);
    Append(message, (Chance(random_, 4) ? Pick(targets_.macs, random_) : mac_).bytes());
  }
  const IpAddress group = Ip(type == 133 ? "ff02::2" : "ff02::1");
  frames::Ethernet eth{MulticastMac(group), Source()};
  const IpAddress destination = Chance(random_, 5) ? Pick(targets_.v6, random_) : group;
  if (!destination.IsMulticast()) eth.dst = Pick(targets_.macs, random_);
  const IpAddress source = Chance(random_, 3)   ? Ip("::")
                           : Chance(random_, 2) ? IpAddress::LinkLocal(mac_)
                                                : From(false);
  return frames::Packet(eth, {source, destination, static_cast<uint8_t>(Chance(random_, 8) ? 64 : 255)},
                        packet::kProtoIcmpv6, std::move(message));
}

Bytes Sender::Dhcp() {
  const std::vector<uint16_t> ports4 = {67, 67, 68, 68, 1067, 40000};
  const std::vector<uint16_t> ports6 = {546, 546, 547, 547, 1547, 40000};
  frames::Ethernet eth = Eth();
  if (Chance(random_, 2)) {
    const bool everybody = !Chance(random_, 3);
    if (everybody) eth.dst = MacAddress::Broadcast();
    const IpAddress source = Chance(random_, 2) ? IpAddress() : From(true);
    const IpAddress destination = everybody ? IpAddress::V4(0xffffffff) : Pick(targets_.v4, random_);
    return frames::Udp(eth, {source, destination, 64}, Pick(ports4, random_), Pick(ports4, random_), 240);
  }
  const IpAddress group = Ip("ff02::1:2");
  const bool everybody = !Chance(random_, 3);
  if (everybody) eth.dst = MulticastMac(group);
  const IpAddress source = Chance(random_, 5)   ? Ip("::")
                           : Chance(random_, 2) ? IpAddress::LinkLocal(mac_)
                                                : From(false);
  return frames::Udp(eth, {source, everybody ? group : Pick(targets_.v6, random_), 64}, Pick(ports6, random_),
                     Pick(ports6, random_), 60);
}

Bytes Sender::NeverRouted() {
  const bool v4 = Chance(random_, 2);
  const std::vector<IpAddress> never4 = {Ip("0.0.0.0"),         Ip("0.0.0.1"),        Ip("0.255.1.2"),
                                         Ip("127.0.0.1"),       Ip("127.9.9.9"),      Ip("169.254.1.1"),
                                         Ip("169.254.169.254"), Ip("224.0.0.9"),      Ip("239.1.1.1"),
                                         Ip("240.0.0.1"),       Ip("255.255.255.255")};
  const std::vector<IpAddress> never6 = {
      Ip("::"),      Ip("::1"),     Ip("::2"),     Ip("fe80::9"),         Ip("febf::1"),
      Ip("fec0::1"), Ip("ff02::5"), Ip("ff0e::5"), Ip("::ffff:10.0.0.1"), Ip("::10.0.0.1")};
  const auto& never = v4 ? never4 : never6;
  IpAddress source = From(v4);
  IpAddress destination = Pick(targets_.Of(v4), random_);
  const auto which = Below(random_, 3);
  if (which != 0) source = Pick(never, random_);
  if (which != 1) destination = Pick(never, random_);
  if (Chance(random_, 5)) {
    return v4 ? frames::Arp(Eth(), Chance(random_, 2) ? 1 : 2, mac_, source, MacAddress(), destination)
              : frames::Solicitation(Eth(), {source, destination, 255}, destination, &mac_);
  }
  return WholePacket(EthToRouter(), {source, destination, Ttl()});
}

// As one of those that it may be: a packet, a question, an answer to one, an announcement or a probe.
Bytes Sender::Unannounced() {
  if (allowed_.empty()) return AnyPacket();
  const vswitch::AllowedAddress& as = Pick(allowed_, random_);
  const bool host = as.prefix.length() == as.prefix.address().bits();
  const IpAddress own = Nth(as.prefix, host ? 0 : static_cast<uint32_t>(Below(random_, 40)));
  const bool v4 = own.is_v4();
  const IpAddress other = Pick(targets_.Of(v4), random_);
  frames::Ethernet eth{Pick(targets_.macs, random_), as.mac};
  const auto form = Below(random_, 7);
  if (form < 2) {
    if (Chance(random_, 2)) eth.dst = EthToRouter().dst;
    return WholePacket(eth, {own, other, Ttl()});
  }
  if (form > 4) return Probe(as.mac, own);
  const bool everybody = form == 2;
  if (v4) {
    if (everybody) eth.dst = MacAddress::Broadcast();
    const IpAddress asked = everybody ? own : other;
    return frames::Arp(eth, Chance(random_, 2) ? 1 : 2, as.mac, own, everybody ? MacAddress() : eth.dst, asked);
  }
  if (form == 3) {
    eth.dst = MulticastMac(SolicitedNode(other));
    return frames::Solicitation(eth, {own, SolicitedNode(other), 255}, other, &as.mac);
  }
  if (everybody) eth.dst = MulticastMac(Ip("ff02::1"));
  Bytes frame = frames::Advertisement(eth, {own, everybody ? Ip("ff02::1") : other, 255}, own, &as.mac);
  if (!everybody) {  // Solicited.
    Bytes message(frame.begin() + kIpv6Headers, frame.end());
    message[4] |= 0x40;
    frame = frames::Packet(eth, {own, other, 255}, packet::kProtoIcmpv6, std::move(message));
  }
  return frame;
}

}  // namespace kasane::random
