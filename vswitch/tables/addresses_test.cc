// Who owns a MAC or an address, and who is not answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/tables/claims.h"
#include "vswitch/tables/test_view.h"

namespace kasane::tables {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

vswitch::Owner OwnerOf(const char* port) { return {vswitch::OwnerKind::kPort, port}; }

TEST(TablesAddressesTest, AMacLeadsToItsPortHereElsewhereOrToARouter) {
  const ForwardingTables tables = Build(TestView());
  const auto place = [&](uint8_t n) { return tables.macs.Winner({kBlue, Mac(n)})->value.place; };
  EXPECT_EQ(std::get<LocalPlace>(place(1)).port, PortId("a"));
  EXPECT_EQ(std::get<RemotePlace>(place(3)), (RemotePlace{HostId("h2"), Ip("192.0.2.2")}));
  EXPECT_EQ(std::get<RouterPlace>(place(0xfe)).router, RouterId("r"));
  EXPECT_EQ(tables.macs.Winner({kRed, Mac(1)}), nullptr) << "of another network";
}

TEST(TablesAddressesTest, APortThatIsNotPluggedOrDownOwnsNothingAndKeepsItsAddress) {
  vswitch::HostView view = TestView();
  view.ports[PortId("b")].admin_state_up = false;
  const ForwardingTables tables = BuildForwardingTables(view, {PortId("b")});
  for (const char* ip : {"10.0.0.1", "10.0.0.2"}) {
    EXPECT_EQ(tables.answers.Winner(Blue(ip)), nullptr);
    ASSERT_EQ(tables.answers.Claimants(Blue(ip)).size(), 1U);
    EXPECT_EQ(tables.answers.Claimants(Blue(ip)).front().rank, Rank::kReserved);
  }
  EXPECT_EQ(tables.macs.Winner({kBlue, Mac(1)}), nullptr);
}

TEST(TablesAddressesTest, AClaimGoesBeforeAFixedIpAndBothAreKept) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/24");
  view.claims[Blue("10.0.0.3")] = {Mac(1), PortId("a"), 1};
  const ForwardingTables tables = Build(view);
  const auto& claimants = tables.answers.Claimants(Blue("10.0.0.3"));
  ASSERT_EQ(claimants.size(), 2U);
  EXPECT_EQ(claimants[0].rank, Rank::kClaim);
  EXPECT_EQ(claimants[0].owner, OwnerOf("a"));
  EXPECT_EQ(claimants[1].rank, Rank::kRemote);
  EXPECT_EQ(claimants[1].owner, OwnerOf("c"));
  EXPECT_THAT(claimants[0].value.not_to, ElementsAre(PortId("a")));
}

TEST(TablesAddressesTest, AnOwnerIsNotAnsweredForAClaimerOfItsAddress) {
  vswitch::HostView view = TestView();
  Allow(view.endpoints[PortId("c")], Mac(3), "10.0.0.0/24");
  view.claims[Blue("10.0.0.1")] = {Mac(3), PortId("c"), 1};
  const ForwardingTables tables = Build(view);
  const auto* answer = tables.answers.Winner(Blue("10.0.0.1"));
  EXPECT_EQ(answer->value.mac, Mac(3));
  EXPECT_THAT(answer->value.not_to, ElementsAre(PortId("a")));
}

TEST(TablesAddressesTest, AClaimThatMayNotBeMadeIsNone) {
  vswitch::HostView view = TestView();
  view.claims[Blue("10.0.0.3")] = {Mac(1), PortId("a"), 1};
  EXPECT_EQ(Build(view).answers.Winner(Blue("10.0.0.3"))->rank, Rank::kRemote);
}

TEST(TablesAddressesTest, AllowedMacsLeadToAllWhoMayHaveThemUntilOneClaims) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(0x77), "10.0.0.100");
  Allow(view.endpoints[PortId("c")], Mac(0x77), "10.0.0.100");
  const auto place = [&] { return Build(view).macs.Winner({kBlue, Mac(0x77)})->value.place; };
  const auto all = std::get<SeveralPlaces>(place());
  EXPECT_THAT(all.ports, ElementsAre(PortId("a")));
  EXPECT_THAT(all.hosts, ElementsAre(RemotePlace{HostId("h2"), Ip("192.0.2.2")}));
  view.claims[Blue("10.0.0.100")] = {Mac(0x77), PortId("c"), 1};
  EXPECT_TRUE(std::holds_alternative<RemotePlace>(place()));
}

TEST(TablesAddressesTest, TheNewestClaimHasASharedMac) {
  vswitch::HostView view = TestView();
  for (const char* ip : {"10.0.0.100", "10.0.0.101"}) {
    Allow(view.ports[PortId("a")], Mac(0x77), ip);
    Allow(view.endpoints[PortId("c")], Mac(0x77), ip);
  }
  view.claims[Blue("10.0.0.100")] = {Mac(0x77), PortId("c"), 4};
  view.claims[Blue("10.0.0.101")] = {Mac(0x77), PortId("a"), 5};
  EXPECT_TRUE(std::holds_alternative<LocalPlace>(Build(view).macs.Winner({kBlue, Mac(0x77)})->value.place));
  view.claims[Blue("10.0.0.101")].sequence = 4;
  EXPECT_EQ(Build(view).macs.Winner({kBlue, Mac(0x77)})->owner, OwnerOf("c"))
      << "the larger port, as everywhere";
}

