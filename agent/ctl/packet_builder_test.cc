#include "agent/ctl/packet_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/base/status.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;

constexpr size_t kEthernet = 14;
constexpr size_t kIpV4 = 20;
constexpr size_t kIpV6 = 40;

PacketSpec Spec(Protocol protocol, std::string_view source, std::string_view destination) {
  PacketSpec spec;
  spec.protocol = protocol;
  spec.source_mac = MacAddress::Parse("fa:16:3e:00:00:01").value();
  spec.destination_mac = MacAddress::Parse("fa:16:3e:00:00:02").value();
  spec.source = IpAddress::Parse(source).value();
  spec.destination = IpAddress::Parse(destination).value();
  return spec;
}

std::vector<uint8_t> Build(const PacketSpec& spec) {
  auto frame = BuildFrame(spec);
  EXPECT_TRUE(frame.ok()) << Message(frame.status());
  return frame.ok() ? *frame : std::vector<uint8_t>();
}

// RFC 1071, from the definition: 0xffff over data that holds its own right checksum.
uint32_t Sum(std::span<const uint8_t> data, uint32_t sum = 0) {
  for (size_t i = 0; i < data.size(); ++i) sum += i % 2 == 0 ? data[i] << 8 : data[i];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// The transport segment together with its pseudo-header.
uint32_t TransportSum(const std::vector<uint8_t>& frame, bool v6, uint8_t protocol, bool pseudo) {
  const std::span<const uint8_t> all(frame);
  const auto addresses = v6 ? all.subspan(kEthernet + 8, 32) : all.subspan(kEthernet + 12, 8);
  const auto segment = all.subspan(kEthernet + (v6 ? kIpV6 : kIpV4));
  const uint32_t start = pseudo ? Sum(addresses, static_cast<uint32_t>(protocol + segment.size())) : 0;
  return Sum(segment, start);
}

TEST(BuildFrameTest, ChecksumsHold) {
  struct Case {
    Protocol protocol;
    bool v6;
    uint8_t number;
    bool pseudo;
  };
  const Case cases[] = {{Protocol::kIcmp, false, 1, false}, {Protocol::kTcp, false, 6, true},
                        {Protocol::kUdp, false, 17, true},  {Protocol::kIcmp, true, 58, true},
                        {Protocol::kTcp, true, 6, true},    {Protocol::kUdp, true, 17, true},
                        {Protocol::kNd, true, 58, true}};
  for (const Case& c : cases) {
    const auto frame = c.v6 ? Build(Spec(c.protocol, "2001:db8::5", "2001:db8:1::7"))
                            : Build(Spec(c.protocol, "10.0.0.5", "10.0.1.7"));
    ASSERT_GE(frame.size(), 60U);
    EXPECT_EQ(frame[c.v6 ? kEthernet + 6 : kEthernet + 9], c.number) << Label(c.protocol);
    EXPECT_TRUE(c.v6 || Sum(std::span(frame).subspan(kEthernet, kIpV4)) == 0xffff) << Label(c.protocol);
    EXPECT_EQ(TransportSum(frame, c.v6, c.number, c.pseudo), 0xffffU) << Label(c.protocol) << c.v6;
  }
}

TEST(BuildFrameTest, FieldsAreWhereTheyBelong) {
  PacketSpec spec = Spec(Protocol::kTcp, "10.0.0.5", "10.0.1.7");
  spec.source_port = 0x1234;
  spec.destination_port = 443;
  spec.ttl = 3;
  spec.payload = 100;
  const auto frame = Build(spec);
  EXPECT_EQ(frame.size(), kEthernet + kIpV4 + 20 + 100);
  EXPECT_EQ(std::vector<uint8_t>(frame.begin(), frame.begin() + 14),
            (std::vector<uint8_t>{0xfa, 0x16, 0x3e, 0, 0, 2, 0xfa, 0x16, 0x3e, 0, 0, 1, 0x08, 0x00}));
  EXPECT_EQ(frame[kEthernet + 8], 3);
  EXPECT_EQ(std::vector<uint8_t>(frame.begin() + 26, frame.begin() + 38),
            (std::vector<uint8_t>{10, 0, 0, 5, 10, 0, 1, 7, 0x12, 0x34, 0x01, 0xbb}));
}

TEST(BuildFrameTest, Arp) {
  PacketSpec spec = Spec(Protocol::kArp, "10.0.0.5", "10.0.0.9");
  spec.destination_mac = MacAddress::Broadcast();
  const auto frame = Build(spec);
  EXPECT_EQ(frame.size(), 60U);
  EXPECT_EQ(std::vector<uint8_t>(frame.begin() + 12, frame.begin() + 42),
            (std::vector<uint8_t>{0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1, 0xfa, 0x16, 0x3e, 0, 0,
                                  1,    10,   0, 0, 5, 0, 0, 0, 0, 0, 0,    10,   0,    0, 9}));
  EXPECT_THAT(DescribeFrame(frame),
              HasSubstr("> ff:ff:ff:ff:ff:ff, arp who has 10.0.0.9 tell 10.0.0.5, 60 bytes"));
}

TEST(BuildFrameTest, NeighbourSolicitationGoesToTheSolicitedNodeGroup) {
  PacketSpec spec = Spec(Protocol::kNd, "2001:db8::5", "2001:db8::1:2:3");
  spec.destination_mac = MulticastMac(SolicitedNode(spec.destination));
  spec.ttl = 1;
  const auto frame = Build(spec);
  EXPECT_EQ(frame[kEthernet + 7], 255);  // Hop limit, whatever was asked for.
  const auto group = IpAddress::V6(std::span<const uint8_t, 16>(frame.data() + kEthernet + 24, 16));
  EXPECT_EQ(group.ToString(), "ff02::1:ff02:3");
  EXPECT_THAT(DescribeFrame(frame), HasSubstr("neighbour solicitation for 2001:db8::1:2:3, hop limit 255"));
}

TEST(BuildFrameTest, WhatDoesNotFit) {
  const auto error = [](const PacketSpec& spec) { return Message(BuildFrame(spec).status()); };
  EXPECT_THAT(error(Spec(Protocol::kIcmp, "10.0.0.5", "2001:db8::7")), HasSubstr("differ in family"));
  EXPECT_THAT(error(Spec(Protocol::kArp, "2001:db8::5", "2001:db8::7")), HasSubstr("use --proto nd"));
  EXPECT_THAT(error(Spec(Protocol::kNd, "10.0.0.5", "10.0.0.7")), HasSubstr("use --proto arp"));
  PacketSpec large = Spec(Protocol::kUdp, "10.0.0.5", "10.0.0.7");
  large.payload = kMaxPayload + 1;
  EXPECT_THAT(error(large), HasSubstr("at most 65000 bytes"));
}

TEST(DescribeFrameTest, Texts) {
  EXPECT_EQ(DescribeFrame(Build(Spec(Protocol::kIcmp, "10.0.0.5", "10.0.1.7"))),
            "fa:16:3e:00:00:01 > fa:16:3e:00:00:02, 10.0.0.5 > 10.0.1.7 icmp echo request, ttl 64, 98 bytes");
  EXPECT_THAT(DescribeFrame(Build(Spec(Protocol::kUdp, "2001:db8::5", "2001:db8::7"))),
              HasSubstr("2001:db8::5 > 2001:db8::7 udp 40000 > 80, hop limit 64"));
  EXPECT_EQ(DescribeFrame(std::vector<uint8_t>(5)), "5 bytes that are no whole Ethernet frame");
}

TEST(FrameFromHexTest, AsToolsPrintIt) {
  const auto frame = FrameFromHex("ff:ff ffffffff fa163e000001\n0806 01");
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(frame->size(), 15U);
  EXPECT_EQ(frame->back(), 1);
}

TEST(FrameFromHexTest, Faults) {
  EXPECT_THAT(Message(FrameFromHex("0g").status()), HasSubstr("no hexadecimal digit"));
  EXPECT_THAT(Message(FrameFromHex("000").status()), HasSubstr("odd number"));
  EXPECT_THAT(Message(FrameFromHex("0011").status()), HasSubstr("has 2 bytes"));
}

TEST(ProtocolTest, TextAndBack) {
  for (const char* text : {"icmp", "tcp", "udp", "arp", "nd"})
    EXPECT_EQ(Label(ProtocolFromText(text).value()), text);
  EXPECT_EQ(ProtocolFromText("sctp"), std::nullopt);
}

}  // namespace
}  // namespace kasane::ctl
