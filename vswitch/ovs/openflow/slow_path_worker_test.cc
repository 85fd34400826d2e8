#include "vswitch/ovs/openflow/slow_path_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/ovs/translate/datapath_bounds.h"
#include "vswitch/ovs/translate/numbers.h"
#include "vswitch/ovs/translate/slow_path_action.h"
#include "vswitch/packet/packet.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::ovs {
namespace {

using ::testing::HasSubstr;
using Time = std::chrono::steady_clock::time_point;

const NetworkId kNetwork("n");
const RouterId kRouter("r");
const MacAddress kVm({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kGateway({0xfa, 0x16, 0x3e, 0, 0, 0xfe});

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

vswitch::HostView View() {
  vswitch::HostView view;
  view.networks.emplace(kNetwork, vswitch::NetworkView{kNetwork, "n", *Vni::From(7), 1450, true, {}});
  view.ports.emplace(PortId("vm"),
                     vswitch::LocalPort{PortId("vm"), "vm", kNetwork, kVm, {Ip("10.0.0.1")}, true, true, {}});
  view.ports.emplace(
      PortId("unplugged"),
      vswitch::LocalPort{PortId("unplugged"), "u", kNetwork, kGateway, {Ip("10.0.0.2")}, true, true, {}});
  vswitch::RouterView router{kRouter, "r", true, {}, {}};
  router.ports.push_back(
      {PortId("r-n"), kNetwork, kGateway, {{Ip("10.0.0.254"), 24}}, IpAddress::LinkLocal(kGateway)});
  view.routers.emplace(kRouter, router);
  return view;
}

std::vector<uint8_t> Userdata(slowpath::SlowPathCause cause, uint32_t mtu = 0) {
  return {kUserdataMark,
          static_cast<uint8_t>(cause),
          0,
          0,
          static_cast<uint8_t>(mtu >> 8),
          static_cast<uint8_t>(mtu)};
}

class SlowPathWorkerTest : public ::testing::Test {
 protected:
  SlowPathWorkerTest() { SetView(View(), {{{PortId("vm"), 5}}, 1, 0}); }

  void SetView(const vswitch::HostView& view, const Bindings& bindings) {
    tables_ = std::make_shared<const tables::ForwardingTables>(
        tables::BuildForwardingTables(view, PluggedPorts(bindings)));
    worker_.SetTables(tables_, bindings);
  }
  // As the switch hands over a packet whose TTL ran out.
  PacketIn Expired() const {
    PacketIn in;
    in.frame = frames::Udp({kGateway, kVm}, {Ip("10.0.0.1"), Ip("192.0.2.1"), 1}, 1, 2, 8);
    in.userdata = Userdata(slowpath::SlowPathCause::kTtlExceeded);
    in.in_port = 0xffff;
    in.registers[1] = AssignNumbers(*tables_).routers.at(kRouter);
    in.registers[4] = 7;
    in.registers[5] = 5;
    return in;
  }
  uint64_t Dropped(vswitch::DropReason reason) const {
    const auto drops = worker_.Drops();
    const auto found = drops.find({{vswitch::OwnerKind::kPort, "vm"}, reason});
    return found == drops.end() ? 0 : found->second;
  }

  std::shared_ptr<const tables::ForwardingTables> tables_;
  SlowPathWorker worker_{{.per_second = 10, .burst = 3}, nullptr};
};

TEST_F(SlowPathWorkerTest, ARoutersErrorIsRoutedByTheRouter) {
  const std::vector<PacketOut> out = worker_.Handle(Expired(), Time());
  ASSERT_EQ(out.size(), 1U);
  EXPECT_THAT(out[0].actions, HasSubstr(fmt::format("set_field:{:#x}->reg1", Expired().registers[1])));
  EXPECT_THAT(out[0].actions, HasSubstr(fmt::format("resubmit(,{})", static_cast<int>(Table::kRoute))));
  EXPECT_EQ(packet::Packet(out[0].frame).ip_src(), Ip("10.0.0.254"));
}

TEST_F(SlowPathWorkerTest, OverTheLimitThereIsNoAnswerAndItIsCounted) {
  size_t answers = 0;
  for (int i = 0; i < 10; ++i) answers += worker_.Handle(Expired(), Time()).size();
  EXPECT_EQ(answers, 3U);
  EXPECT_EQ(Dropped(vswitch::DropReason::kSlowPathRate), 7U);
  EXPECT_EQ(worker_.Handle(Expired(), Time() + std::chrono::seconds(1)).size(), 1U);
}

TEST_F(SlowPathWorkerTest, OversizeFramesAreCountedHoweverMany) {
  PacketIn in;
  in.frame = frames::Udp({kGateway, kVm}, {Ip("10.0.0.1"), Ip("10.0.0.2"), 9}, 1, 2, 1500);
  in.userdata = Userdata(slowpath::SlowPathCause::kTooBig, 1450);
  in.in_port = 5;
  in.metadata = 7;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(worker_.Handle(in, Time()).empty());
  EXPECT_EQ(Dropped(vswitch::DropReason::kMtu), 50U);
  EXPECT_EQ(Dropped(vswitch::DropReason::kSlowPathRate), 0U);
}

TEST_F(SlowPathWorkerTest, WhatItDoesNotUnderstandIsIgnored) {
  PacketIn in = Expired();
  for (const std::vector<uint8_t>& userdata :
       {std::vector<uint8_t>{}, {1, 2, 3}, {kUserdataMark, 0, 0, 0, 0, 0}, {kUserdataMark, 99, 0, 0, 0, 0}}) {
    in.userdata = userdata;
    EXPECT_TRUE(worker_.Handle(in, Time()).empty());
  }
  in = Expired();
  in.registers[1] = 12345;
  EXPECT_TRUE(worker_.Handle(in, Time()).empty()) << "a router that is gone";
}

TEST_F(SlowPathWorkerTest, APortThatIsNotPluggedHoldsNoAddress) {
  PacketIn in;
  in.frame = frames::Arp({MacAddress::Broadcast(), kVm}, 1, kVm, Ip("10.0.0.1"), MacAddress(), Ip("10.0.0.2"));
  in.userdata = Userdata(slowpath::SlowPathCause::kNeighbour);
  in.in_port = 5;
  in.metadata = 7;
  EXPECT_TRUE(worker_.Handle(in, Time()).empty());
  SetView(View(), {{{PortId("vm"), 5}, {PortId("unplugged"), 6}}, 1, 0});
  const std::vector<PacketOut> out = worker_.Handle(in, Time());
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].actions, "output:5");
}

// 10.0.0.9 is nobody's, and `open` has port security off.
class ResolvingTest : public SlowPathWorkerTest {
 protected:
  ResolvingTest() { Announce(false); }