TEST(TablesAddressesTest, ARouterAnswersAsOneAndForAnycastWithoutOverride) {
  vswitch::HostView view = TestView();
  view.routers[RouterId("r")].ports[0].addresses.emplace_back(Ip("2001:db8::"), 64);
  const ForwardingTables tables = Build(view);
  EXPECT_TRUE(tables.answers.Winner(Blue("10.0.0.254"))->value.router);
  EXPECT_TRUE(tables.answers.Winner(Blue("10.0.0.254"))->value.override_flag);
  EXPECT_FALSE(tables.answers.Winner(Blue("2001:db8::"))->value.override_flag);
}

TEST(TablesAddressesTest, AVmsLinkLocalIsItsOwnToAnswer) {
  const ForwardingTables tables = Build(TestView());
  const AddressKey link_local(kBlue, IpAddress::LinkLocal(Mac(3)));
  EXPECT_EQ(tables.answers.Winner(link_local), nullptr);
  EXPECT_EQ(tables.answers.Claimants(link_local).front().owner, OwnerOf("c"));
}

TEST(TablesAddressesTest, ProbesForWhatAPortMayTakeOverAreNotAnswered) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/28");
  view.ports[PortId("b")].port_security_enabled = false;
  view.claims[Blue("10.0.0.9")] = {Mac(1), PortId("a"), 1};
  const ForwardingTables tables = Build(view);
  EXPECT_NE(tables.probes.Winner({PortId("a"), *IpPrefix::Parse("10.0.0.0/28")}), nullptr);
  EXPECT_NE(tables.probes.Winner({PortId("b"), *IpPrefix::Parse("10.0.0.9/32")}), nullptr);
  EXPECT_EQ(tables.probes.entries().size(), 2U);
}

TEST(TablesAddressesTest, AnnouncementsOfOthersAreNoQuestions) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/28");
  const ForwardingTables tables = Build(view);
  EXPECT_TRUE(tables.answers.Winner(Blue("10.0.0.3"))->value.announced_by_others);
  EXPECT_FALSE(tables.answers.Winner(Blue("10.0.0.1"))->value.announced_by_others) << "its own";
  EXPECT_FALSE(tables.answers.Winner(Blue("10.0.0.254"))->value.announced_by_others) << "out of the prefix";
}

TEST(TablesMayClaimTest, APairCoversTheAddressAndTheMac) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(0x77), "10.0.0.0/28");
  const ForwardingTables tables = Build(view);
  EXPECT_TRUE(MayClaim(tables, Blue("10.0.0.9"), Mac(0x77), PortId("a")));
  EXPECT_TRUE(MayClaim(tables, Blue("10.0.0.3"), Mac(0x77), PortId("a"))) << "another's fixed IP too";
  EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.9"), Mac(1), PortId("a")));
  EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.20"), Mac(0x77), PortId("a")));
  EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.9"), Mac(0x77), PortId("b")));
  EXPECT_FALSE(MayClaim(tables, {kRed, Ip("10.0.0.9")}, Mac(0x77), PortId("a")));
}

TEST(TablesMayClaimTest, WithoutPortSecurityWhatIsConfiguredForNobodyElse) {
  vswitch::HostView view = TestView();
  view.ports[PortId("a")].port_security_enabled = false;
  const ForwardingTables tables = Build(view);
  EXPECT_TRUE(MayClaim(tables, Blue("10.0.0.9"), Mac(0x55), PortId("a")));
  EXPECT_TRUE(MayClaim(tables, Blue("10.0.0.1"), Mac(1), PortId("a"))) << "its own";
  EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.3"), Mac(1), PortId("a"))) << "another's address";
  EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.9"), Mac(3), PortId("a"))) << "another's MAC";
  EXPECT_FALSE(MayClaim(tables, {kBlue, IpAddress::LinkLocal(Mac(3))}, Mac(1), PortId("a")))
      << "another's link-local address";
  EXPECT_TRUE(MayClaim(tables, {kBlue, IpAddress::LinkLocal(Mac(1))}, Mac(1), PortId("a")));
}

TEST(TablesMayClaimTest, NeverARoutersAddressOrMac) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/24");
  Allow(view.ports[PortId("a")], Mac(0xfe), "10.0.0.0/24");
  for (const bool up : {true, false}) {
    view.routers[RouterId("r")].admin_state_up = up;
    const ForwardingTables tables = Build(view);
    EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.254"), Mac(1), PortId("a")));
    EXPECT_FALSE(MayClaim(tables, Blue("10.0.0.9"), Mac(0xfe), PortId("a")));
  }
}

TEST(TablesFindCandidatesTest, ThoseWhoMayHaveAnAddress) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(0x77), "10.0.0.0/28");
  view.endpoints[PortId("d")].port_security_enabled = false;
  const ForwardingTables tables = Build(view);
  const SeveralPlaces free = FindCandidates(tables, Blue("10.0.0.9"));
  EXPECT_THAT(free.ports, ElementsAre(PortId("a")));
  EXPECT_EQ(free.hosts.size(), 1U);
  EXPECT_THAT(FindCandidates(tables, Blue("10.0.0.254")).ports, IsEmpty()) << "the router's";
}

}  // namespace
}  // namespace kasane::tables
