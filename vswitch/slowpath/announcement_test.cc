#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::slowpath {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

const NetworkId kNet("n");
const MacAddress kHere({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kThere({0xfa, 0x16, 0x3e, 0, 0, 2});
const IpAddress kVip = Ip("10.0.0.100");
const IpAddress kVip6 = Ip("2001:db8::100");

// "here" on this host and "there" on h2 share a v4 and a v6 address; h3 and h4 only route into the network, and
// nothing is known of how to reach h4.
vswitch::HostView SharedAddress() {
  vswitch::HostView view;
  view.networks.emplace(
      kNet,
      vswitch::NetworkView{kNet, "n", *Vni::From(9), 1450, true, {HostId("h2")}, {HostId("h3"), HostId("h4")}});
  const auto allowed = [](const MacAddress& mac) {
    return std::vector<vswitch::AllowedAddress>{{mac, IpPrefix::Host(kVip)}, {mac, IpPrefix::Host(kVip6)}};
  };
  view.ports.emplace(PortId("here"),
                     vswitch::LocalPort{PortId("here"), "here", kNet, kHere, {}, true, true, allowed(kHere)});
  view.endpoints.emplace(
      PortId("there"),
      vswitch::RemoteEndpoint{PortId("there"), "there", kNet, HostId("h2"), kThere, {}, true, allowed(kThere)});
  for (const char* n : {"2", "3"}) {
    const IpAddress vtep = Ip(std::string("192.0.2.") + n);
    view.hosts.emplace(HostId(std::string("h") + n),
                       vswitch::RemoteHost{HostId(std::string("h") + n), vtep, {vtep, std::nullopt}});
  }
  return view;
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

TEST(TakeAnnouncement, FromAPortItGoesOnToTheHostsThatOnlyRoute) {
  const SlowPathOutcome outcome = FromHere(Garp(kHere));
  EXPECT_EQ(outcome.announcement, (Announcement{kNet, kVip, kHere, PortId("here")}));
  ASSERT_THAT(outcome.injections, SizeIs(1));
  EXPECT_EQ(outcome.injections[0], (Injection{{}, {}, HostId("h3"), *Vni::From(9), Garp(kHere)}));
}

TEST(TakeAnnouncement, FromATunnelItGoesNoFurther) {
  const SlowPathOutcome outcome = FromHost("192.0.2.2", Garp(kThere));
  EXPECT_EQ(outcome.announcement, (Announcement{kNet, kVip, kThere, PortId("there")}));
  EXPECT_THAT(outcome.injections, IsEmpty());
}

TEST(TakeAnnouncement, TheClaimerMustBeOnTheHostThatSentIt) {
  EXPECT_EQ(FromHost("192.0.2.3", Garp(kThere)).announcement, std::nullopt);
  EXPECT_EQ(FromHost("192.0.2.9", Garp(kThere)).announcement, std::nullopt);
  EXPECT_EQ(FromHost("192.0.2.2", Garp(kHere)).announcement, std::nullopt);
}

TEST(TakeAnnouncement, AQuestionAnnouncesNothing) {
  const SlowPathOutcome outcome =
      FromHere(frames::Arp({MacAddress::Broadcast(), kHere}, 1, kHere, kVip, MacAddress(), Ip("10.0.0.7")));
  EXPECT_EQ(outcome.announcement, std::nullopt);
  EXPECT_THAT(outcome.injections, IsEmpty());
}

TEST(TakeAnnouncement, AnUnsolicitedAdvertisementCountsAsWell) {
  const IpAddress all = Ip("ff02::1");
  frames::Bytes frame = frames::Advertisement({MulticastMac(all), kHere}, {kVip6, all, 255}, kVip6, &kHere);
  frame[58] = 0x20;  // Override alone. The checksum is the receiver's business.
  EXPECT_EQ(FromHere(frame).announcement, (Announcement{kNet, kVip6, kHere, PortId("here")}));
  frame[58] = 0x60;  // Solicited: an answer to somebody.
  EXPECT_EQ(FromHere(frame).announcement, std::nullopt);
}

}  // namespace
}  // namespace kasane::slowpath
