// What sim says of routers beside plain forwarding: errors, MTUs, several next hops, link-locals, fragments;
// and of duplicate address detection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "vswitch/packet/packet.h"
#include "vswitch/packet/testing/frames.h"
#include "vswitch/sim/sim.h"

namespace kasane::sim {
namespace {

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }
MacAddress Mac(uint8_t last) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, last}); }

const MacAddress kVm = Mac(1);
const MacAddress kOther = Mac(2);
const MacAddress kGateway = Mac(0xfe);

void AddPort(vswitch::HostView& view, const std::string& id, const std::string& network, const MacAddress& mac,
             std::vector<IpAddress> ips) {
  view.ports.emplace(
      PortId(id), vswitch::LocalPort{PortId(id), id, NetworkId(network), mac, std::move(ips), true, false, {}});
}

// Networks left (MTU 1450: vm, other) and right (MTU 1000: one, two), and a router; everything is on this host.
vswitch::HostView LeftAndRight() {
  vswitch::HostView view;
  view.host = HostId("h");
  for (const auto& [name, vni, mtu] : {std::tuple{"left", 1U, 1450U}, std::tuple{"right", 2U, 1000U}}) {
    view.networks.emplace(NetworkId(name),
                          vswitch::NetworkView{NetworkId(name), name, *Vni::From(vni), mtu, true, {}});
  }
  AddPort(view, "vm", "left", kVm, {Ip("10.0.0.1"), Ip("2001:db8::1")});
  AddPort(view, "other", "left", kOther, {Ip("10.0.0.2"), Ip("2001:db8::2")});
  AddPort(view, "one", "right", Mac(3), {Ip("10.0.1.1"), Ip("2001:db8:1::1")});
  AddPort(view, "two", "right", Mac(4), {Ip("10.0.1.2"), Ip("2001:db8:1::2")});
  vswitch::RouterView router{RouterId("r"), "r", true, {}, {}};
  const auto port = [&](const char* id, const char* network, const MacAddress& mac, const char* v4,
                        const char* v6) {
    router.ports.push_back(
        {PortId(id), NetworkId(network), mac, {{Ip(v4), 24}, {Ip(v6), 64}}, IpAddress::LinkLocal(mac)});
  };
  port("r-left", "left", kGateway, "10.0.0.254", "2001:db8::fe");
  port("r-right", "right", Mac(0xfd), "10.0.1.254", "2001:db8:1::fe");
  const auto route = [&](const char* prefix, vswitch::RouteOrigin origin, std::vector<vswitch::NextHop> hops) {
    router.routes.push_back({*IpPrefix::Parse(prefix), origin, std::move(hops)});
  };
  route("10.0.0.0/24", vswitch::RouteOrigin::kConnected, {{PortId("r-left"), {}}});
  route("10.0.1.0/24", vswitch::RouteOrigin::kConnected, {{PortId("r-right"), {}}});
  route("192.0.2.0/24", vswitch::RouteOrigin::kExtra,
        {{PortId("r-right"), Ip("10.0.1.1")}, {PortId("r-right"), Ip("10.0.1.2")}});
  route("2001:db8::/64", vswitch::RouteOrigin::kConnected, {{PortId("r-left"), {}}});
  route("2001:db8:1::/64", vswitch::RouteOrigin::kConnected, {{PortId("r-right"), {}}});
  view.routers.emplace(router.id, router);
  return view;
}

Result Send(const Frame& frame, const Unanswered& unanswered = {}) {
  return FromPort(LeftAndRight(), PortId("vm"), frame, {}, unanswered);
}

frames::Ip Between(const char* src, const char* dst, uint8_t ttl = 64) { return {Ip(src), Ip(dst), ttl}; }

Frame ToGateway(const frames::Ip& ip, size_t data = 8) {
  return frames::Udp({kGateway, kVm}, ip, 1000, 2000, data);
}

