#include "model/not_enforced.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kasane::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

IpAddress Ip(std::string_view text) { return IpAddress::Parse(text).value(); }
IpPrefix Cidr(std::string_view text) { return IpPrefix::Parse(text).value(); }

// "port p1 security_groups" for each item.
std::vector<std::string> Summary(const NetworkState& state) {
  std::vector<std::string> out;
  for (const NotEnforcedItem& item : NotEnforced(state)) {
    out.push_back(fmt::format("{} {}", ToString(item.key), item.feature));
  }
  return out;
}

NetworkState WithPort(const Port& port) {
  NetworkState state;
  state.ports[port.id] = std::make_shared<const Port>(port);
  return state;
}

Port SecurePort(PortRole role) {
  Port port;
  port.id = PortId("p1");
  port.role = role;
  port.port_security_enabled = true;
  port.security_groups = {SecurityGroupId("g1"), SecurityGroupId("g2")};
  return port;
}

TEST(NotEnforcedTest, AnEmptyStateAsksForNothing) { EXPECT_THAT(NotEnforced({}), IsEmpty()); }

TEST(NotEnforcedTest, SecurityOfAVmPort) {
  const NetworkState state = WithPort(SecurePort(PortRole::kVm));
  EXPECT_THAT(Summary(state), ElementsAre("port p1 security_groups"));
  EXPECT_THAT(NotEnforced(state)[0].detail, HasSubstr("2 security groups do not filter"));
}

TEST(NotEnforcedTest, PortSecurityOffAsksForNoFilter) {
  Port port = SecurePort(PortRole::kVm);
  port.port_security_enabled = false;
  EXPECT_THAT(Summary(WithPort(port)), IsEmpty());
}

TEST(NotEnforcedTest, AMachineOnAnExternalNetwork) {
  Port port = SecurePort(PortRole::kVm);
  port.security_groups.clear();
  port.network = NetworkId("n1");
  Network network;
  network.id = NetworkId("n1");
  network.external = true;
  NetworkState state = WithPort(port);
  state.networks[network.id] = std::make_shared<const Network>(network);
  EXPECT_THAT(Summary(state), IsEmpty()) << "not bound";

  port.host = HostId("hv1");
  state.ports[port.id] = std::make_shared<const Port>(port);
  EXPECT_THAT(Summary(state), ElementsAre("port p1 external_network"));
}

TEST(NotEnforcedTest, SecurityMeansNothingOnPortsOfTheNetworkItself) {
  for (const auto role : {PortRole::kRouterInterface, PortRole::kRouterGateway, PortRole::kDhcp,
                          PortRole::kFloatingIp, PortRole::kOther}) {
    EXPECT_THAT(Summary(WithPort(SecurePort(role))), IsEmpty());
  }
}

TEST(NotEnforcedTest, ABoundPortOfAnotherOwnerIsAMachine) {
  Port port = SecurePort(PortRole::kOther);
  port.host = HostId("hv1");
  EXPECT_THAT(Summary(WithPort(port)), ElementsAre("port p1 security_groups"));
}

struct SubnetCase {
  std::string cidr;
  bool enable_dhcp;
  std::string address_mode;
  std::string ra_mode;
  std::vector<std::string> features;
};

TEST(NotEnforcedTest, DhcpAndRouterAdvertisements) {
  const SubnetCase cases[] = {
      {"10.0.0.0/24", true, "", "", {"dhcp"}},
      {"10.0.0.0/24", false, "", "", {}},
      {"2001:db8::/64", true, "slaac", "slaac", {"ra"}},
      {"2001:db8::/64", true, "dhcpv6-stateful", "dhcpv6-stateful", {"dhcp", "ra"}},
      {"2001:db8::/64", true, "dhcpv6-stateless", "", {"dhcp"}},
      {"2001:db8::/64", true, "", "", {}},
      {"2001:db8::/64", false, "", "", {}},
  };
  for (const SubnetCase& c : cases) {
    Subnet subnet;
    subnet.id = SubnetId("s");
    subnet.cidr = Cidr(c.cidr);
    subnet.enable_dhcp = c.enable_dhcp;
    subnet.ipv6_address_mode = c.address_mode;
    subnet.ipv6_ra_mode = c.ra_mode;
    NetworkState state;
    state.subnets[subnet.id] = std::make_shared<const Subnet>(subnet);
    std::vector<std::string> features;
    for (const NotEnforcedItem& item : NotEnforced(state)) features.push_back(item.feature);
    EXPECT_EQ(features, c.features) << c.cidr << " " << c.address_mode << " " << c.ra_mode;
  }
}

TEST(NotEnforcedTest, HostRoutes) {
  Subnet subnet;
  subnet.id = SubnetId("s");
  subnet.cidr = Cidr("10.0.0.0/24");
  subnet.host_routes = {{Cidr("192.0.2.0/24"), Ip("10.0.0.9")}};
  NetworkState state;
  state.subnets[subnet.id] = std::make_shared<const Subnet>(subnet);
  const auto items = NotEnforced(state);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].detail, "1 host route is not told by DHCP: configure in the VMs.");
}

TEST(NotEnforcedTest, WayOutsideSortedByKey) {
  NetworkState state;
  Network external;
  external.id = NetworkId("n1");
  external.name = "external";
  external.type = NetworkType::kFlat;
  external.external = true;
  state.networks[external.id] = std::make_shared<const Network>(external);
  Router router;
  router.id = RouterId("r1");
  router.gateway = Gateway{NetworkId("n1"), true, {}};
  state.routers[router.id] = std::make_shared<const Router>(router);
  FloatingIp floating;
  floating.id = FloatingIpId("f1");
  floating.floating_ip_address = Ip("198.51.100.4");
  floating.port = PortId("p9");
  state.floating_ips[floating.id] = std::make_shared<const FloatingIp>(floating);
  FloatingIp unused = floating;
  unused.id = FloatingIpId("f2");
  unused.port = PortId();
  state.floating_ips[unused.id] = std::make_shared<const FloatingIp>(unused);

  EXPECT_THAT(Summary(state),
              ElementsAre("network n1 provider_network", "router r1 gateway", "floating_ip f1 floating_ip"));
  EXPECT_THAT(NotEnforced(state)[1].detail, HasSubstr("external (n1), and no SNAT done"));
  EXPECT_THAT(NotEnforced(state)[2].detail, HasSubstr("198.51.100.4 is not translated to port p9"));
}

TEST(NotEnforcedTest, OtherWaysToPlugAVm) {
  Port port = SecurePort(PortRole::kVm);
  port.security_groups.clear();
  port.vnic_type = "normal";
  EXPECT_THAT(Summary(WithPort(port)), IsEmpty());
  port.vnic_type = "direct";
  EXPECT_THAT(Summary(WithPort(port)), ElementsAre("port p1 vnic_type"));
  port = SecurePort(PortRole::kOther);
  port.device_owner = "trunk:subport";
  EXPECT_THAT(Summary(WithPort(port)), ElementsAre("port p1 trunk"));
}

TEST(NotEnforcedTest, RulesThatNameAnAddressGroup) {
  SecurityGroup group;
  group.id = SecurityGroupId("g1");
  group.rules.resize(3);
  group.rules[0].remote_address_group = "ag1";
  group.rules[2].remote_address_group = "ag1";
  NetworkState state;
  state.security_groups[group.id] = std::make_shared<const SecurityGroup>(group);
  EXPECT_THAT(Summary(state), ElementsAre("security_group g1 address_group"));
  EXPECT_THAT(NotEnforced(state)[0].detail, HasSubstr("2 rules name an address group"));
}

}  // namespace
}  // namespace kasane::model
