// What golden files cannot say: properties of the pipeline's numbers and of the compiler as a function.
#include "vswitch/ovs/translate/compiler.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "vswitch/ovs/translate/learned_places.h"
#include "vswitch/ovs/translate/numbers.h"
#include "vswitch/ovs/translate/pipeline.h"
#include "vswitch/ovs/translate/slow_path_action.h"

namespace kasane::ovs {
namespace {

FlowTable CompileView(const vswitch::HostView& view, const Bindings& bindings) {
  return Compile(tables::BuildForwardingTables(view, PluggedPorts(bindings)), bindings);
}

TEST(CookieTest, CarriesOwnerKindAndDropReason) {
  for (const vswitch::DropReason reason : vswitch::kAllDropReasons) {
    const uint64_t cookie = CookieOf({vswitch::OwnerKind::kRouter, "r"}, reason);
    EXPECT_EQ(CookieOwnerKind(cookie), vswitch::OwnerKind::kRouter);
    EXPECT_EQ(CookieDropReason(cookie), reason);
  }
  EXPECT_EQ(CookieDropReason(CookieOf({vswitch::OwnerKind::kPort, "p"}, std::nullopt)), std::nullopt);
  EXPECT_EQ(CookieDropReason(uint64_t{0xff} << 48), std::nullopt) << "a foreign cookie is no drop";
}

TEST(CookieTest, TellsManyOwnersApart) {
  std::set<uint64_t> cookies;
  for (int i = 0; i < 20000; ++i) {
    const std::string id = "00000000-0000-0000-0000-" + std::to_string(i);
    cookies.insert(CookieOf({vswitch::OwnerKind::kPort, id}, std::nullopt));
  }
  EXPECT_EQ(cookies.size(), 20000U);
}

TEST(FlowTableTest, TheLowerOwnerKeepsAContestedFlow) {
  const FlowKey key{Table::kL2, 100, "metadata=0x1"};
  const FlowValue low{"drop", {vswitch::OwnerKind::kPort, "a"}, std::nullopt};
  const FlowValue high{"output:1", {vswitch::OwnerKind::kPort, "b"}, std::nullopt};
  for (const bool low_first : {true, false}) {
    FlowTable table;
    table.Add(key, low_first ? low : high);
    table.Add(key, low_first ? high : low);
    EXPECT_EQ(table.flows().at(key), low);
    EXPECT_EQ(table.conflicts(), 1U);
  }
}

TEST(CompileTest, AnEmptyHostStillEndsEveryTableItUses) {
  vswitch::HostView view;
  view.host = HostId("h");
  const FlowTable table = CompileView(view, {});
  for (const Table end : {Table::kInput, Table::kIngressSanity, Table::kArp, Table::kNd, Table::kL2,
                          Table::kTunnel, Table::kTunnelL2, Table::kRouter, Table::kRoute, Table::kNeighbour}) {
    EXPECT_EQ(table.flows().count({end, 0, ""}), 1U) << Label(end);
  }
}

TEST(CompileTest, ACopyToAVtepOfTheOtherFamilyClearsTheOneBefore) {
  vswitch::HostView view;
  const NetworkId network("n");
  view.networks.emplace(
      network, vswitch::NetworkView{
                   network, "n", *Vni::From(7), 1450, true, {HostId("h1"), HostId("h2"), HostId("h3")}});
  const auto add = [&view](const char* id, const char* vtep) {
    view.hosts.emplace(HostId(id), vswitch::RemoteHost{HostId(id), *IpAddress::Parse(vtep), {}});
  };
  add("h1", "192.0.2.1");
  add("h2", "fd00::2");
  add("h3", "192.0.2.3");
  const FlowTable table = CompileView(view, {{}, 1, 2});
  const auto flood = table.flows().find({Table::kFlood, 100, "metadata=0x7"});
  ASSERT_NE(flood, table.flows().end());
  EXPECT_NE(flood->second.actions.find("set_field:192.0.2.1->tun_dst,output:1,"
                                       "set_field:0.0.0.0->tun_dst,set_field:fd00::2->tun_ipv6_dst,output:2,"
                                       "set_field:::->tun_ipv6_dst,set_field:192.0.2.3->tun_dst,output:1"),
            std::string::npos)
      << flood->second.actions;
}

TEST(CompileTest, CopiesThatNoTunnelTakesAreCounted) {
  vswitch::HostView view;
  const NetworkId network("n");
  view.networks.emplace(network, vswitch::NetworkView{network, "n", *Vni::From(7), 1450, true, {HostId("h1")}});
  view.hosts.emplace(HostId("h1"), vswitch::RemoteHost{HostId("h1"), std::nullopt, {}});
  const MacAddress pairs = *MacAddress::Parse("fa:16:3e:00:00:77");
  const auto add = [&](const char* id, const char* mac, bool secured) {
    view.endpoints.emplace(PortId(id), vswitch::RemoteEndpoint{PortId(id),
                                                               id,
                                                               network,
                                                               HostId("h1"),
                                                               *MacAddress::Parse(mac),
                                                               {},
                                                               secured,
                                                               {{pairs, *IpPrefix::Parse("10.0.0.100/32")}}});
  };
  add("with-a-pair", "fa:16:3e:00:00:01", true);
  add("unsecured", "fa:16:3e:00:00:02", false);
  const FlowTable table = CompileView(view, {{}, 1, 0});
  for (const auto& [key, what] :
       {std::pair(FlowKey{Table::kL2, 100, "metadata=0x7,dl_dst=fa:16:3e:00:00:77"}, "a pair's MAC"),
        std::pair(FlowKey{Table::kUnknownFlood, 50, "metadata=0x7"}, "unknown unicast")}) {
    const auto flow = table.flows().find(key);
    ASSERT_NE(flow, table.flows().end()) << what;
    EXPECT_EQ(flow->second.drop, vswitch::DropReason::kNoTunnel) << what;
  }
}

TEST(CompileTest, APortThatIsNotPluggedHasNoFlows) {
  vswitch::HostView view;
  view.host = HostId("h");
  view.networks.emplace(NetworkId("n"),
                        vswitch::NetworkView{NetworkId("n"), "n", *Vni::From(7), 1450, true, {}});
  view.ports.emplace(PortId("p"), vswitch::LocalPort{PortId("p"),
                                                     "p",
                                                     NetworkId("n"),
                                                     *MacAddress::Parse("fa:16:3e:00:00:01"),
                                                     {*IpAddress::Parse("10.0.0.1")},
                                                     true,
                                                     true,
                                                     {}});
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, "p"};
  const auto owned = [&](const FlowTable& table) {
    int count = 0;
    for (const auto& [key, value] : table.flows()) count += value.owner == owner ? 1 : 0;
    return count;
  };
  EXPECT_EQ(owned(CompileView(view, {})), 0);
  EXPECT_GT(owned(CompileView(view, {{{PortId("p"), 3}}, 0, 0})), 0);
}

TEST(CompileTest, AClaimOfAPortThatIsNotPluggedIsNotFollowed) {
  vswitch::HostView view;
  view.host = HostId("h");
  view.networks.emplace(NetworkId("n"),
                        vswitch::NetworkView{NetworkId("n"), "n", *Vni::From(7), 1450, true, {}});
  const IpAddress vip = *IpAddress::Parse("10.0.0.9");
  const MacAddress mac = *MacAddress::Parse("00:00:5e:00:01:01");
  view.ports.emplace(PortId("p"), vswitch::LocalPort{PortId("p"),
                                                     "p",
                                                     NetworkId("n"),
                                                     *MacAddress::Parse("fa:16:3e:00:00:01"),
                                                     {},
                                                     true,
                                                     true,
                                                     {{mac, IpPrefix::Host(vip)}}});
  view.claims[{NetworkId("n"), vip}] = {mac, PortId("p"), 1};
  const auto leads_to = [&](const FlowTable& table) {
    const auto flow = table.flows().find({Table::kL2, 100, "metadata=0x7,dl_dst=00:00:5e:00:01:01"});
    return flow == table.flows().end() ? std::string() : flow->second.actions;
  };
  EXPECT_EQ(leads_to(CompileView(view, {})), "");
  EXPECT_NE(leads_to(CompileView(view, {{{PortId("p"), 3}}, 0, 0})).find("set_field:0x3->reg0"),
            std::string::npos);
}

TEST(CompileTest, OnTheKernelsDatapathTheAgentAnswersSolicitations) {
  vswitch::HostView view;
  view.networks.emplace(NetworkId("n"),
                        vswitch::NetworkView{NetworkId("n"), "n", *Vni::From(7), 1450, true, {}});
  const IpAddress ip = *IpAddress::Parse("2001:db8::1");
  view.endpoints.emplace(
      PortId("e"),
      vswitch::RemoteEndpoint{
          PortId("e"), "e", NetworkId("n"), HostId("h2"), *MacAddress::Parse("fa:16:3e:00:00:01"), {ip}});
  const auto count = [&](bool nd_in_tables, const std::string& text) {
    Bindings bindings;
    bindings.nd_in_tables = nd_in_tables;
    int found = 0;
    const FlowTable table = CompileView(view, bindings);
    for (const auto& [key, value] : table.flows()) {
      const bool about = key.match.find("nd_target=2001:db8::1") != std::string::npos;
      found += about && value.actions.find(text) != std::string::npos ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(count(true, "nd_reserved"), 1);
  EXPECT_EQ(count(false, "nd_"), 0) << "fields that the kernel cannot set";
  EXPECT_EQ(count(false, ToAgent(slowpath::SlowPathCause::kNeighbour)), 1);
}

// The switch knows no protocol of later IPv6 fragments: all fragments of a datagram must choose by addresses
// alone.
TEST(CompileTest, FragmentsOfADatagramChooseTheSameNextHop) {
  vswitch::HostView view;
  const NetworkId n("n");
  view.networks.emplace(n, vswitch::NetworkView{n, "n", *Vni::From(7), 1450, true, {}});
  vswitch::RouterView router{RouterId("r"), "r", true, {}, {}};
  const MacAddress mac = *MacAddress::Parse("fa:16:3e:00:00:fe");
  router.ports.push_back({PortId("i"), n, mac, {}, IpAddress::LinkLocal(mac)});
  const auto via = [](const char* gateway) {
    return vswitch::NextHop{PortId("i"), *IpAddress::Parse(gateway)};
  };
  router.routes.push_back(
      {*IpPrefix::Parse("192.0.2.0/24"), vswitch::RouteOrigin::kExtra, {via("10.0.0.1"), via("10.0.0.2")}});
  router.routes.push_back({*IpPrefix::Parse("2001:db8:9::/48"),
                           vswitch::RouteOrigin::kExtra,
                           {via("2001:db8::1"), via("2001:db8::2")}});
  view.routers.emplace(router.id, router);
  const FlowTable table = CompileView(view, {});
  int by_ports = 0;
  int by_addresses = 0;
  for (const auto& [key, value] : table.flows()) {
    if (value.actions.find("multipath(") == std::string::npos) continue;
    const bool fragments_of_v6 =
        key.match.find("ipv6") != std::string::npos && key.match.find("nw_frag=no") == std::string::npos;
    const bool addresses = value.actions.find("multipath(symmetric_l3,") != std::string::npos;
    EXPECT_EQ(addresses, fragments_of_v6) << key.match;
    ++(addresses ? by_addresses : by_ports);
  }
  EXPECT_EQ(by_ports, 2);
  EXPECT_EQ(by_addresses, 1);
}

TEST(LearnedPlacesTest, ChangeWithThePortsBehindAHostAndWithNothingElse) {
  using Behind = std::map<HostId, std::vector<PortId>>;
  const Behind before = {{HostId("h1"), {PortId("a"), PortId("b")}}, {HostId("h2"), {PortId("c")}}};
  const Behind moved = {{HostId("h1"), {PortId("b")}}, {HostId("h2"), {PortId("a"), PortId("c")}}};
  const Behind more = {{HostId("h0"), {PortId("d")}}, {HostId("h1"), {PortId("a"), PortId("b")}}};
  const auto places = AssignHostPlaces(before);
  EXPECT_NE(AssignHostPlaces(moved).at(HostId("h1")), places.at(HostId("h1")));
  EXPECT_NE(AssignHostPlaces(moved).at(HostId("h2")), places.at(HostId("h2")));
  EXPECT_EQ(AssignHostPlaces(more).at(HostId("h1")), places.at(HostId("h1")));
}

TEST(LearnedPlacesTest, AreUniqueAndAPortIsNoHost) {
  std::map<HostId, std::vector<PortId>> behind;
  std::vector<PortId> ports;
  for (int i = 0; i < 3000; ++i) {
    ports.emplace_back(std::to_string(i));
    behind[HostId("h" + std::to_string(i))] = {ports.back()};
  }
  std::set<uint32_t> distinct;
  for (const auto& [id, place] : AssignHostPlaces(behind)) distinct.insert(place);
  for (const auto& [id, place] : AssignPortPlaces(ports)) distinct.insert(place);
  EXPECT_EQ(distinct.size(), 6000U);
}

TEST(NumbersTest, OfRoutersAreUniqueWithinAHostAndDependOnTheSetAlone) {
  tables::ForwardingTables tables;
  for (int i = 0; i < 3000; ++i) tables.routers.Add(RouterId(std::to_string(i)), {});
  const Numbers numbers = AssignNumbers(tables);
  std::set<uint32_t> distinct;
  for (const auto& [id, number] : numbers.routers) distinct.insert(number);
  EXPECT_EQ(distinct.size(), 3000U);
  EXPECT_FALSE(distinct.contains(0));
  EXPECT_EQ(AssignNumbers(tables), numbers);
}

}  // namespace
}  // namespace kasane::ovs