// The only delivery must be an ICMP error to the VM; its type, code and source.
std::string ErrorOf(const Result& result) {
  if (result.deliveries.size() != 1 || result.deliveries[0].port != PortId("vm")) return "none";
  const packet::Packet packet(result.deliveries[0].frame);
  EXPECT_EQ(packet.eth_src(), kGateway);
  EXPECT_EQ(packet.eth_dst(), kVm);
  return std::to_string(packet.icmp_type()) + "/" + std::to_string(packet.icmp_code()) + " from " +
         packet.ip_src().ToString();
}

TEST(SimRouterTest, AsksPortsWithoutSecurityForAnAddressThatNobodyAnnounced) {
  const Result result = Send(ToGateway(Between("10.0.0.1", "10.0.1.77")));
  EXPECT_EQ(result.drop, std::nullopt);
  EXPECT_EQ(result.waits_for, vswitch::ClaimKey(NetworkId("right"), Ip("10.0.1.77")));
  ASSERT_EQ(result.deliveries.size(), 2U);
  for (const Delivery& delivery : result.deliveries) {
    const packet::Packet question(delivery.frame);
    ASSERT_TRUE(question.has_arp());
    EXPECT_EQ(question.arp_spa(), Ip("10.0.1.254"));
    EXPECT_EQ(question.arp_tpa(), Ip("10.0.1.77"));
  }
}

TEST(SimRouterTest, OneThatAloneMayHaveAnAddressIsNotAsked) {
  vswitch::HostView view = LeftAndRight();
  for (auto& [id, port] : view.ports) port.port_security_enabled = true;
  const IpPrefix vip = IpPrefix::Host(Ip("10.0.1.100"));
  view.ports.at(PortId("one")).allowed = {{Mac(3), vip}};
  const auto send = [&] { return FromPort(view, PortId("vm"), ToGateway(Between("10.0.0.1", "10.0.1.100"))); };
  view.ports.at(PortId("vm")).port_security_enabled = false;
  ASSERT_EQ(send().deliveries.size(), 1U);
  EXPECT_EQ(send().deliveries[0].port, PortId("one"));
  EXPECT_EQ(packet::Packet(send().deliveries[0].frame).eth_dst(), Mac(3));
  view.ports.at(PortId("two")).allowed = {{Mac(4), vip}};
  EXPECT_EQ(send().waits_for, vswitch::ClaimKey(NetworkId("right"), Ip("10.0.1.100"))) << "either may have it";
}

// RFC 4861, 7.1.2: silently.
TEST(SimRouterTest, AnAdvertisementToARouterThatAnnouncesNothingIsDiscarded) {
  const IpAddress router = Ip("2001:db8::fe");
  const IpAddress sender = Ip("2001:db8::1");
  for (const MacAddress* const mac : {static_cast<const MacAddress*>(nullptr), &kVm}) {
    const Result result = Send(frames::Advertisement({kGateway, kVm}, {sender, router, 255}, sender, mac));
    EXPECT_EQ(result.drop, std::nullopt);
    EXPECT_TRUE(result.deliveries.empty());
    EXPECT_EQ(result.announcements.size(), mac == nullptr ? 0U : 1U);
  }
}

TEST(SimRouterTest, ANextHopThatNobodyHasTakesNoShare) {
  vswitch::HostView view = LeftAndRight();
  const auto ways = [&] {
    return EveryFromPort(view, PortId("vm"), ToGateway(Between("10.0.0.1", "192.0.2.1")));
  };
  ASSERT_EQ(ways().size(), 2U);
  view.ports.at(PortId("one")).admin_state_up = false;
  ASSERT_EQ(ways().size(), 1U);
  ASSERT_EQ(ways()[0].deliveries.size(), 1U);
  EXPECT_EQ(ways()[0].deliveries[0].port, PortId("two"));
}