  void Announce(bool announced) {
    vswitch::HostView view = View();
    view.ports.emplace(PortId("open"),
                       vswitch::LocalPort{PortId("open"), "o", kNetwork, kOpen, {}, true, false, {}});
    if (announced) {
      view.claims[{kNetwork, Ip("10.0.0.9")}] = {.mac = kOpen, .port = PortId("open"), .sequence = 1};
    }
    SetView(view, {{{PortId("vm"), 5}, {PortId("open"), 6}}, 1, 0});
  }
  PacketIn Unresolved() const {
    PacketIn in = Expired();
    in.frame = frames::Udp({kGateway, kVm}, {Ip("10.0.0.1"), Ip("10.0.0.9"), 9}, 1, 2, 8);
    in.userdata = Userdata(slowpath::SlowPathCause::kResolve);
    in.metadata = 7;
    in.registers[2] = 1;
    in.registers[3] = 0x0a000009;
    return in;
  }

  const MacAddress kOpen{{0xfa, 0x16, 0x3e, 0, 0, 0x09}};
};

TEST_F(ResolvingTest, APacketWaitsForTheAnswerToItsRoutersQuestion) {
  const std::vector<PacketOut> asked = worker_.Handle(Unresolved(), Time());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].actions, "output:6");
  const packet::Packet question(asked[0].frame);
  ASSERT_TRUE(question.has_arp());
  EXPECT_EQ(question.arp_tpa(), Ip("10.0.0.9"));
  EXPECT_EQ(question.arp_spa(), Ip("10.0.0.254"));
  EXPECT_TRUE(worker_.ReleaseWaiting(Time()).empty());
  EXPECT_EQ(worker_.NextExpiry(), Time() + slowpath::kResolveTimeout);

  Announce(true);
  const std::vector<PacketOut> released = worker_.ReleaseWaiting(Time());
  ASSERT_EQ(released.size(), 1U);
  EXPECT_EQ(released[0].frame, Unresolved().frame);
  EXPECT_THAT(released[0].actions,
              AllOf(HasSubstr("set_field:0x1->reg2"), HasSubstr("set_field:0x7->reg4"),
                    HasSubstr("set_field:0x5->reg5"),
                    HasSubstr(fmt::format("resubmit(,{})", static_cast<int>(Table::kRoute)))));
  EXPECT_FALSE(worker_.NextExpiry());
  EXPECT_EQ(Dropped(vswitch::DropReason::kNoNeighbour), 0U);
}

