#include "vswitch/packet/packet_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/status.h"
#include "vswitch/packet/checksum.h"
#include "vswitch/packet/packet.h"

namespace kasane::packet {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::StartsWith;
using Bytes = std::vector<uint8_t>;

constexpr const char* kMacs = "eth_src=fa:16:3e:00:00:01, eth_dst=fa:16:3e:00:00:02";

// `text` with $ for both MACs.
std::string WithMacs(std::string text) {
  const size_t at = text.find('$');
  return at == std::string::npos ? text : text.replace(at, 1, kMacs);
}

Bytes Frame(const std::string& text) {
  const auto frame = ParsePacketText(WithMacs(text));
  EXPECT_TRUE(frame.ok()) << text << ": " << Message(frame.status());
  return frame.ok() ? *frame : Bytes();
}

std::string Fault(const std::string& text) { return Message(ParsePacketText(WithMacs(text)).status()); }

std::optional<std::string> Mismatch(const std::string& match, const std::string& frame) {
  const auto parsed = FieldMatch::Parse(match);
  EXPECT_TRUE(parsed.ok()) << Message(parsed.status());
  return parsed.ok() ? parsed->Mismatch(Frame(frame)) : "wrong";
}

TEST(ParsePacketTextTest, EchoByteByByte) {
  EXPECT_EQ(Frame("icmp($, src=10.0.0.1, dst=10.0.0.2, id=0x4b53, seq=7, size=2)"),
            (Bytes{0xfa, 0x16, 0x3e, 0, 0, 2, 0xfa, 0x16, 0x3e, 0,    0,    1,  0x08, 0,   0x45,
                   0,    0,    30,   0, 0, 0, 0,    64,   1,    0x66, 0xdd, 10, 0,    0,   1,
                   10,   0,    0,    2, 8, 0, 0x4b, 0x44, 0x4b, 0x53, 0,    7,  0x61, 0x61}));
}

TEST(ParsePacketTextTest, ChecksumsHold) {
  struct Case {
    const char* text;
    size_t header;  // Of IP.
    uint8_t protocol;
  };
  const Case cases[] = {{"udp($, src=10.0.0.1, dst=10.0.0.2, payload=\"odd\")", 20, 17},
                        {"tcp($, src=10.0.0.1, dst=10.0.0.2, flags=SA, tcp_options=020405b4)", 20, 6},
                        {"udp($, src=2001:db8::1, dst=2001:db8::2, size=9)", 40, 17},
                        {"tcp($, src=2001:db8::1, dst=2001:db8::2, size=3)", 40, 6},
                        {"icmp6($, src=2001:db8::1, dst=2001:db8::2, size=56)", 40, 58},
                        {"ns($, src=::, target=fe80::1)", 40, 58}};
  for (const Case& c : cases) {
    const Bytes frame = Frame(c.text);
    const std::span<const uint8_t> packet = std::span(frame).subspan(14);
    const auto segment = packet.subspan(c.header);
    const auto addresses = c.header == 20 ? packet.subspan(12, 8) : packet.subspan(8, 32);
    EXPECT_EQ(OnesComplementSum(
                  segment, OnesComplementSum(addresses) + static_cast<uint32_t>(segment.size()) + c.protocol),
              0xffffU)
        << c.text;
    EXPECT_TRUE(c.header == 40 || OnesComplementSum(packet.first(20)) == 0xffff) << c.text;
  }
}

TEST(ParsePacketTextTest, WhatIsImplied) {
  const Packet arp(Frame("arp(op=request, eth_src=fa:16:3e:00:00:01, spa=10.0.0.1, tpa=10.0.0.2)"));
  EXPECT_TRUE(arp.eth_dst().IsBroadcast());
  EXPECT_EQ(arp.arp_sha().ToString(), "fa:16:3e:00:00:01");
  const Packet solicitation(Frame("ns(eth_src=fa:16:3e:00:00:01, src=::, target=2001:db8::1:2:3)"));
  EXPECT_EQ(solicitation.eth_dst().ToString(), "33:33:ff:02:00:03");
  EXPECT_EQ(solicitation.ip_dst().ToString(), "ff02::1:ff02:3");
  EXPECT_EQ(solicitation.ttl(), 255);
  EXPECT_FALSE(solicitation.nd_option(1));
  const Packet advertisement(Frame("na(eth_src=fa:16:3e:00:00:01, target=fe80::1, tll=fa:16:3e:00:00:01)"));
  EXPECT_EQ(advertisement.ip_src().ToString(), "fe80::1");
  EXPECT_EQ(advertisement.ip_dst().ToString(), "ff02::1");
}

TEST(ParsePacketTextTest, WrongOnPurpose) {
  const Bytes frame =
      Frame("udp($, src=10.0.0.1, dst=10.0.0.2, ihl=15, ip_len=9, checksum=0x1234, truncate=40)");
  EXPECT_EQ(frame.size(), 40U);
  EXPECT_EQ(frame[14], 0x4f);
  EXPECT_EQ(frame[17], 9);
  EXPECT_EQ(frame[34 + 5], 8);
  EXPECT_TRUE(Packet(frame).malformed());
  EXPECT_EQ(Frame("arp(op=request, eth_src=fa:16:3e:00:00:01, spa=10.0.0.1, tpa=10.0.0.2, pad_to=60)").size(),
            60U);
}

TEST(ParsePacketTextTest, LayersInLayers) {
  const Bytes inner = Frame("udp($, src=10.0.0.1, dst=10.0.0.2)");
  const Bytes outer = Frame(
      "vxlan(eth_src=02:00:00:00:00:01, eth_dst=02:00:00:00:00:02, src=192.0.2.1, dst=192.0.2.2, vni=5001, "
      "udp($, src=10.0.0.1, dst=10.0.0.2))");
  EXPECT_EQ(Bytes(outer.end() - static_cast<std::ptrdiff_t>(inner.size()), outer.end()), inner);
  const Bytes tagged = Frame("vlan(id=5, vlan(id=6, udp($, src=10.0.0.1, dst=10.0.0.2)))");
  EXPECT_EQ(Bytes(tagged.begin() + 12, tagged.begin() + 22), (Bytes{0x81, 0, 0, 5, 0x81, 0, 0, 6, 8, 0}));
  const Bytes error =
      Frame("icmp($, src=10.0.0.9, dst=10.0.0.1, type=3, code=4, mtu=1400, udp(src=10.0.0.1, dst=10.0.0.2))");
  EXPECT_EQ(Bytes(error.begin() + 38, error.begin() + 42), (Bytes{0, 0, 0x05, 0x78}));
  EXPECT_EQ(Bytes(error.begin() + 42, error.end()), Bytes(inner.begin() + 14, inner.end()));
}

TEST(ParsePacketTextTest, FaultsNameColumnFieldAndWhatIsExpected) {
  EXPECT_EQ(Fault("icmp(df, ttl=300)"), "column 14: ttl: 300 is not 0 to 255");
  EXPECT_THAT(Fault("icmp(src=10.0.0)"), StartsWith("column 10: src: "));
  EXPECT_THAT(Fault("icnp(src=10.0.0.1)"), StartsWith("column 1: icnp is no layer; there are eth, vlan,"));
  EXPECT_THAT(Fault("udp(src=10.0.0.1, port=7)"),
              StartsWith("column 19: udp has no field port; it has src, dst,"));
  EXPECT_EQ(Fault("udp(sport=1, sport=2)"), "column 14: sport: is there twice");
  EXPECT_EQ(Fault("udp(sport=1"), "column 12: udp: , or ) is expected, and it ends");
  EXPECT_EQ(Fault("udp(sport)"), "column 10: sport: =value is missing behind it");
  EXPECT_EQ(Fault("udp(sport=)"), "column 11: sport: the value is missing");
  EXPECT_EQ(Fault("udp(payload=\"a)"), "column 13: payload: the \" is not closed");
  EXPECT_EQ(Fault("udp(payload=123)"), "column 13: payload: has 3 hexadecimal digits, an odd number");
  EXPECT_EQ(Fault("udp() x"), "column 7: the packet ends here; there is more behind it");
  EXPECT_EQ(Fault("tcp(flags=SX)"), "column 11: flags: SX is not none or letters of S, A, F, R, P, U, E, C");
  EXPECT_EQ(Fault("udp(src=10.0.0.1, dst=10.0.0.2)"), "column 1: udp: eth_src is missing");
  EXPECT_EQ(Fault("udp($, src=10.0.0.1)"), "column 1: udp: dst is missing");
  EXPECT_EQ(Fault("icmp($, src=::1, dst=::2)"),
            "column 64: src: ::1 is not IPv4; between IPv6 addresses it is icmp6");
  EXPECT_THAT(Fault("udp($, src=10.0.0.1, dst=::2)"), HasSubstr("differ in family"));
  EXPECT_THAT(Fault("udp($, src=10.0.0.1, dst=10.0.0.2, size=65530)"), HasSubstr("more than fits"));
  EXPECT_THAT(Fault("udp($, src=10.0.0.1, dst=10.0.0.2, frag_offset=7)"), HasSubstr("not a multiple of 8"));
  EXPECT_EQ(Fault("udp(arp())"), "column 5: udp holds no other layer");
  EXPECT_EQ(Fault("hex:0g"), "column 6: hex: g is no hexadecimal digit");
  EXPECT_EQ(Fault("hex:001"), "column 8: hex: an octet has two digits, and it ends");
  EXPECT_THAT(Fault(""), StartsWith("column 1: the end is no layer"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "vlan(";
  EXPECT_EQ(Fault(deep), "column 26: too many layers in each other");
}

TEST(PacketTextTest, SaysWhatWasWritten) {
  const char* texts[] = {
      "icmp(src=10.0.0.1, dst=10.0.0.2, ttl=64, df, type=8, seq=9, eth_src=fa:16:3e:00:00:01, "
      "eth_dst=fa:16:3e:00:00:02, size=56)",
      "icmp6(src=fe80::1, dst=ff02::1, ttl=64, type=128, eth_src=fa:16:3e:00:00:01, eth_dst=33:33:00:00:00:01)",
      "eth(type=0x88cc, eth_src=fa:16:3e:00:00:01, eth_dst=01:80:c2:00:00:0e, payload=0001)", "hex:00112233"};
  for (const char* text : texts) EXPECT_EQ(PacketText(Frame(text)), text);
}

// Every kind of frame, right or wrong on purpose: the text means the same bytes and is not just hexadecimal.
TEST(PacketTextTest, RoundTrip) {
  const char* texts[] = {
      "arp(op=reply, $, spa=10.0.0.1, tpa=10.0.0.2)",
      "arp(op=request, eth_src=fa:16:3e:00:00:01, sha=fa:16:3e:00:00:09, spa=10.0.0.1, tpa=10.0.0.1, "
      "pad_to=60)",
      "arp(op=7, $, spa=10.0.0.1, tpa=10.0.0.2, hw_type=6)",
      "ip($, src=10.0.0.1, dst=10.0.0.2, proto=132, size=8)",
      "ip($, src=10.0.0.1, dst=10.0.0.2, proto=udp, frag_offset=1480, more_fragments, ip_id=77, size=100)",
      "udp($, src=10.0.0.1, dst=10.0.0.2, more_fragments, ip_id=77, size=1472)",
      "udp($, src=10.0.0.1, dst=10.0.0.2, ip_options=94040000, tos=3, checksum=0x0)",
      "udp($, src=10.0.0.1, dst=10.0.0.2, udp_len=3, ip_checksum=0xbad)",
      "udp($, src=10.0.0.1, dst=10.0.0.2, ip_len=2000, size=3)",
      "tcp($, src=10.0.0.1, dst=10.0.0.2, flags=none, window=1, urgent=4, data_offset=3, payload=00)",
      "tcp($, src=2001:db8::1, dst=2001:db8::2, flags=SAFRPUEC, tcp_options=0204, flow_label=0xfffff)",
      "icmp($, src=10.0.0.9, dst=10.0.0.1, type=3, code=4, mtu=1400, udp(src=10.0.0.1, dst=10.0.0.2, "
      "ip_len=1500))",
      "icmp($, src=10.0.0.9, dst=10.0.0.1, type=11, icmp(src=10.0.0.1, dst=10.0.0.2, ttl=1))",
      "icmp6($, src=2001:db8::9, dst=2001:db8::1, type=2, mtu=1280, tcp(src=2001:db8::1, dst=2001:db8::2))",
      "icmp6($, src=2001:db8::9, dst=2001:db8::1, type=4, rest=0x28)",
      "icmp6($, src=2001:db8::9, dst=2001:db8::1, ext=hop_by_hop+routing+fragment+destination)",
      "udp($, src=2001:db8::9, dst=2001:db8::1, more_fragments, ip_id=0x12345678, size=8)",
      "ip($, src=2001:db8::9, dst=2001:db8::1, proto=udp, frag_offset=8, size=8)",
      "ns($, src=fe80::1, dst=fe80::2, target=fe80::2, sll=fa:16:3e:00:00:01, nd_options=0e01000000000000)",
      "na($, src=fe80::1, target=fe80::1, flags=RSO, tll=fa:16:3e:00:00:01)",
      "rs($, src=fe80::1, sll=fa:16:3e:00:00:01)",
      "ra($, src=fe80::1, lifetime=0, hop_limit=1, flags=MO)",
      "mld(eth_src=fa:16:3e:00:00:01, src=fe80::1, group=ff02::1:ff00:1)",
      "mld(eth_src=fa:16:3e:00:00:01, src=fe80::1, type=query, group=::)",
      "vlan(id=4095, pcp=7, dei, type=0x88a8, vlan(id=0, udp($, src=10.0.0.1, dst=10.0.0.2)))",
      "vxlan($, src=192.0.2.1, dst=192.0.2.2, vni=16777215, flags=0x0, arp(op=request, "
      "eth_src=fa:16:3e:00:00:01, spa=10.0.0.1, tpa=10.0.0.2))",
      "vxlan($, src=2001:db8::1, dst=2001:db8::2, vni=7, checksum=0, vxlan(eth_src=fa:16:3e:00:00:01, "
      "eth_dst=fa:16:3e:00:00:01, src=10.0.0.1, dst=10.0.0.2, vni=8, payload=00))",
  };
  for (const char* text : texts) {
    const Bytes frame = Frame(text);
    const std::string again = PacketText(frame);
    EXPECT_EQ(Frame(again), frame) << text << "\n" << again;
    const std::string_view layer(text, std::string_view(text).find('('));
    EXPECT_THAT(again, StartsWith(std::string(layer))) << text;
  }
}

// Any bytes, well-formed frames with some changed: the text still means the same bytes.
TEST(PacketTextTest, RoundTripOfDamagedFrames) {
  const std::string texts[] = {
      "icmp($, src=10.0.0.9, dst=10.0.0.1, type=3, code=4, udp(src=10.0.0.1, dst=10.0.0.2, size=9))",
      "tcp($, src=2001:db8::9, dst=2001:db8::1, ext=hop_by_hop, more_fragments, size=40)",
      "na($, src=fe80::1, target=fe80::1, tll=fa:16:3e:00:00:01)",
      "vxlan($, src=192.0.2.1, dst=192.0.2.2, vni=9, vlan(id=9, arp(op=request, eth_src=fa:16:3e:00:00:01, "
      "spa=10.0.0.1, tpa=10.0.0.2)))"};
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    Bytes frame = Frame(texts[random() % std::size(texts)]);
    for (unsigned n = random() % 4; n > 0; --n) frame[random() % frame.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) frame.resize(random() % frame.size());
    const std::string text = PacketText(frame);
    ASSERT_EQ(Frame(text), frame) << text;
  }
}

TEST(FieldMatchTest, OnlyTheFieldsGivenCount) {
  const std::string frame = "icmp($, src=10.0.0.1, dst=10.0.0.2, ttl=63, df, size=56)";
  EXPECT_EQ(Mismatch("icmp()", frame), std::nullopt);
  EXPECT_EQ(Mismatch("icmp(ttl=63, eth_src=FA:16:3e:00:00:01, type=8, size=56, df, more_fragments=0)", frame),
            std::nullopt);
  EXPECT_EQ(Mismatch("ip(proto=icmp, ihl=5)", frame), std::nullopt);
  EXPECT_EQ(Mismatch("eth(type=0x800)", frame), std::nullopt);
  EXPECT_EQ(Mismatch("icmp(ttl=64)", frame), "ttl: expected 64, seen 63");
  EXPECT_EQ(Mismatch("icmp(df=0)", frame), "df: expected 0, seen 1");
  EXPECT_EQ(Mismatch("icmp(size=57)", frame), "size: expected 57, seen 56");
  EXPECT_EQ(Mismatch("icmp(mtu=1400)", frame), "mtu: expected 1400, and the icmp has none");
  EXPECT_THAT(Mismatch("udp(ttl=63)", frame), Optional(StartsWith("expected udp, seen icmp(src=10.0.0.1")));
}

TEST(FieldMatchTest, LayersInLayers) {
  const std::string error =
      "icmp($, src=10.0.0.9, dst=10.0.0.1, type=3, code=1, tcp(src=10.0.0.1, dst=10.0.0.2))";
  EXPECT_EQ(Mismatch("icmp(type=3, tcp(dst=10.0.0.2))", error), std::nullopt);
  EXPECT_EQ(Mismatch("icmp(type=3, tcp(dst=10.0.0.3))", error), "tcp: dst: expected 10.0.0.3, seen 10.0.0.2");
  EXPECT_EQ(Mismatch("icmp(type=3, udp())", error), "udp: expected in the icmp, and it is not there");
  EXPECT_EQ(Mismatch("icmp6(type=135)", "ns($, src=::, target=fe80::1)"), std::nullopt);
}

TEST(FieldMatchTest, ChecksumsMustBeRight) {
  EXPECT_EQ(Mismatch("udp()", "udp($, src=10.0.0.1, dst=10.0.0.2, checksum=0)"), std::nullopt);
  EXPECT_THAT(Mismatch("udp()", "udp($, src=10.0.0.1, dst=10.0.0.2, checksum=1)"),
              Optional(HasSubstr("checksum: should be 0x")));
  EXPECT_EQ(Mismatch("udp(checksum=1)", "udp($, src=10.0.0.1, dst=10.0.0.2, checksum=1)"), std::nullopt);
  EXPECT_THAT(Mismatch("icmp()", "icmp($, src=10.0.0.1, dst=10.0.0.2, ip_checksum=1)"),
              Optional(HasSubstr("ip_checksum: should be 0x")));
  EXPECT_EQ(Mismatch("udp(ttl=64)", "udp($, src=10.0.0.1, dst=10.0.0.2, more_fragments, size=8)"),
            std::nullopt);
}

TEST(FieldMatchTest, Bytes) {
  EXPECT_EQ(Mismatch("hex:00 11", "hex:0011"), std::nullopt);
  EXPECT_EQ(Mismatch("hex:0011", "hex:0012"), "expected hex:0011, seen hex:0012");
  EXPECT_THAT(Message(FieldMatch::Parse("icmp(truncate=4)").status()), HasSubstr("nothing to compare"));
}

}  // namespace
}  // namespace kasane::packet
