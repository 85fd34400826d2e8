#include "view/host_view_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kasane::view {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }
IpPrefix Prefix(const std::string& text) { return *IpPrefix::ParseLenient(text); }

// Builds states resource by resource; names serve as ids.
class HostViewBuilderTest : public ::testing::Test {
 protected:
  void AddHost(const std::string& id, const std::string& v4, const std::string& v6 = "") {
    auto host = std::make_shared<model::Host>();
    host->id = HostId(id);
    if (!v4.empty()) host->tunnel_v4 = Ip(v4);
    if (!v6.empty()) host->tunnel_v6 = Ip(v6);
    state_.hosts[host->id] = host;
  }
  void AddNetwork(const std::string& id, uint32_t vni, bool external = false) {
    auto network = std::make_shared<model::Network>();
    network->id = NetworkId(id);
    network->name = id;
    network->vni = *Vni::From(vni);
    network->external = external;
    state_.networks[network->id] = network;
  }
  void AddSubnet(const std::string& id, const std::string& network, const std::string& cidr) {
    auto subnet = std::make_shared<model::Subnet>();
    subnet->id = SubnetId(id);
    subnet->network = NetworkId(network);
    subnet->cidr = Prefix(cidr);
    state_.subnets[subnet->id] = subnet;
  }
  model::Port& AddPort(const std::string& id, const std::string& network, const std::string& subnet,
                       const std::string& ip, model::PortRole role, const std::string& where) {
    auto port = std::make_shared<model::Port>();
    port->id = PortId(id);
    port->name = id;
    port->network = NetworkId(network);
    port->mac = MacAddress({0xfa, 0x16, 0x3e, 0, 0, static_cast<uint8_t>(++macs_)});
    if (!ip.empty()) port->fixed_ips.push_back({SubnetId(subnet), Ip(ip)});
    port->role = role;
    if (role == model::PortRole::kRouterInterface) {
      port->device_id = where;
    } else {
      port->host = HostId(where);
    }
    model::Port& out = *port;
    state_.ports[port->id] = std::move(port);
    return out;
  }
  void AddVm(const std::string& id, const std::string& network, const std::string& ip,
             const std::string& host) {
    AddPort(id, network, network + "-v4", ip, model::PortRole::kVm, host);
  }
  void AddInterface(const std::string& id, const std::string& network, const std::string& ip,
                    const std::string& router) {
    AddPort(id, network, network + "-v4", ip, model::PortRole::kRouterInterface, router);
  }
  model::Router& AddRouter(const std::string& id) {
    auto router = std::make_shared<model::Router>();
    router->id = RouterId(id);
    router->name = id;
    model::Router& out = *router;
    state_.routers[router->id] = std::move(router);
    return out;
  }
  // a -- r1 -- b -- r2 -- c, a VM on each of hosts h1, h2, h3; d is alone on h3.
  void Chain() {
    for (const char* host : {"1", "2", "3"}) AddHost(std::string("h") + host, std::string("192.0.2.") + host);
    const char* names[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < 4; ++i) {
      AddNetwork(names[i], 100 + i);
      AddSubnet(std::string(names[i]) + "-v4", names[i], "10.0." + std::to_string(i) + ".0/24");
    }
    AddVm("vm-a", "a", "10.0.0.5", "h1");
    AddVm("vm-b", "b", "10.0.1.5", "h2");
    AddVm("vm-c", "c", "10.0.2.5", "h3");
    AddVm("vm-d", "d", "10.0.3.5", "h3");
    AddRouter("r1");
    AddRouter("r2");
    AddInterface("r1-a", "a", "10.0.0.1", "r1");
    AddInterface("r1-b", "b", "10.0.1.1", "r1");
    AddInterface("r2-b", "b", "10.0.1.2", "r2");
    AddInterface("r2-c", "c", "10.0.2.1", "r2");
  }
  vswitch::HostView Build(const std::string& host) const {
    return BuildHostView(state_, HostId(host), {Ip("192.0.2.1"), std::nullopt});
  }

