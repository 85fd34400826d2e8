#include "tests/lab/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/status.h"
#include "tests/lab/topology.h"

namespace kasane::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Tests run in the source tree's top folder.
LabPlan Recorded(const std::string& name) {
  const auto topology = LoadTopology("tests/data/" + name);
  if (!topology.ok()) {
    ADD_FAILURE() << topology.status();
    return {};
  }
  auto plan = MakePlan(topology->state);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.status();
    return {};
  }
  return *std::move(plan);
}

std::vector<std::string> Texts(const std::vector<IpPrefix>& prefixes) {
  std::vector<std::string> texts;
  for (const IpPrefix& prefix : prefixes) texts.push_back(prefix.ToString());
  return texts;
}

std::vector<std::string> Texts(const std::vector<VmRoute>& routes) {
  std::vector<std::string> texts;
  for (const VmRoute& route : routes) texts.push_back(fmt::format("{} via {}", route.destination, route.via));
  return texts;
}

// A topology with one port per (host, name).
model::NetworkState VmsOn(const std::vector<std::pair<std::string, std::string>>& vms) {
  model::NetworkState state;
  for (const auto& [host, name] : vms) {
    auto port = std::make_shared<model::Port>();
    port->id = PortId(fmt::format("{:08d}-0000-0000", state.ports.size()));
    port->name = name;
    port->device_owner = "compute:nova";
    port->role = model::PortRole::kVm;
    port->host = HostId(host);
    state.ports[port->id] = port;
  }
  return state;
}

TEST(MakePlanTest, ShopAdsHasThreeHostsAndEighteenVms) {
  const LabPlan plan = Recorded("neutron-shop-ads.json");
  ASSERT_EQ(plan.hosts.size(), 3);
  EXPECT_EQ(plan.hosts[0].node, "hv1");
  EXPECT_EQ(plan.hosts[0].vtep.ToString(), "198.18.0.1/16");
  EXPECT_EQ(plan.hosts[2].management.ToString(), "198.19.1.3/16");
  EXPECT_EQ(plan.vms.size(), 18);
}

TEST(MakePlanTest, AVmHasItsPortsAddressesAndItsSubnetsRoutes) {
  const LabPlan plan = Recorded("neutron-shop-ads.json");
  const Vm* vm = FindVm(plan, "shop-front1");
  ASSERT_NE(vm, nullptr);
  EXPECT_EQ(plan.hosts[vm->host].node, "hv1");
  EXPECT_EQ(vm->interface, "tapf585b55a-fc");
  EXPECT_EQ(vm->mac.ToString(), "fa:16:3e:f1:8e:17");
  EXPECT_EQ(vm->mtu, 1450);
  EXPECT_THAT(Texts(vm->addresses),
              ::testing::UnorderedElementsAre("172.16.0.168/24", "2001:db8:5a:0:f816:3eff:fef1:8e17/64"));
  // The link-local address is that of the port that has the router's IPv6 address, 9695e50d.
  EXPECT_THAT(Texts(vm->routes),
              ::testing::UnorderedElementsAre("192.0.2.0/24 via 172.16.0.9", "0.0.0.0/0 via 172.16.0.1",
                                              "::/0 via fe80::f816:3eff:fe47:73b1"));
  EXPECT_THAT(vm->behind, IsEmpty());
}

TEST(MakePlanTest, TheNextHopOfAnExtraRouteHasAnAddressBehindIt) {
  const LabPlan plan = Recorded("neutron-shop-ads.json");
  for (const char* node : {"shop-appliance", "ads-appliance"}) {
    const Vm* vm = FindVm(plan, node);
    ASSERT_NE(vm, nullptr);
    EXPECT_THAT(vm->behind, ElementsAre(*IpAddress::Parse("192.0.2.1")));
    // Not the host route that leads to itself.
    EXPECT_EQ(vm->routes.size(), 2);
  }
}

TEST(MakePlanTest, AnIsolatedVmHasNoRoutes) {
  const LabPlan plan = Recorded("neutron-shop-ads.json");
  const Vm* vm = FindVm(plan, "ads-iso2");
  ASSERT_NE(vm, nullptr);
  EXPECT_THAT(Texts(vm->addresses), ElementsAre("10.0.0.6/24"));
  EXPECT_THAT(vm->routes, IsEmpty());
}

TEST(MakePlanTest, TwoTenantsOnlyNet0HasIpv6) {
  const LabPlan plan = Recorded("neutron-two-tenants.json");
  EXPECT_EQ(plan.hosts.size(), 2);
  EXPECT_EQ(FindVm(plan, "tenant-a-vm1")->addresses.size(), 2);
  EXPECT_EQ(FindVm(plan, "tenant-b-vm3")->addresses.size(), 1);
}

TEST(MakePlanTest, AmbiguousNamesGiveWayToIds) {
  const auto plan =
      MakePlan(VmsOn({{"hv1", "twin"}, {"hv2", "twin"}, {"hv1", "hv2"}, {"hv1", "a b"}, {"hv1", "fabric"}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const Vm& vm : plan->vms) EXPECT_EQ(vm.node, vm.port.str());
}

TEST(MakePlanTest, RefusesWhatCannotBeALab) {
  EXPECT_THAT(Message(MakePlan(model::NetworkState()).status()), HasSubstr("there is no VM"));
  EXPECT_THAT(Message(MakePlan(VmsOn({{"", "a"}})).status()), HasSubstr("no binding:host_id"));
  EXPECT_THAT(Message(MakePlan(VmsOn({{"../../etc", "a"}})).status()), HasSubstr("host \"../../etc\""));
  EXPECT_THAT(Message(MakePlan(VmsOn({{"fabric", "a"}})).status()), HasSubstr("host \"fabric\""));

  model::NetworkState pinned = VmsOn({{"hv1", "a"}});
  auto host = std::make_shared<model::Host>();
  host->id = HostId("hv1");
  host->tunnel_v4 = *IpAddress::Parse("10.0.0.1");
  pinned.hosts[host->id] = host;
  EXPECT_THAT(Message(MakePlan(pinned).status()),
              HasSubstr("the lab's underlay is 198.18.0.0/16 and 2001:2::/64"));
  host->tunnel_v4 = *IpAddress::Parse("198.18.7.7");
  host->tunnel_v6 = *IpAddress::Parse("2001:2::7");
  EXPECT_THAT(Message(MakePlan(pinned).status()), HasSubstr("a host of the lab has one tunnel address"));
}

TEST(MakePlanTest, KeepsAPinnedTunnelAddress) {
  model::NetworkState pinned = VmsOn({{"hv1", "a"}});
  auto host = std::make_shared<model::Host>();
  host->id = HostId("hv1");
  host->tunnel_v4 = *IpAddress::Parse("198.18.7.7");
  pinned.hosts[host->id] = host;
  const auto plan = MakePlan(pinned);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->hosts[0].vtep.ToString(), "198.18.7.7/16");

  host->tunnel_v4.reset();
  host->tunnel_v6 = *IpAddress::Parse("2001:2::7");
  const auto over_ipv6 = MakePlan(pinned);
  ASSERT_TRUE(over_ipv6.ok()) << over_ipv6.status();
  EXPECT_EQ(over_ipv6->hosts[0].vtep.ToString(), "2001:2::7/64");
  EXPECT_EQ(OwnAddresses(over_ipv6->hosts[0]).v6, *IpAddress::Parse("2001:2::7"));
}

}  // namespace
}  // namespace kasane::lab