TEST(SimRouterTest, ErrorsComeFromTheInterfaceThatThePacketEntered) {
  const Result ttl = Send(ToGateway(Between("10.0.0.1", "10.0.1.1", 1)));
  EXPECT_EQ(ttl.drop, vswitch::DropReason::kTtlExceeded);
  EXPECT_EQ(ErrorOf(ttl), "11/0 from 10.0.0.254");
  EXPECT_EQ(ErrorOf(Send(ToGateway(Between("10.0.0.1", "198.51.100.1")))), "3/0 from 10.0.0.254");
  const Unanswered nobody = {{NetworkId("right"), Ip("10.0.1.77")}, {NetworkId("right"), Ip("2001:db8:1::77")}};
  EXPECT_EQ(ErrorOf(Send(ToGateway(Between("10.0.0.1", "10.0.1.77")), nobody)), "3/1 from 10.0.0.254");
  EXPECT_EQ(ErrorOf(Send(ToGateway(Between("2001:db8::1", "2001:db8:1::1", 1)))), "3/0 from 2001:db8::fe");
  EXPECT_EQ(ErrorOf(Send(ToGateway(Between("2001:db8::1", "2001:db8:9::1")))), "1/0 from 2001:db8::fe");
  EXPECT_EQ(ErrorOf(Send(ToGateway(Between("2001:db8::1", "2001:db8:1::77")), nobody)),
            "1/3 from 2001:db8::fe");
}

TEST(SimRouterTest, AnErrorThatCannotBeRoutedIsDroppedOnItsOwnAccount) {
  const Result result = Send(ToGateway(Between("203.0.113.1", "10.0.1.1", 1)));
  EXPECT_EQ(result.drop, vswitch::DropReason::kTtlExceeded);
  EXPECT_TRUE(result.deliveries.empty());
  EXPECT_THAT(result.answer_drops, testing::ElementsAre(vswitch::DropReason::kNoRoute));
}

TEST(SimRouterTest, TheMtuOfTheEgressNetworkCountsAlsoWithoutDontFragment) {
  const Result fits = Send(ToGateway(Between("10.0.0.1", "10.0.1.1"), 1000 - 28));
  ASSERT_EQ(fits.deliveries.size(), 1U);
  EXPECT_EQ(fits.deliveries[0].port, PortId("one"));

  const Result v4 = Send(ToGateway(Between("10.0.0.1", "10.0.1.1"), 1000 - 27));
  EXPECT_EQ(v4.drop, vswitch::DropReason::kMtu);
  EXPECT_EQ(ErrorOf(v4), "3/4 from 10.0.0.254");
  const Frame& frame4 = v4.deliveries[0].frame;
  EXPECT_EQ(frame4[40] << 8 | frame4[41], 1000) << "the next hop's MTU (RFC 1191)";
  EXPECT_EQ(frame4.size(), 14U + 576U);

  const Result v6 = Send(ToGateway(Between("2001:db8::1", "2001:db8:1::1"), 1000));
  EXPECT_EQ(ErrorOf(v6), "2/0 from 2001:db8::fe");
  EXPECT_EQ(v6.deliveries[0].frame[60] << 8 | v6.deliveries[0].frame[61], 1000);
}

TEST(SimRouterTest, ABridgedFrameLargerThanTheMtuIsDroppedInSilence) {
  const auto send = [](size_t data) {
    return Send(frames::Udp({kOther, kVm}, Between("10.0.0.1", "10.0.0.2"), 1, 2, data));
  };
  EXPECT_EQ(send(1450 - 28).deliveries.size(), 1U);
  EXPECT_EQ(send(1450 - 27).drop, vswitch::DropReason::kMtu);
  EXPECT_TRUE(send(1450 - 27).deliveries.empty());
}

TEST(SimRouterTest, SeveralNextHopsAreAlternatives) {
  const std::vector<Result> every =
      EveryFromPort(LeftAndRight(), PortId("vm"), ToGateway(Between("10.0.0.1", "192.0.2.9")));
  ASSERT_EQ(every.size(), 2U);
  EXPECT_EQ(every[0].deliveries.at(0).port, PortId("one"));
  EXPECT_EQ(every[1].deliveries.at(0).port, PortId("two"));
  EXPECT_EQ(Send(ToGateway(Between("10.0.0.1", "192.0.2.9"))).deliveries, every[0].deliveries);
}