  model::NetworkState state_;
  int macs_ = 0;
};

TEST_F(HostViewBuilderTest, ReachesNetworksThroughRouterAfterRouter) {
  Chain();
  const vswitch::HostView view = Build("h1");
  EXPECT_THAT(view.networks,
              UnorderedElementsAre(Key(NetworkId("a")), Key(NetworkId("b")), Key(NetworkId("c"))));
  EXPECT_THAT(view.ports, UnorderedElementsAre(Key(PortId("vm-a"))));
  EXPECT_THAT(view.endpoints, UnorderedElementsAre(Key(PortId("vm-b")), Key(PortId("vm-c"))));
  EXPECT_THAT(view.hosts, UnorderedElementsAre(Key(HostId("h2")), Key(HostId("h3"))));
  EXPECT_EQ(view.hosts.at(HostId("h3")).vtep, Ip("192.0.2.3"));
}

TEST_F(HostViewBuilderTest, ARouterThatIsDownLeadsNowhere) {
  Chain();
  auto down = std::make_shared<model::Router>(*state_.routers.at(RouterId("r1")));
  down->admin_state_up = false;
  state_.routers[down->id] = down;
  const vswitch::HostView view = Build("h1");
  EXPECT_THAT(view.networks, UnorderedElementsAre(Key(NetworkId("a"))));
  // It is still known on the network, so that packets to its MAC drop as admin_down.
  ASSERT_EQ(view.routers.count(RouterId("r1")), 1U);
  EXPECT_THAT(view.routers.at(RouterId("r1")).routes, IsEmpty());
}

TEST_F(HostViewBuilderTest, NeverCrossesAnExternalNetwork) {
  Chain();
  AddNetwork("ext", 200, true);
  AddSubnet("ext-v4", "ext", "203.0.113.0/24");
  AddInterface("r1-ext", "ext", "203.0.113.2", "r1");
  AddInterface("r3-ext", "ext", "203.0.113.3", "r3");
  AddInterface("r3-d", "d", "10.0.3.1", "r3");
  AddRouter("r3");
  EXPECT_EQ(Build("h1").networks.count(NetworkId("ext")), 0U);
  EXPECT_EQ(Build("h1").networks.count(NetworkId("d")), 0U);
}

TEST_F(HostViewBuilderTest, FloodListIsTheOtherHostsWithAPortThatIsUp) {
  Chain();
  AddVm("vm-a2", "a", "10.0.0.6", "h2");
  AddVm("vm-a3", "a", "10.0.0.7", "h3");
  AddPort("vm-a4", "a", "a-v4", "10.0.0.8", model::PortRole::kVm, "h4").admin_state_up = false;
  AddPort("vm-a5", "a", "a-v4", "10.0.0.9", model::PortRole::kVm, "");
  const vswitch::HostView view = Build("h1");
  EXPECT_THAT(view.networks.at(NetworkId("a")).flood_hosts, ElementsAre(HostId("h2"), HostId("h3")));
  EXPECT_EQ(view.endpoints.count(PortId("vm-a4")), 0U);
  EXPECT_EQ(view.endpoints.count(PortId("vm-a5")), 0U);
}

TEST_F(HostViewBuilderTest, ConnectedAndExtraRoutes) {
  Chain();
  model::Router& r1 = AddRouter("r1");
  r1.routes = {{Prefix("198.51.100.0/24"), Ip("10.0.1.5")},
               {Prefix("198.51.100.0/24"), Ip("10.0.0.5")},  // The same again, by another network: ECMP.
               {Prefix("10.0.1.0/24"), Ip("10.0.0.5")},      // Connected: not used.
               {Prefix("203.0.113.0/24"), Ip("10.9.9.9")}};  // Next hop on no interface: left out.
  const vswitch::HostView view = Build("h1");
  const auto& routes = view.routers.at(RouterId("r1")).routes;
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0],
            (vswitch::Route{
                Prefix("10.0.0.0/24"), vswitch::RouteOrigin::kConnected, {{PortId("r1-a"), std::nullopt}}}));
  EXPECT_EQ(routes[1],
            (vswitch::Route{
                Prefix("10.0.1.0/24"), vswitch::RouteOrigin::kConnected, {{PortId("r1-b"), std::nullopt}}}));
  EXPECT_EQ(routes[2], (vswitch::Route{Prefix("198.51.100.0/24"),
                                       vswitch::RouteOrigin::kExtra,
                                       {{PortId("r1-a"), Ip("10.0.0.5")}, {PortId("r1-b"), Ip("10.0.1.5")}}}));
}

