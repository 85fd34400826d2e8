#include "vswitch/slowpath/slow_path.h"

#include <gtest/gtest.h>

#include <string>

#include "vswitch/packet/packet.h"
#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/rate_limiter.h"
#include "vswitch/slowpath/testing/fake_facts.h"

namespace kasane::slowpath {
namespace {

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

const MacAddress kVm({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kOther({0xfa, 0x16, 0x3e, 0, 0, 2});
const MacAddress kGateway({0xfa, 0x16, 0x3e, 0, 0, 0xfe});

// One network with two ports and a router of which it has two IPv4 addresses.
FakeFacts OneNetwork() {
  FakeFacts facts;
  const NetworkId n("n");
  facts.vnis.emplace(n, *Vni::From(1));
  const auto own = [&](const char* ip, const char* port, const MacAddress& mac) {
    facts.owners[{n, Ip(ip)}] = {{vswitch::OwnerKind::kPort, port}, mac, PortId(port), false, false};
  };
  own("10.0.0.1", "vm", kVm);
  own("10.0.0.2", "other", kOther);
  own("2001:db8::2", "other", kOther);
  const vswitch::Owner router{vswitch::OwnerKind::kRouter, "r"};
  facts.owners[{n, Ip("2001:db8::")}] = {router, kGateway, {}, true, true};
  facts.routers[RouterId("r")] = {{PortId("r-n"),
                                   n,
                                   kGateway,
                                   {{Ip("10.0.0.254"), 24}, {Ip("10.0.9.254"), 24}, {Ip("2001:db8::"), 64}},
                                   IpAddress::LinkLocal(kGateway)}};
  return facts;
}

SlowPathOutcome Handle(SlowPathCause cause, const frames::Bytes& frame, uint32_t mtu = 0) {
  const bool at_router = cause != SlowPathCause::kNeighbour;
  return HandleSlowPath(OneNetwork(), {cause, PortId("vm"), std::nullopt, NetworkId("n"),
                                       at_router ? std::optional(RouterId("r")) : std::nullopt, mtu, frame});
}

frames::Bytes Udp(const std::string& src, const std::string& dst, uint8_t ttl = 63, size_t data = 8) {
  return frames::Udp({kGateway, kVm}, {Ip(src), Ip(dst), ttl}, 1, 2, data);
}

TEST(IcmpErrorTest, QuotesThePacketAsItCame) {
  const frames::Bytes sent = Udp("10.0.0.1", "192.0.2.1", 64);
  const SlowPathOutcome outcome = Handle(SlowPathCause::kNoRoute, Udp("10.0.0.1", "192.0.2.1", 63));
  ASSERT_EQ(outcome.injections.size(), 1U);
  EXPECT_EQ(outcome.injections[0].router, RouterId("r"));
  frames::Bytes message = {3, 0, 0, 0, 0, 0, 0, 0};
  message.insert(message.end(), sent.begin() + 14, sent.end());
  frames::Bytes expected =
      frames::Packet({MacAddress(), MacAddress()}, {Ip("10.0.0.254"), Ip("10.0.0.1"), 64}, 1, message);
  const frames::Bytes& got = outcome.injections[0].frame;
  // Behind the addresses the two are alike; in the header, libtins' and the helper's differ in TOS, id and DF.
  EXPECT_EQ(frames::Bytes(got.begin() + 26, got.end()), frames::Bytes(expected.begin() + 26, expected.end()));
  EXPECT_EQ(got[15], 0xc0);
}

TEST(IcmpErrorTest, TheAddressIsOfTheSourcesSubnet) {
  const auto from = [](const std::string& source) {
    return packet::Packet(
               Handle(SlowPathCause::kTtlExceeded, Udp(source, "192.0.2.1", 1)).injections.at(0).frame)
        .ip_src();
  };
  EXPECT_EQ(from("10.0.0.1"), Ip("10.0.0.254"));
  EXPECT_EQ(from("10.0.9.1"), Ip("10.0.9.254"));
  EXPECT_EQ(from("172.16.0.1"), Ip("10.0.0.254")) << "the lowest";
}

TEST(IcmpErrorTest, IsNoLargerThanEveryLinkCarries) {
  EXPECT_EQ(
      Handle(SlowPathCause::kTooBig, Udp("10.0.0.1", "10.0.1.1", 9, 1400), 1280).injections.at(0).frame.size(),
      14U + 576U);
  EXPECT_EQ(Handle(SlowPathCause::kTooBig, Udp("2001:db8::1", "2001:db8:1::1", 9, 1400), 1280)
                .injections.at(0)
                .frame.size(),
            14U + 1280U);
}

TEST(IcmpErrorTest, IsNeverSentInAnswerToWhatItMustNot) {
  const auto icmp = [](const std::string& src, const std::string& dst, uint8_t type) {
    return frames::Packet({kGateway, kVm}, {Ip(src), Ip(dst), 1}, Ip(src).is_v4() ? 1 : 58,
                          {type, 0, 0, 0, 0, 0, 0, 0});
  };
  const frames::Bytes later = frames::Fragments(Udp("10.0.0.1", "10.0.1.1", 1, 64), 16)[1];
  frames::Bytes to_group = Udp("10.0.0.1", "10.0.1.1", 1);
  to_group[0] = 1;
  const std::vector<std::pair<const char*, frames::Bytes>> rows = {
      {"an error", icmp("10.0.0.1", "10.0.1.1", 3)},
      {"a redirect", icmp("10.0.0.1", "10.0.1.1", 5)},
      {"an ICMPv6 error", icmp("2001:db8::1", "2001:db8:1::1", 1)},
      {"an ICMPv6 redirect", icmp("2001:db8::1", "2001:db8:1::1", 137)},
      {"a later fragment", later},
      {"an Ethernet group", to_group},
      {"a group", Udp("10.0.0.1", "224.0.0.5", 1)},
      {"a subnet's broadcast", Udp("10.0.0.1", "10.0.0.255", 1)},
      {"from nobody", Udp("0.0.0.0", "10.0.1.1", 1)},
      {"from ::", Udp("::", "2001:db8:1::1", 1)},
      {"from a group", Udp("224.0.0.1", "10.0.1.1", 1)},
      {"from loopback", Udp("127.0.0.1", "10.0.1.1", 1)},
      {"from broadcast", Udp("255.255.255.255", "10.0.1.1", 1)},
      {"from a subnet's broadcast", Udp("10.0.0.255", "10.0.1.1", 1)},
      {"the router's own", Udp("10.0.0.254", "10.0.1.1", 1)},
      {"no IP", frames::Bytes{1, 2, 3}},
  };
  for (const auto& [what, frame] : rows) {
    const SlowPathOutcome outcome = Handle(SlowPathCause::kTtlExceeded, frame);
    EXPECT_TRUE(outcome.injections.empty()) << what;
    EXPECT_FALSE(outcome.text.empty()) << what;
  }
  EXPECT_EQ(Handle(SlowPathCause::kTtlExceeded, icmp("10.0.0.1", "10.0.1.1", 8)).injections.size(), 1U)
      << "an echo request is no error";
}

frames::Bytes Solicit(const std::string& src, const std::string& target, const MacAddress* option = nullptr) {
  const IpAddress group = SolicitedNode(Ip(target));
  return frames::Solicitation({MulticastMac(group), kVm}, {Ip(src), group, 255}, Ip(target), option);
}

TEST(NeighbourTest, AnAnswerHasTheLinkLayerAddressThatTheQuestionLacks) {
  const SlowPathOutcome outcome = Handle(SlowPathCause::kNeighbour, Solicit("fe80::1", "2001:db8::2"));
  ASSERT_EQ(outcome.injections.size(), 1U);
  EXPECT_EQ(outcome.injections[0].port, PortId("vm"));
  frames::Bytes expected =
      frames::Advertisement({kVm, kOther}, {Ip("2001:db8::2"), Ip("fe80::1"), 255}, Ip("2001:db8::2"), &kOther);
  const packet::Packet got(outcome.injections[0].frame);
  EXPECT_EQ(got.icmp_message()[4], 0x60) << "solicited, override";
  EXPECT_TRUE(got.icmpv6_checksum_right());
  EXPECT_EQ(got.nd_option(2), kOther);
  EXPECT_EQ(got.frame().size(), expected.size());
  EXPECT_EQ(got.eth_dst(), kVm);
}

TEST(NeighbourTest, RoutersSayThatTheyAreAndAnycastDoesNotOverride) {
  const packet::Packet got(
      Handle(SlowPathCause::kNeighbour, Solicit("::", "2001:db8::")).injections.at(0).frame);
  EXPECT_EQ(got.icmp_message()[4], 0x80) << "router alone: not solicited, no override";
  EXPECT_EQ(got.ip_dst(), Ip("ff02::1"));
}

TEST(NeighbourTest, IgnoresWhatRfc4861Forbids) {
  frames::Bytes broken = Solicit("::", "2001:db8::2");
  broken.back() ^= 1;
  const frames::Bytes with_option = Solicit("::", "2001:db8::2", &kVm);
  frames::Bytes no_length = Solicit("fe80::1", "2001:db8::2", &kVm);
  no_length[14 + 40 + 25] = 0;
  for (const frames::Bytes& frame : {broken, with_option, no_length, frames::Bytes{}, frames::Bytes(60, 0)}) {
    const SlowPathOutcome outcome = Handle(SlowPathCause::kNeighbour, frame);
    EXPECT_TRUE(outcome.injections.empty());
    EXPECT_EQ(outcome.drop, vswitch::DropReason::kMalformed);
  }
  EXPECT_TRUE(Handle(SlowPathCause::kNeighbour, Solicit("::", "2001:db8::77")).injections.empty())
      << "nobody's";
}

// "here" and the host h2 may have addresses that nobody has announced.
SlowPathOutcome Resolve(const std::string& next_hop, bool may_be_had = true) {
  FakeFacts facts = OneNetwork();
  const NetworkId n("n");
  if (may_be_had) facts.candidates[{n, Ip(next_hop)}] = {{PortId("here")}, {HostId("h2")}};
  return HandleSlowPath(facts,
                        {SlowPathCause::kResolve, PortId("vm"), std::nullopt, n, RouterId("r"), 0,
                         Udp(Ip(next_hop).is_v4() ? "10.0.0.1" : "2001:db8::1", next_hop), n, Ip(next_hop)});
}

TEST(ResolveTest, AsksEveryoneWhoMayHaveTheAddressAndThePacketWaits) {
  const SlowPathOutcome outcome = Resolve("10.0.0.99");
  ASSERT_EQ(outcome.injections.size(), 2U);
  EXPECT_EQ(outcome.injections[0].port, PortId("here"));
  EXPECT_EQ(outcome.injections[1].host, HostId("h2"));
  EXPECT_EQ(outcome.injections[1].vni, *Vni::From(1));
  const packet::Packet question(outcome.injections[0].frame);
  ASSERT_TRUE(question.has_arp());
  EXPECT_EQ(question.arp_op(), 1);
  EXPECT_EQ(question.arp_sha(), kGateway);
  EXPECT_EQ(question.arp_spa(), Ip("10.0.0.254")) << "of the address's subnet";
  EXPECT_EQ(question.arp_tpa(), Ip("10.0.0.99"));
  EXPECT_EQ(question.eth_dst(), MacAddress::Broadcast());
  EXPECT_EQ(outcome.waits_for, vswitch::ClaimKey(NetworkId("n"), Ip("10.0.0.99")));
  EXPECT_EQ(outcome.drop, std::nullopt);
}

TEST(ResolveTest, TheSolicitationIsAGoodOne) {
  const SlowPathOutcome outcome = Resolve("2001:db8::99");
  ASSERT_EQ(outcome.injections.size(), 2U);
  const packet::Packet question(outcome.injections[0].frame);
  ASSERT_TRUE(question.has_neighbour_solicitation());
  EXPECT_TRUE(question.icmpv6_checksum_right());
  EXPECT_EQ(question.ttl(), 255);
  EXPECT_EQ(question.nd_target(), Ip("2001:db8::99"));
  EXPECT_EQ(question.ip_dst(), SolicitedNode(Ip("2001:db8::99")));
  EXPECT_EQ(question.nd_option(1), kGateway);
}

TEST(ResolveTest, WhatNobodyMayHaveIsUnreachableAtOnce) {
  const SlowPathOutcome outcome = Resolve("10.0.0.99", false);
  EXPECT_EQ(outcome.drop, vswitch::DropReason::kNoNeighbour);
  EXPECT_EQ(outcome.waits_for, std::nullopt);
  ASSERT_EQ(outcome.injections.size(), 1U);
  EXPECT_EQ(outcome.injections[0].router, RouterId("r"));
  EXPECT_EQ(packet::Packet(outcome.injections[0].frame).icmp_type(), 3);
}

TEST(ResolveTest, WhatWasAnnouncedMeanwhileIsSent) {
  const SlowPathOutcome outcome = Resolve("10.0.0.2");
  ASSERT_EQ(outcome.injections.size(), 1U);
  EXPECT_EQ(outcome.injections[0].router, RouterId("r"));
  EXPECT_EQ(outcome.waits_for, std::nullopt);
}

TEST(RateLimiterTest, OneAskersStormTakesNothingFromAnother) {
  RateLimiter<std::string> limiter({.per_second = 100, .burst = 100});
  RateLimiter<std::string>::Time now;
  int storm = 0;
  int quiet = 0;
  for (int ms = 0; ms < 10'000; ++ms, now += std::chrono::milliseconds(1)) {
    storm += limiter.Allow("storm", now) ? 1 : 0;
    if (ms % 20 == 0) quiet += limiter.Allow("quiet", now) ? 1 : 0;
  }
  EXPECT_NEAR(storm, 100 + 1000, 2) << "the burst, then 100 a second";
  EXPECT_EQ(quiet, 500);
}

}  // namespace
}  // namespace kasane::slowpath
