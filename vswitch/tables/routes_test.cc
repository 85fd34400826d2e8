// Routes, neighbours, replication and announcements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/tables/test_view.h"
#include "vswitch/tables/text.h"

namespace kasane::tables {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// r routes 192.0.2.0/24 by each of the gateways.
vswitch::HostView ViewWithGateways(const std::vector<const char*>& gateways) {
  vswitch::HostView view = TestView();
  vswitch::Route route{*IpPrefix::Parse("192.0.2.0/24"), vswitch::RouteOrigin::kExtra, {}};
  for (const char* gateway : gateways) route.next_hops.push_back({PortId("r-blue"), Ip(gateway)});
  view.routers[RouterId("r")].routes.push_back(route);
  return view;
}

std::vector<std::string> GatewaysUsed(const vswitch::HostView& view) {
  const ForwardingTables tables = Build(view);
  std::vector<std::string> gateways;
  for (const RouteHop& hop :
       tables.routes.Winner({RouterId("r"), *IpPrefix::Parse("192.0.2.0/24")})->value.hops)
    gateways.push_back(hop.gateway->ToString());
  return gateways;
}

TEST(TablesRoutesTest, ANextHopThatNobodyHasTakesNoShare) {
  vswitch::HostView view = ViewWithGateways({"10.0.0.1", "10.0.0.3", "10.0.0.50"});
  EXPECT_THAT(GatewaysUsed(view), ElementsAre("10.0.0.1", "10.0.0.3"));
  view.ports[PortId("a")].admin_state_up = false;
  EXPECT_THAT(GatewaysUsed(view), ElementsAre("10.0.0.3"));
}

TEST(TablesRoutesTest, IfNobodyHasANextHopAllStay) {
  EXPECT_THAT(GatewaysUsed(ViewWithGateways({"10.0.0.50", "10.0.0.51"})),
              ElementsAre("10.0.0.50", "10.0.0.51"));
}

TEST(TablesRoutesTest, AClaimedNextHopTakesItsShare) {
  vswitch::HostView view = ViewWithGateways({"10.0.0.1", "10.0.0.50"});
  view.endpoints[PortId("c")].port_security_enabled = false;
  EXPECT_THAT(GatewaysUsed(view), ElementsAre("10.0.0.1"));
  view.claims[Blue("10.0.0.50")] = {Mac(3), PortId("c"), 1};
  EXPECT_THAT(GatewaysUsed(view), ElementsAre("10.0.0.1", "10.0.0.50"));
}

TEST(TablesRoutesTest, TheMtuIsTestedWhereALargerPacketCanCome) {
  const ForwardingTables tables = Build(TestView());
  EXPECT_EQ(tables.routed.Winner(kRed)->value.mtu, 1400U);
  EXPECT_EQ(tables.routed.Winner(kBlue), nullptr);
}

TEST(TablesNeighboursTest, OnlyInRoutedNetworks) {
  vswitch::HostView view = TestView();
  EXPECT_EQ(Build(view).neighbours.Winner(Blue("10.0.0.3"))->value.mac, Mac(3));
  view.routers[RouterId("r")].admin_state_up = false;
  EXPECT_TRUE(Build(view).neighbours.entries().empty());
}

TEST(TablesNeighboursTest, WhoAloneMayHaveAnAddressHasIt) {
  vswitch::HostView view = TestView();
  Allow(view.endpoints[PortId("c")], Mac(0x77), "10.0.0.100");
  ForwardingTables tables = Build(view);
  ASSERT_NE(tables.neighbours.Winner(Blue("10.0.0.100")), nullptr);
  EXPECT_EQ(tables.neighbours.Winner(Blue("10.0.0.100"))->value.mac, Mac(0x77));
  EXPECT_TRUE(tables.unknown_neighbours.entries().empty());
  EXPECT_EQ(tables.answers.Winner(Blue("10.0.0.100")), nullptr) << "a VM asks it itself";

  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.100");
  tables = Build(view);
  EXPECT_EQ(tables.neighbours.Winner(Blue("10.0.0.100")), nullptr);
  EXPECT_NE(tables.unknown_neighbours.Winner({kBlue, *IpPrefix::Parse("10.0.0.100/32")}), nullptr);
}

TEST(TablesNeighboursTest, BehindAPortWithoutPortSecurityAnybodyMayBe) {
  vswitch::HostView view = TestView();
  view.endpoints[PortId("c")].port_security_enabled = false;
  view.ports[PortId("a")].admin_state_up = false;
  const ForwardingTables tables = Build(view);
  EXPECT_NE(tables.unknown_neighbours.Winner({kBlue, IpPrefix()}), nullptr);
  ASSERT_EQ(tables.neighbours.Claimants(Blue("10.0.0.1")).size(), 1U);
  EXPECT_EQ(tables.neighbours.Claimants(Blue("10.0.0.1")).front().rank, Rank::kReserved)
      << "configured for a port that is down: asked for in vain";
}

TEST(TablesReplicationTest, LocalPortsThatForwardAndHosts) {
  vswitch::HostView view = TestView();
  view.ports[PortId("b")].admin_state_up = false;
  view.endpoints[PortId("c")].port_security_enabled = false;
  const Replication out = Build(view).replication.Winner(kBlue)->value;
  EXPECT_THAT(out.all.ports, ElementsAre(PortId("a")));
  EXPECT_THAT(out.all.hosts, ElementsAre(RemotePlace{HostId("h2"), Ip("192.0.2.2")}));
  EXPECT_THAT(out.unsecured.ports, IsEmpty());
  EXPECT_EQ(out.unsecured.hosts.size(), 1U);
}

TEST(TablesLearningTest, OnlyBehindPortsWithoutPortSecurity) {
  vswitch::HostView view = TestView();
  EXPECT_TRUE(Build(view).learning.entries().empty());
  EXPECT_TRUE(Build(view).elsewhere.entries().empty());

  view.endpoints[PortId("c")].port_security_enabled = false;
  ForwardingTables tables = Build(view);
  ASSERT_EQ(tables.learning.entries().size(), 1U);
  const LearningPeer& peer = tables.learning.Winner({kBlue, HostId("h2")})->value;
  EXPECT_EQ(peer.place, (RemotePlace{HostId("h2"), Ip("192.0.2.2")}));
  EXPECT_EQ(peer.sources.v4, Ip("192.0.2.2"));
  EXPECT_TRUE(tables.elsewhere.entries().empty()) << "nothing unknown from a tunnel goes to a port here";

  view.ports[PortId("a")].port_security_enabled = false;
  tables = Build(view);
  std::vector<MacKey> elsewhere;
  for (const auto& [key, claimants] : tables.elsewhere.entries()) elsewhere.push_back(key);
  EXPECT_THAT(elsewhere, ElementsAre(MacKey(kBlue, Mac(3)), MacKey(kBlue, Mac(4)), MacKey(kBlue, Mac(0xfe))));
}

TEST(TablesRoutersTest, AnInterfaceOfANetworkThatIsDownSaysSo) {
  vswitch::HostView view = TestView();
  const InterfaceKey blue(RouterId("r"), PortId("r-blue"));
  EXPECT_TRUE(Build(view).interfaces.Winner(blue)->value.network_up);
  view.networks.at(kBlue).admin_state_up = false;
  EXPECT_FALSE(Build(view).interfaces.Winner(blue)->value.network_up);
  view.routers[RouterId("r")].admin_state_up = false;
  EXPECT_EQ(Build(view).interfaces.Winner(blue), nullptr);
  EXPECT_FALSE(Build(view).routers.Winner(RouterId("r"))->value.up);
}

TEST(TablesAnnouncementsTest, OnlyWhereAnAddressCanMoveOrSomebodyMustBeTold) {
  vswitch::HostView view = TestView();
  EXPECT_TRUE(Build(view).announcers.entries().empty());
  Allow(view.endpoints[PortId("c")], Mac(3), "10.0.0.100");
  const ForwardingTables tables = Build(view);
  EXPECT_TRUE(tables.announcements.Winner(kBlue)->value.movable);
  EXPECT_THAT(tables.announcers.Winner(PortId("a"))->value.v4, ElementsAre(*IpPrefix::Parse("10.0.0.1/32")));
}

TEST(TablesTextTest, SaysWhoCountsAndWhoDoesNot) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/24");
  view.claims[Blue("10.0.0.3")] = {Mac(1), PortId("a"), 1};
  const std::string text = ToString(Build(view));
  EXPECT_THAT(text, testing::HasSubstr("answer blue 10.0.0.3 claim: fa:16:3e:00:00:01 not to a # port a\n"));
  EXPECT_THAT(text, testing::HasSubstr("# port c (does not count)\n"));
  EXPECT_THAT(text, testing::HasSubstr("mac blue fa:16:3e:00:00:03 remote: to host h2 192.0.2.2 # port c\n"));
}

}  // namespace
}  // namespace kasane::tables
