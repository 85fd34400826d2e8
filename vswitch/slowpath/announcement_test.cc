#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/slow_path.h"
#include "vswitch/slowpath/testing/fake_facts.h"

namespace kasane::slowpath {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

const NetworkId kNet("n");
const MacAddress kHere({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kThere({0xfa, 0x16, 0x3e, 0, 0, 2});
const MacAddress kRouterMac({0xfa, 0x16, 0x3e, 0, 1, 1});
const IpAddress kVip = Ip("10.0.0.100");
const IpAddress kVip6 = Ip("2001:db8::100");

// "here" on this host and "there" on h2 share a v4 and a v6 address; h3 only routes into the network.
FakeFacts SharedAddress() {
  FakeFacts facts;
  facts.vnis.emplace(kNet, *Vni::From(9));
  for (const IpAddress& ip : {kVip, kVip6}) facts.port_claims.insert({PortId("here"), {kNet, ip}, kHere});
  facts.host_claims[{Ip("192.0.2.2"), kThere}] = PortId("there");
  facts.members[kNet] = {HostId("h2")};
  facts.routing[kNet] = {HostId("h3")};
  facts.routers[RouterId("r")] = {{PortId("i"), kNet, kRouterMac, {}, IpAddress::LinkLocal(kRouterMac)}};
  return facts;
}

frames::Bytes Garp(const MacAddress& mac) {
  return frames::Arp({MacAddress::Broadcast(), mac}, 1, mac, kVip, MacAddress(), kVip);
}

SlowPathOutcome FromHere(const frames::Bytes& frame) {
  return HandleSlowPath(SharedAddress(),
                        {SlowPathCause::kAnnouncement, PortId("here"), {}, kNet, {}, 0, frame});
}
SlowPathOutcome FromHost(const std::string& source, const frames::Bytes& frame) {
  return HandleSlowPath(SharedAddress(), {SlowPathCause::kAnnouncement, {}, Ip(source), kNet, {}, 0, frame});
}

TEST(TakeAnnouncementTest, FromAPortItGoesOnToTheHostsThatOnlyRoute) {
  const SlowPathOutcome outcome = FromHere(Garp(kHere));
  EXPECT_EQ(outcome.announcement, (Announcement{kNet, kVip, kHere, PortId("here"), false}));
  ASSERT_THAT(outcome.injections, SizeIs(1));
  EXPECT_EQ(outcome.injections[0], (Injection{{}, {}, HostId("h3"), *Vni::From(9), Garp(kHere)}));
}

TEST(TakeAnnouncementTest, FromATunnelItGoesNoFurther) {
  const SlowPathOutcome outcome = FromHost("192.0.2.2", Garp(kThere));
  EXPECT_EQ(outcome.announcement, (Announcement{kNet, kVip, kThere, PortId("there"), false}));
  EXPECT_THAT(outcome.injections, IsEmpty());
}

TEST(TakeAnnouncementTest, TheClaimerMustBeOnTheHostThatSentIt) {
  EXPECT_EQ(FromHost("192.0.2.3", Garp(kThere)).announcement, std::nullopt);
  EXPECT_EQ(FromHost("192.0.2.9", Garp(kThere)).announcement, std::nullopt);
  EXPECT_EQ(FromHost("192.0.2.2", Garp(kHere)).announcement, std::nullopt);
}

TEST(TakeAnnouncementTest, AQuestionAnnouncesNothing) {
  const SlowPathOutcome outcome =
      FromHere(frames::Arp({MacAddress::Broadcast(), kHere}, 1, kHere, kVip, MacAddress(), Ip("10.0.0.7")));
  EXPECT_EQ(outcome.announcement, std::nullopt);
  EXPECT_THAT(outcome.injections, IsEmpty());
}

TEST(TakeAnnouncementTest, AnAdvertisementCountsAsWellToWhomeverItIs) {
  const IpAddress all = Ip("ff02::1");
  frames::Bytes frame = frames::Advertisement({MulticastMac(all), kHere}, {kVip6, all, 255}, kVip6, &kHere);
  frame[58] = 0x20;  // Override alone. The checksum is the receiver's business.
  EXPECT_EQ(FromHere(frame).announcement, (Announcement{kNet, kVip6, kHere, PortId("here"), false}));
  frame[58] = 0xe0;  // A router's, in answer to one.
  EXPECT_EQ(FromHere(frame).announcement, (Announcement{kNet, kVip6, kHere, PortId("here"), true}));
  frame[21] = 64;  // Not from this link.
  EXPECT_EQ(FromHere(frame).announcement, std::nullopt);
}

TEST(TakeAnnouncementTest, AReplyToARouterGoesToEveryHostThatMayHaveAsked) {
  const auto reply = [](const MacAddress& to) {
    return FromHere(frames::Arp({to, kHere}, 2, kHere, kVip, to, Ip("10.0.0.254")));
  };
  EXPECT_EQ(reply(kRouterMac).announcement, (Announcement{kNet, kVip, kHere, PortId("here"), false}));
  EXPECT_THAT(reply(kRouterMac).injections, SizeIs(2));
  EXPECT_EQ(reply(kThere).announcement, (Announcement{kNet, kVip, kHere, PortId("here"), false}));
  EXPECT_THAT(reply(kThere).injections, IsEmpty()) << "its host gets it";
}

TEST(TakeAnnouncementTest, AReplyThatSaysWhatIsConfiguredTellsNobodyElse) {
  FakeFacts facts = SharedAddress();
  facts.configured.insert({PortId("here"), {kNet, kVip}, kHere});
  const auto to = [&](const MacAddress& mac, uint16_t op) {
    return HandleSlowPath(facts, {SlowPathCause::kAnnouncement,
                                  PortId("here"),
                                  {},
                                  kNet,
                                  {},
                                  0,
                                  frames::Arp({mac, kHere}, op, kHere, kVip, mac, kVip)});
  };
  EXPECT_THAT(to(kRouterMac, 2).injections, IsEmpty());
  EXPECT_THAT(to(MacAddress::Broadcast(), 1).injections, SizeIs(1)) << "everybody was meant";
}

}  // namespace
}  // namespace kasane::slowpath