TEST_F(HostViewBuilderTest, VtepIsOfAFamilyThatBothHave) {
  Chain();
  AddHost("h2", "", "2001:db8::2");
  EXPECT_EQ(Build("h1").hosts.at(HostId("h2")).vtep, std::nullopt);
  const vswitch::HostView dual = BuildHostView(state_, HostId("h1"), {Ip("192.0.2.1"), Ip("2001:db8::1")});
  EXPECT_EQ(dual.hosts.at(HostId("h2")).vtep, Ip("2001:db8::2"));
  EXPECT_EQ(dual.hosts.at(HostId("h3")).vtep, Ip("192.0.2.3"));
}

TEST_F(HostViewBuilderTest, HostsThatOnlyRouteIntoANetworkAreListedForIt) {
  Chain();
  const vswitch::HostView view = Build("h1");
  EXPECT_THAT(view.networks.at(NetworkId("a")).router_hosts, ElementsAre(HostId("h2"), HostId("h3")));
  EXPECT_THAT(view.networks.at(NetworkId("b")).flood_hosts, ElementsAre(HostId("h2")));
  EXPECT_THAT(view.networks.at(NetworkId("b")).router_hosts, ElementsAre(HostId("h3")));
  EXPECT_THAT(Build("h3").networks.at(NetworkId("d")).router_hosts, IsEmpty()) << "no router there";
}

TEST_F(HostViewBuilderTest, OnlyClaimsThatThePortMayMakeAreInForce) {
  Chain();
  AddVm("vm-a2", "a", "10.0.0.6", "h2");
  model::Port& allowed = AddPort("vm-a3", "a", "a-v4", "10.0.0.7", model::PortRole::kVm, "h3");
  allowed.allowed_address_pairs.push_back({Prefix("10.0.0.5"), std::nullopt});
  const auto claim = [&](const std::string& port, const std::string& ip) {
    auto out = std::make_shared<model::AddressClaim>();
    *out = {model::MakeClaimId(NetworkId("a"), Ip(ip)), NetworkId("a"), Ip(ip),
            state_.ports.at(PortId(port))->mac,         PortId(port),   3};
    state_.address_claims[out->id] = out;
  };
  claim("vm-a2", "10.0.0.5");
  EXPECT_THAT(Build("h1").claims, IsEmpty()) << "vm-a's fixed address";
  claim("vm-a3", "10.0.0.5");
  EXPECT_EQ(Build("h1").claims.at({NetworkId("a"), Ip("10.0.0.5")}).port, PortId("vm-a3"));
  EXPECT_EQ(Build("h2").claims.size(), 1U) << "routers elsewhere follow it too";
  allowed.allowed_address_pairs.clear();
  EXPECT_THAT(Build("h1").claims, IsEmpty());
}

TEST_F(HostViewBuilderTest, SurvivesDanglingReferences) {
  Chain();
  state_.networks.erase(NetworkId("b"));
  state_.subnets.clear();
  state_.hosts.clear();
  const vswitch::HostView view = Build("h1");
  EXPECT_THAT(view.networks, UnorderedElementsAre(Key(NetworkId("a"))));
  EXPECT_THAT(view.routers.at(RouterId("r1")).ports[0].addresses, IsEmpty());
}

}  // namespace
}  // namespace kasane::view
