#include "vswitch/tables/table_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/tables/test_view.h"

namespace kasane::tables {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TableFacts FactsOf(const vswitch::HostView& view) {
  return TableFacts(std::make_shared<const ForwardingTables>(Build(view)));
}

slowpath::Question Ask(const char* ip, const char* asker, uint8_t mac, bool probe) {
  return {kBlue, Ip(ip), PortId(asker), Mac(mac), probe};
}

TEST(TableFactsTest, AnOwnerHereIsLocalAndARouterIsOne) {
  const TableFacts facts = FactsOf(TestView());
  EXPECT_EQ(facts.FindOwner(Blue("10.0.0.1"))->local, PortId("a"));
  EXPECT_EQ(facts.FindOwner(Blue("10.0.0.3"))->local, std::nullopt);
  EXPECT_TRUE(facts.FindOwner(Blue("10.0.0.254"))->router);
  EXPECT_EQ(facts.FindOwner(Blue("10.0.0.99")), std::nullopt);
}

TEST(TableFactsTest, OnlyAProbeByOneThatMayTakeOverIsNotAnswered) {
  vswitch::HostView view = TestView();
  Allow(view.ports[PortId("a")], Mac(1), "10.0.0.0/24");
  const TableFacts facts = FactsOf(view);
  EXPECT_EQ(facts.FindAnswer(Ask("10.0.0.3", "a", 1, true)), std::nullopt);
  EXPECT_TRUE(facts.FindAnswer(Ask("10.0.0.3", "a", 1, false)).has_value());
  EXPECT_TRUE(facts.FindAnswer(Ask("10.0.0.3", "b", 2, true)).has_value());
  EXPECT_TRUE(facts.FindAnswer(Ask("10.0.0.254", "a", 1, true)).has_value()) << "nobody takes over a router's";
  EXPECT_EQ(facts.FindAnswer(Ask("10.0.0.1", "a", 1, false)), std::nullopt) << "its own";
}

TEST(TableFactsTest, AClaimFromATunnelIsByAPortOfThatHost) {
  vswitch::HostView view = TestView();
  view.endpoints[PortId("c")].port_security_enabled = false;
  view.endpoints[PortId("d")].port_security_enabled = false;
  const TableFacts facts = FactsOf(view);
  const slowpath::Origin h2{{}, Ip("192.0.2.2")};
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.99"), Mac(4), h2), PortId("d")) << "whose MAC it is";
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.99"), Mac(0x55), h2), PortId("c"));
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.99"), Mac(4), {{}, Ip("192.0.2.3")}), std::nullopt);
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.99"), Mac(1), {PortId("a"), {}}), std::nullopt);
}

TEST(TableFactsTest, WhatIsConfiguredForAPortUntilAnotherClaimsIt) {
  vswitch::HostView view = TestView();
  const PortId a("a");
  EXPECT_TRUE(FactsOf(view).IsConfigured(Blue("10.0.0.1"), Mac(1), a));
  EXPECT_TRUE(FactsOf(view).IsConfigured({kBlue, IpAddress::LinkLocal(Mac(1))}, Mac(1), a));
  EXPECT_FALSE(FactsOf(view).IsConfigured(Blue("10.0.0.1"), Mac(0x55), a));
  EXPECT_FALSE(FactsOf(view).IsConfigured(Blue("10.0.0.3"), Mac(1), a));
  view.claims[Blue("10.0.0.1")] = {Mac(1), a, 1, false};
  EXPECT_TRUE(FactsOf(view).IsConfigured(Blue("10.0.0.1"), Mac(1), a)) << "its own claim";
  Allow(view.endpoints[PortId("c")], Mac(3), "10.0.0.0/24");
  view.claims[Blue("10.0.0.1")] = {Mac(3), PortId("c"), 2, false};
  EXPECT_FALSE(FactsOf(view).IsConfigured(Blue("10.0.0.1"), Mac(1), a));
}

TEST(TableFactsTest, ReservedAddressesAreNobodysAndNotFree) {
  vswitch::HostView view = TestView();
  view.endpoints[PortId("c")].port_security_enabled = false;
  Allow(view.endpoints[PortId("d")], Mac(4), "10.0.0.8/29");
  view.reserved[PortId("dhcp")] = {PortId("dhcp"), "", kBlue, Mac(9), {Ip("10.0.0.9")}, true};
  view.reserved[PortId("down")] = {PortId("down"), "", kBlue, Mac(10), {Ip("10.0.0.10")}, false};
  const TableFacts facts = FactsOf(view);
  const slowpath::Origin h2{{}, Ip("192.0.2.2")};
  EXPECT_EQ(facts.FindOwner(Blue("10.0.0.9")), std::nullopt);
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.9"), Mac(4), h2), std::nullopt) << "not by a pair either";
  EXPECT_TRUE(facts.FindCandidates(Blue("10.0.0.9")).empty());
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.10"), Mac(4), h2), PortId("d")) << "by a pair alone";
  EXPECT_EQ(facts.FindClaimer(Blue("10.0.0.10"), Mac(3), h2), std::nullopt);
}

TEST(TableFactsTest, AClaimByARouterIsAnsweredAsOne) {
  vswitch::HostView view = TestView();
  view.endpoints[PortId("c")].port_security_enabled = false;
  const AddressKey link_local(kBlue, IpAddress::LinkLocal(Mac(3)));
  view.claims[link_local] = {Mac(3), PortId("c"), 1, true};
  EXPECT_TRUE(FactsOf(view).FindOwner(link_local)->router);
}

TEST(TableFactsTest, WhoIsToldOfAnAnnouncement) {
  vswitch::HostView view = TestView();
  view.networks.at(kBlue).router_hosts = {HostId("h3"), HostId("h4")};
  view.hosts[HostId("h3")] = {HostId("h3"), Ip("192.0.2.3"), {Ip("192.0.2.3"), {}}};
  view.hosts[HostId("h4")] = {HostId("h4"), {}, {}};
  const TableFacts facts = FactsOf(view);
  EXPECT_THAT(facts.FindHostsToTell(kBlue, true), ElementsAre(HostId("h3")));
  EXPECT_THAT(facts.FindHostsToTell(kBlue, false), ElementsAre(HostId("h2"), HostId("h3")));
  EXPECT_THAT(facts.FindHostsToTell(kRed, true), IsEmpty());
}

TEST(TableFactsTest, TheSmallestMtuOfTheWaysToAnAddress) {
  vswitch::HostView view = TestView();
  auto& routes = view.routers[RouterId("r")].routes;
  routes.push_back(
      {*IpPrefix::Parse("10.0.1.0/24"), vswitch::RouteOrigin::kConnected, {{PortId("r-red"), {}}}});
  routes.push_back({*IpPrefix::Parse("10.9.0.0/16"),
                    vswitch::RouteOrigin::kExtra,
                    {{PortId("r-blue"), Ip("10.0.0.1")}, {PortId("r-red"), Ip("10.0.1.1")}}});
  const RouterId r("r");
  EXPECT_EQ(FactsOf(view).FindMtuTo(r, Ip("10.0.0.1")), std::nullopt) << "nothing larger comes from elsewhere";
  EXPECT_EQ(FactsOf(view).FindMtuTo(r, Ip("10.0.1.1")), 1400U);
  EXPECT_EQ(FactsOf(view).FindMtuTo(r, Ip("10.9.1.1")), std::nullopt) << "nobody has 10.0.1.1";
  EXPECT_EQ(FactsOf(view).FindMtuTo(r, Ip("192.0.2.1")), std::nullopt) << "no route";
  view.endpoints[PortId("e")] = {PortId("e"), "e", kRed, HostId("h2"), Mac(5), {Ip("10.0.1.1")}, true, {}};
  EXPECT_EQ(FactsOf(view).FindMtuTo(r, Ip("10.9.1.1")), 1400U);
}

TEST(TableFactsTest, TheInterfacesOfARouterThatIsUp) {
  vswitch::HostView view = TestView();
  EXPECT_EQ(FactsOf(view).FindInterfaces(RouterId("r")).size(), 2U);
  EXPECT_TRUE(FactsOf(view).IsRouters(kBlue, Mac(0xfe)));
  view.routers[RouterId("r")].admin_state_up = false;
  EXPECT_THAT(FactsOf(view).FindInterfaces(RouterId("r")), IsEmpty());
  EXPECT_TRUE(FactsOf(view).IsRouters(kBlue, Mac(0xfe)));
}

}  // namespace
}  // namespace kasane::tables
