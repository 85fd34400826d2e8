#include "vswitch/slowpath/admission.h"

#include <gtest/gtest.h>

#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/testing/fake_facts.h"

namespace kasane::slowpath {
namespace {

using Time = Admission::Time;

const NetworkId kA("a");
const NetworkId kB("b");
const IpAddress kPeer = *IpAddress::Parse("198.18.0.2");
const MacAddress kMac({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kOtherMac({0xfa, 0x16, 0x3e, 0, 0, 2});

SlowPathPacket Announced(const NetworkId& network, const MacAddress& mac) {
  const IpAddress ip = *IpAddress::Parse("10.0.0.1");
  SlowPathPacket packet;
  packet.cause = SlowPathCause::kAnnouncement;
  packet.network = network;
  packet.frame = frames::Arp({MacAddress::Broadcast(), mac}, 1, mac, ip, MacAddress(), ip);
  return packet;
}

SlowPathPacket Here(const NetworkId& network, const std::string& port) {
  SlowPathPacket packet = Announced(network, kMac);
  packet.port = PortId(port);
  return packet;
}

SlowPathPacket Through(const NetworkId& network, const MacAddress& mac) {
  SlowPathPacket packet = Announced(network, mac);
  packet.outer_source = kPeer;
  return packet;
}

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() {
    facts_.remote_ports[{kA, kMac, kPeer}] = PortId("flooding");
    facts_.remote_ports[{kA, kOtherMac, kPeer}] = PortId("failing-over");
  }
  bool Admit(const SlowPathPacket& packet) { return admission_.Admit(facts_, packet, Time()); }
  void Flood(const SlowPathPacket& packet) {
    for (int i = 0; i < 20; ++i) Admit(packet);
    EXPECT_FALSE(Admit(packet));
  }

  FakeFacts facts_;
  Admission admission_{{.per_second = 10, .burst = 3}};
};

TEST_F(AdmissionTest, APortsFloodCostsNoOtherPort) {
  Flood(Here(kA, "p"));
  EXPECT_TRUE(Admit(Here(kA, "q")));
  EXPECT_EQ(admission_.drops().at({{vswitch::OwnerKind::kPort, "p"}, vswitch::DropReason::kSlowPathRate}), 18U);
  admission_.ForgetDrops([](const vswitch::Owner& owner) { return owner.id == "p"; });
  EXPECT_TRUE(admission_.drops().empty());
}

TEST_F(AdmissionTest, AFloodThroughATunnelCostsNoOtherNetworkOfThatPeer) {
  Flood(Through(kA, MacAddress({2, 0, 0, 0, 0, 9})));
  EXPECT_TRUE(Admit(Through(kB, MacAddress({2, 0, 0, 0, 0, 9}))));
}

TEST_F(AdmissionTest, AFloodThroughATunnelCostsNoOtherPortOfItsNetwork) {
  Flood(Through(kA, kMac));
  EXPECT_TRUE(Admit(Through(kA, kOtherMac)));
  Flood(Through(kA, MacAddress({2, 0, 0, 0, 0, 9})));
  EXPECT_TRUE(Admit(Through(kA, kOtherMac))) << "with MACs of nobody's";
}

TEST_F(AdmissionTest, AFrameWithoutAnEthernetHeaderIsItsPeers) {
  SlowPathPacket packet = Through(kA, kMac);
  packet.frame = {1, 2, 3};
  EXPECT_EQ(BudgetOf(facts_, packet), (Budget{kA, {vswitch::OwnerKind::kHost, kPeer.ToString()}}));
}

TEST_F(AdmissionTest, WhatIsOnlyCountedIsAlwaysAdmitted) {
  SlowPathPacket packet = Here(kA, "p");
  packet.cause = SlowPathCause::kTooBig;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Admit(packet));
}

TEST(RateLimiterTest, KeysThatAreGoneTakeNoMemoryForLong) {
  RateLimiter<int> limiter({.per_second = 100, .burst = 100});
  RateLimiter<int>::Time now;
  for (int key = 0; key < 100'000; ++key, now += std::chrono::milliseconds(1))
    EXPECT_TRUE(limiter.Allow(key, now));
  EXPECT_LE(limiter.size(), 1024U);
}

}  // namespace
}  // namespace kasane::slowpath