TEST_F(ResolvingTest, TheSenderOfAPacketThatWaitedInVainIsTold) {
  worker_.Handle(Unresolved(), Time());
  const std::vector<PacketOut> out = worker_.ReleaseWaiting(Time() + slowpath::kResolveTimeout);
  ASSERT_EQ(out.size(), 1U);
  const packet::Packet error(out[0].frame);
  EXPECT_EQ(error.icmp_type(), 3);
  EXPECT_EQ(error.icmp_code(), 1) << "host unreachable";
  EXPECT_EQ(error.ip_dst(), Ip("10.0.0.1"));
  EXPECT_THAT(out[0].actions, HasSubstr(fmt::format("resubmit(,{})", static_cast<int>(Table::kRoute))));
  EXPECT_EQ(Dropped(vswitch::DropReason::kNoNeighbour), 1U);
  Announce(true);
  EXPECT_TRUE(worker_.ReleaseWaiting(Time()).empty());
}

// 3,000 hosts that only route into the network.
class AnnouncementTest : public SlowPathWorkerTest {
 protected:
  static constexpr int kHosts = 3000;

  AnnouncementTest() : view_(View()) {
    for (int i = 0; i < kHosts; ++i) {
      const HostId host(fmt::format("h{:04}", i));
      const IpAddress vtep = IpAddress::V4(0xc6120000 + static_cast<uint32_t>(i));
      view_.hosts.emplace(host, vswitch::RemoteHost{host, vtep, {vtep, {}}});
      view_.networks.at(kNetwork).router_hosts.push_back(host);
    }
    SetView(view_, {{{PortId("vm"), 5}}, 1, 0});
  }

  // That 10.0.0.1 is at the VM, as the flow that shows it hands it over.
  PacketIn Announced() const {
    PacketIn in;
    in.frame =
        frames::Arp({MacAddress::Broadcast(), kVm}, 1, kVm, Ip("10.0.0.1"), MacAddress(), Ip("10.0.0.1"));
    in.userdata = Userdata(slowpath::SlowPathCause::kAnnouncement);
    in.in_port = 5;
    in.metadata = 7;
    return in;
  }

  vswitch::HostView view_;
};

TEST_F(AnnouncementTest, ReachesEveryHostInFewMessagesThatTheSwitchTakes) {
  const std::vector<PacketOut> out = worker_.Handle(Announced(), Time());
  constexpr size_t kCopies = kPartBytes / kTunnelCopyBytes;
  EXPECT_EQ(out.size(), (kHosts + kCopies - 1) / kCopies);
  std::string all;
  for (const PacketOut& message : out) {
    EXPECT_EQ(message.frame, Announced().frame);
    size_t copies = 0;
    for (size_t at = 0; (at = message.actions.find("output:1", at)) != std::string::npos; ++at) ++copies;
    EXPECT_LE(copies, kCopies);
    EXPECT_EQ(message.actions.find("set_field:0x7->tun_id,"), 0U) << "each message names the network";
    EXPECT_LT(copies * kTunnelCopyFlowModBytes, kMaxFlowModBytes);
    all += message.actions + ",";
  }
  for (const auto& [id, host] : view_.hosts)
    EXPECT_THAT(all, HasSubstr(fmt::format("set_field:{}->tun_dst,output:1,", *host.vtep)));
}

