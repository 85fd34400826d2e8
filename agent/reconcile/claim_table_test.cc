#include "agent/reconcile/claim_table.h"

#include <gtest/gtest.h>

#include <string>

namespace kasane::agent {
namespace {

const NetworkId kNet("net");
const IpAddress kVip = *IpAddress::Parse("10.0.0.100");
const MacAddress kMacA = *MacAddress::Parse("fa:16:3e:00:00:0a");
const MacAddress kMacB = *MacAddress::Parse("fa:16:3e:00:00:0b");

// Ports "a" (here) and "b" (on h2), which may both have the VIP.
class ClaimTableTest : public ::testing::Test {
 protected:
  ClaimTableTest() {
    view_.host = HostId("h1");
    view_.networks.emplace(kNet, vswitch::NetworkView{kNet, "net", *Vni::From(7), 1450, true, {HostId("h2")}});
    view_.ports.emplace(PortId("a"), vswitch::LocalPort{PortId("a"),
                                                        "a",
                                                        kNet,
                                                        kMacA,
                                                        {*IpAddress::Parse("10.0.0.1")},
                                                        true,
                                                        true,
                                                        {{kMacA, IpPrefix::Host(kVip)},
                                                         {kMacA, *IpPrefix::ParseLenient("10.0.0.1")}}});
    view_.endpoints.emplace(PortId("b"), vswitch::RemoteEndpoint{PortId("b"),
                                                                 "b",
                                                                 kNet,
                                                                 HostId("h2"),
                                                                 kMacB,
                                                                 {*IpAddress::Parse("10.0.0.2")},
                                                                 true,
                                                                 {{kMacB, IpPrefix::Host(kVip)}}});
    for (const char* id : {"a", "b"}) state_.ports[PortId(id)] = std::make_shared<model::Port>();
  }

  slowpath::Announcement By(const std::string& port) const {
    return {kNet, kVip, port == "a" ? kMacA : kMacB, PortId(port)};
  }
  // As the reconciler does: what is heard shows in the next view.
  bool Observe(const std::string& port) {
    if (!table_.Observe(By(port), view_)) return false;
    const auto over = table_.Overlay(std::make_shared<const model::NetworkState>(state_));
    for (const auto& [id, claim] : over->address_claims) {
      view_.claims[{claim->network, claim->address}] = {claim->mac, claim->port, claim->sequence};
    }
    return true;
  }
  model::NetworkState Stored(const std::string& port, uint64_t sequence) const {
    model::NetworkState state = state_;
    auto claim = std::make_shared<model::AddressClaim>();
    *claim = {model::MakeClaimId(kNet, kVip), kNet, kVip, By(port).mac, PortId(port), sequence};
    state.address_claims[claim->id] = claim;
    return state;
  }

  vswitch::HostView view_;
  model::NetworkState state_;
  ClaimTable table_;
};

TEST_F(ClaimTableTest, WhatIsHeardCountsOnceAndOnlyOwnPortsAreReported) {
  EXPECT_TRUE(Observe("a"));
  EXPECT_FALSE(Observe("a")) << "known";
  auto reported = table_.TakeUnreported();
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].port, PortId("a"));
  EXPECT_EQ(reported[0].sequence, 1U);
  EXPECT_TRUE(table_.TakeUnreported().empty());
  EXPECT_TRUE(Observe("b"));
  EXPECT_EQ(view_.claims.at({kNet, kVip}).sequence, 2U);
  EXPECT_TRUE(table_.TakeUnreported().empty()) << "b's own host reports it";
}

TEST_F(ClaimTableTest, ANewStreamIsToldAgain) {
  Observe("a");
  table_.TakeUnreported();
  table_.ReportAgain();
  EXPECT_EQ(table_.TakeUnreported().size(), 1U);
}

TEST_F(ClaimTableTest, WhoMayNotSpeakForTheAddressIsNotHeard) {
  slowpath::Announcement other = By("a");
  other.ip = *IpAddress::Parse("10.0.0.2");
  EXPECT_FALSE(table_.Observe(other, view_));
  other = By("b");
  other.mac = kMacA;
  EXPECT_FALSE(table_.Observe(other, view_));
  other = By("a");
  other.ip = *IpAddress::Parse("10.0.0.1");
  EXPECT_FALSE(table_.Observe(other, view_)) << "its fixed address is known without";
}

TEST_F(ClaimTableTest, TheControllersWordSettlesIt) {
  Observe("a");
  Observe("b");
  const model::NetworkState first = Stored("a", 1);
  EXPECT_TRUE(table_.Reconcile(&state_, first)) << "of a port elsewhere: any change";
  EXPECT_EQ(table_.Overlay(std::make_shared<const model::NetworkState>(first))->address_claims.size(), 1U);

  // A claim by a port here stays until the controller has it or a newer one.
  view_.claims[{kNet, kVip}] = {kMacB, PortId("b"), 4};
  const model::NetworkState stored = Stored("b", 4);
  EXPECT_TRUE(Observe("a"));
  EXPECT_FALSE(table_.Reconcile(&first, stored));
  const model::NetworkState newer = Stored("a", 5);
  EXPECT_TRUE(table_.Reconcile(&stored, newer));
}

TEST_F(ClaimTableTest, APortThatIsGoneTakesItsClaimsAlong) {
  Observe("b");
  model::NetworkState after = state_;
  after.ports.erase(PortId("b"));
  EXPECT_TRUE(table_.Reconcile(&state_, after));
}

TEST_F(ClaimTableTest, APortWithoutSecurityCannotClaimWithoutEnd) {
  view_.ports.at(PortId("a")).port_security_enabled = false;
  size_t heard = 0;
  for (uint32_t i = 0; i < 2 * ClaimTable::kMaxClaimsPerPort; ++i) {
    heard += table_.Observe({kNet, IpAddress::V4(0x0b000000 + i), kMacA, PortId("a")}, view_) ? 1 : 0;
  }
  EXPECT_EQ(heard, ClaimTable::kMaxClaimsPerPort);
}

}  // namespace
}  // namespace kasane::agent