TEST(SimRouterTest, AnswersEchoToItsLinkLocalOnTheLink) {
  const IpAddress own = IpAddress::LinkLocal(kGateway);
  const Result result = Send(frames::Echo({kGateway, kVm}, {IpAddress::LinkLocal(kVm), own, 1}, 1, 8));
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm"));
  EXPECT_EQ(result.deliveries[0].frame, [&] {
    Frame reply = frames::Echo({kVm, kGateway}, {own, IpAddress::LinkLocal(kVm), 64}, 1, 8);
    packet::Packet packet(reply);
    packet.set_icmp_type(129);
    return packet.frame();
  }());
  EXPECT_EQ(
      Send(frames::Echo({kGateway, kVm}, {Ip("2001:db8::1"), IpAddress::LinkLocal(Mac(0xfd)), 9}, 1, 8)).drop,
      vswitch::DropReason::kRouterLocal)
      << "the address of another link";
}

TEST(SimRouterTest, AFragmentThatIsTheWholePacketIsNoFragment) {
  const std::vector<Frame> whole =
      frames::Fragments(frames::Echo({kGateway, kVm}, Between("2001:db8::1", "2001:db8::fe"), 1, 8), 64);
  ASSERT_EQ(whole.size(), 1U);
  const Result result = Send(whole[0]);
  EXPECT_EQ(result.drop, std::nullopt);
  ASSERT_EQ(result.deliveries.size(), 1U);
  EXPECT_EQ(result.deliveries[0].port, PortId("vm"));
}

TEST(SimRouterTest, ForwardsFragmentsAndTellsOfTheFirstOneOnly) {
  for (const auto& [src, dst] :
       {std::pair{"10.0.0.1", "10.0.1.1"}, std::pair{"2001:db8::1", "2001:db8:1::1"}}) {
    const std::vector<Frame> fragments = frames::Fragments(ToGateway(Between(src, dst), 100), 48);
    ASSERT_EQ(fragments.size(), 3U);
    for (const Frame& fragment : fragments) {
      ASSERT_EQ(Send(fragment).deliveries.size(), 1U);
      EXPECT_EQ(Send(fragment).deliveries[0].port, PortId("one"));
    }
    const std::vector<Frame> expired = frames::Fragments(ToGateway(Between(src, dst, 1), 100), 48);
    EXPECT_NE(ErrorOf(Send(expired[0])), "none");
    EXPECT_EQ(ErrorOf(Send(expired[1])), "none");
    EXPECT_EQ(ErrorOf(Send(expired[2])), "none");
    EXPECT_EQ(Send(expired[2]).drop, vswitch::DropReason::kTtlExceeded);
  }
}

TEST(SimTest, DuplicateAddressDetectionIsAnsweredToAllNodesAtTheAskingPort) {
  const auto probe = [](const char* target) {
    const IpAddress group = SolicitedNode(Ip(target));
    return frames::Solicitation({MulticastMac(group), kVm}, {Ip("::"), group, 255}, Ip(target), nullptr);
  };
  const Result taken = Send(probe("2001:db8::2"));
  ASSERT_EQ(taken.deliveries.size(), 1U);
  EXPECT_EQ(taken.deliveries[0].port, PortId("vm"));
  const packet::Packet answer(taken.deliveries[0].frame);
  EXPECT_EQ(answer.ip_dst(), Ip("ff02::1"));
  EXPECT_EQ(answer.eth_dst(), MulticastMac(Ip("ff02::1")));
  EXPECT_EQ(answer.nd_option(2), kOther);
  EXPECT_EQ(answer.icmp_message()[4], 0x20) << "override, not solicited";

  const Result own = Send(probe("2001:db8::1"));
  ASSERT_EQ(own.deliveries.size(), 1U);
  EXPECT_EQ(own.deliveries[0].port, PortId("other")) << "never answered to the owner, but heard by the others";
}

}  // namespace
}  // namespace kasane::sim