TEST_F(AnnouncementTest, AFloodThroughATunnelCostsNoOtherNetworkItsFailover) {
  const NetworkId other("other");
  view_.networks.emplace(other, vswitch::NetworkView{other, "other", *Vni::From(8), 1450, true, {}});
  SetView(view_, {{{PortId("vm"), 5}}, 1, 0});
  const auto refused = [&] {
    uint64_t count = 0;
    for (const auto& [key, packets] : worker_.Drops()) {
      if (key.second == vswitch::DropReason::kSlowPathRate) count += packets;
    }
    return count;
  };
  PacketIn through = Announced();
  through.in_port = 1;
  through.tunnel_source = Ip("198.18.0.2");
  for (int i = 0; i < 50; ++i) worker_.Handle(through, Time());
  EXPECT_EQ(refused(), 47U);
  through.metadata = 8;
  worker_.Handle(through, Time());
  EXPECT_EQ(refused(), 47U);
}

// 300 bytes of echo request to the router from `vm`, as the switch hands over its fragments.
class EchoInFragmentsTest : public SlowPathWorkerTest {
 protected:
  std::vector<PacketIn> Parts(uint32_t id) const {
    std::vector<PacketIn> parts;
    const frames::Bytes echo = frames::Echo({kGateway, kVm}, {Ip("10.0.0.1"), Ip("10.0.0.254"), 64}, 1, 300);
    for (const frames::Bytes& frame : frames::Fragments(echo, 200, id)) {
      PacketIn in = Expired();
      in.frame = frame;
      in.userdata = Userdata(slowpath::SlowPathCause::kEcho);
      in.in_port = 5;
      in.registers[5] = 0;
      parts.push_back(in);
    }
    return parts;
  }
};

TEST_F(EchoInFragmentsTest, IsAnsweredByTheRouterWithItsLastFragment) {
  EXPECT_TRUE(worker_.Handle(Parts(1)[0], Time()).empty());
  const std::vector<PacketOut> out = worker_.Handle(Parts(1)[1], Time());
  ASSERT_EQ(out.size(), 2U);
  for (const PacketOut& packet : out) {
    EXPECT_EQ(packet::Packet(packet.frame).ip_src(), Ip("10.0.0.254"));
    EXPECT_THAT(packet.actions,
                AllOf(HasSubstr(fmt::format("set_field:{:#x}->reg1", Expired().registers[1])),
                      HasSubstr("set_field:0x5->reg5"),
                      HasSubstr(fmt::format("resubmit(,{})", static_cast<int>(Table::kRoute)))));
  }
  EXPECT_FALSE(worker_.NextExpiry());
  EXPECT_EQ(Dropped(vswitch::DropReason::kReassembly), 0U);
}

TEST_F(EchoInFragmentsTest, TheSenderOfWhatNeverIsWholeIsToldAndItsFragmentsAreCounted) {
  worker_.Handle(Parts(1)[0], Time());
  worker_.Handle(Parts(2)[1], Time());
  EXPECT_EQ(worker_.NextExpiry(), Time() + slowpath::kReassemblyTimeout);
  EXPECT_TRUE(worker_.ReleaseWaiting(Time()).empty());
  const std::vector<PacketOut> out = worker_.ReleaseWaiting(Time() + slowpath::kReassemblyTimeout);
  ASSERT_EQ(out.size(), 1U) << "not of what has no first fragment";
  const packet::Packet error(out[0].frame);
  EXPECT_EQ(error.icmp_type(), 11);
  EXPECT_EQ(error.icmp_code(), 1);
  EXPECT_EQ(Dropped(vswitch::DropReason::kReassembly), 2U);
  EXPECT_FALSE(worker_.NextExpiry());
}

TEST_F(EchoInFragmentsTest, NothingIsKeptOfAPortThatIsGone) {
  worker_.Handle(Parts(1)[0], Time());
  vswitch::HostView view = View();
  view.ports.erase(PortId("vm"));
  SetView(view, {{}, 1, 0});
  EXPECT_FALSE(worker_.NextExpiry());
}

TEST(SlowPathActionTest, UserdataIsReadAsItWasWritten) {
  EXPECT_EQ(ToAgent(slowpath::SlowPathCause::kTooBig, 1450), "controller(userdata=4b.04.00.00.05.aa)");
  const auto parsed = ParseUserdata(Userdata(slowpath::SlowPathCause::kTooBig, 1450));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, slowpath::SlowPathCause::kTooBig);
  EXPECT_EQ(parsed->mtu, 1450U);
}

}  // namespace
}  // namespace kasane::ovs
