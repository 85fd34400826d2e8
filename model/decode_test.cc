#include "model/decode.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "kasane/v1/resources.pb.h"

namespace kasane::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPort[] = R"(port {
  id: "p1" name: "vm1" project_id: "a" network_id: "n1" admin_state_up: true mac_address: "FA:16:3e:00:00:01"
  fixed_ips { subnet_id: "s1" ip_address: "10.0.0.5" } fixed_ips { subnet_id: "s2" ip_address: "2001:db8::" }
  allowed_address_pairs { ip_address: "10.0.0.100" mac_address: "fa:16:3e:00:00:02" }
  allowed_address_pairs { ip_address: "10.1.2.3/16" }
  device_id: "vm1" device_owner: "compute:nova" binding_host_id: "hv1" port_security_enabled: true
  security_groups: "g1" })";
constexpr char kNetwork[] = R"(network {
  id: "n1" name: "net" project_id: "a" admin_state_up: true mtu: 1400 provider_network_type: "vxlan"
  provider_segmentation_id: 505 port_security_enabled: true })";
constexpr char kSubnet[] = R"(subnet {
  id: "s1" name: "sub" project_id: "a" network_id: "n1" ip_version: 4 cidr: "10.0.0.0/24" gateway_ip: "10.0.0.1"
  enable_dhcp: true allocation_pools { start: "10.0.0.2" end: "10.0.0.254" }
  host_routes { destination: "192.0.2.0/24" nexthop: "10.0.0.9" } dns_nameservers: "203.0.113.53" })";
constexpr char kSubnet6[] = R"(subnet {
  id: "s2" network_id: "n1" ip_version: 6 cidr: "2001:db8::/64" gateway_ip: "2001:db8::" enable_dhcp: true
  ipv6_address_mode: "slaac" ipv6_ra_mode: "slaac" })";
constexpr char kRouter[] = R"(router {
  id: "r1" name: "router" project_id: "a" admin_state_up: true
  routes { destination: "192.0.2.0/24" nexthop: "10.0.0.9" }
  external_gateway_info { network_id: "x" enable_snat: true
    external_fixed_ips { subnet_id: "xs" ip_address: "198.51.100.2" } } })";
constexpr char kFloatingIp[] = R"(floating_ip {
  id: "f1" project_id: "a" floating_network_id: "x" floating_ip_address: "198.51.100.4" port_id: "p1"
  fixed_ip_address: "10.0.0.5" router_id: "r1" })";
constexpr char kGroup[] = R"(security_group {
  id: "g1" name: "default" project_id: "a" stateful: true
  security_group_rules { id: "u1" direction: "egress" ethertype: "IPv4" }
  security_group_rules { id: "u2" direction: "ingress" ethertype: "IPv6" protocol: "tcp" } })";
constexpr char kHost[] =
    R"(host { id: "hv1" tunnel_addresses: "192.0.2.1" tunnel_addresses: "2001:db8::1" pinned: true })";

v1::Resource Parse(const std::string& text) {
  v1::Resource resource;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &resource)) << text;
  return resource;
}

std::vector<std::string> FaultsOf(const v1::Resource& resource) {
  std::vector<Fault> faults;
  const auto decoded = Decode(resource, "x[3]", faults);
  EXPECT_EQ(decoded.has_value(), faults.empty());
  std::vector<std::string> out;
  for (const Fault& fault : faults) out.push_back(ToString(fault));
  return out;
}

template <typename Model>
Model Decoded(const std::string& text) {
  std::vector<Fault> faults;
  const auto decoded = Decode(Parse(text), "x", faults);
  EXPECT_THAT(faults, IsEmpty());
  return decoded ? *std::get<std::shared_ptr<const Model>>(*decoded) : Model();
}

TEST(DecodeTest, Port) {
  const auto port = Decoded<Port>(kPort);
  EXPECT_EQ(port.id, PortId("p1"));
  EXPECT_EQ(port.network, NetworkId("n1"));
  EXPECT_EQ(port.mac.ToString(), "fa:16:3e:00:00:01");
  ASSERT_EQ(port.fixed_ips.size(), 2U);
  EXPECT_EQ(port.fixed_ips[0], (FixedIp{SubnetId("s1"), IpAddress::Parse("10.0.0.5").value()}));
  EXPECT_EQ(port.fixed_ips[1].address.ToString(), "2001:db8::");  // The all-zero host is a valid IPv6 address.
  ASSERT_EQ(port.allowed_address_pairs.size(), 2U);
  EXPECT_EQ(port.allowed_address_pairs[0].prefix.ToString(), "10.0.0.100/32");
  EXPECT_EQ(port.allowed_address_pairs[1].prefix.ToString(), "10.1.0.0/16");
  EXPECT_EQ(port.allowed_address_pairs[1].mac, std::nullopt);
  EXPECT_EQ(port.role, PortRole::kVm);
  EXPECT_EQ(port.host, HostId("hv1"));
  EXPECT_TRUE(port.port_security_enabled);
  EXPECT_THAT(port.security_groups, ElementsAre(SecurityGroupId("g1")));
}

TEST(DecodeTest, PortRoles) {
  const std::pair<std::string, PortRole> cases[] = {
      {"compute:nova", PortRole::kVm},
      {"compute:", PortRole::kVm},
      {"compute", PortRole::kOther},
      {"network:router_interface", PortRole::kRouterInterface},
      {"network:router_interface_distributed", PortRole::kRouterInterface},
      {"network:ha_router_replicated_interface", PortRole::kRouterInterface},
      {"network:router_gateway", PortRole::kRouterGateway},
      {"network:dhcp", PortRole::kDhcp},
      {"network:floatingip", PortRole::kFloatingIp},
      {"network:router_centralized_snat", PortRole::kNetworkService},
      {"network:floatingip_agent_gateway", PortRole::kNetworkService},
      {"network:router_ha_interface", PortRole::kNetworkService},
      {"network:distributed", PortRole::kNetworkService},
      {"trunk:subport", PortRole::kOther},
      {"baremetal:none", PortRole::kOther},
      {"", PortRole::kOther},
  };
  for (const auto& [owner, role] : cases) {
    v1::Resource resource = Parse(kPort);
    resource.mutable_port()->set_device_owner(owner);
    std::vector<Fault> faults;
    const auto decoded = Decode(resource, "x", faults);
    ASSERT_TRUE(decoded) << owner;
    EXPECT_EQ(std::get<std::shared_ptr<const Port>>(*decoded)->role, role) << owner;
  }
}

TEST(DecodeTest, Network) {
  const auto network = Decoded<Network>(kNetwork);
  EXPECT_EQ(network.mtu, 1400U);
  EXPECT_EQ(network.type, NetworkType::kVxlan);
  EXPECT_EQ(network.vni.value().value(), 505U);
}

TEST(DecodeTest, NetworkDefaultsAndOtherTypes) {
  const auto plain = Decoded<Network>(R"(network { id: "n" provider_segmentation_id: 16777215 })");
  EXPECT_EQ(plain.mtu, 1450U);
  EXPECT_TRUE(plain.port_security_enabled);
  EXPECT_EQ(plain.vni.value().value(), Vni::kMax);
  EXPECT_TRUE(plain.admin_state_up);
  const auto flat =
      Decoded<Network>(R"(network { id: "n" provider_network_type: "flat" router_external: true })");
  EXPECT_EQ(flat.type, NetworkType::kFlat);
  EXPECT_EQ(flat.mtu, 1500U);
  EXPECT_EQ(flat.vni, std::nullopt);
  EXPECT_TRUE(flat.external);
  const auto vlan =
      Decoded<Network>(R"(network { id: "n" provider_network_type: "vlan" provider_segmentation_id: 4094 })");
  EXPECT_EQ(vlan.vlan, 4094U);
  EXPECT_EQ(vlan.vni, std::nullopt);
}

TEST(DecodeTest, Subnets) {
  const auto v4 = Decoded<Subnet>(kSubnet);
  EXPECT_EQ(v4.cidr.ToString(), "10.0.0.0/24");
  EXPECT_EQ(v4.gateway_ip.value().ToString(), "10.0.0.1");
  ASSERT_EQ(v4.host_routes.size(), 1U);
  EXPECT_EQ(v4.host_routes[0].nexthop.ToString(), "10.0.0.9");
  const auto v6 = Decoded<Subnet>(kSubnet6);
  EXPECT_EQ(v6.gateway_ip.value().ToString(), "2001:db8::");
  EXPECT_EQ(v6.ipv6_ra_mode, "slaac");
}

TEST(DecodeTest, Router) {
  const auto router = Decoded<Router>(kRouter);
  ASSERT_EQ(router.routes.size(), 1U);
  EXPECT_EQ(router.routes[0].destination.ToString(), "192.0.2.0/24");
  ASSERT_TRUE(router.gateway);
  EXPECT_EQ(router.gateway->external_fixed_ips[0].address.ToString(), "198.51.100.2");
  EXPECT_EQ(Decoded<Router>(R"(router { id: "r" })").gateway, std::nullopt);
}

TEST(DecodeTest, FloatingIpAssociatedAndNot) {
  const auto floating = Decoded<FloatingIp>(kFloatingIp);
  EXPECT_EQ(floating.port, PortId("p1"));
  EXPECT_EQ(floating.fixed_ip_address.value().ToString(), "10.0.0.5");
  const auto idle = Decoded<FloatingIp>(
      R"(floating_ip { id: "f" floating_network_id: "x" floating_ip_address: "198.51.100.5" })");
  EXPECT_TRUE(idle.port.empty());
  EXPECT_EQ(idle.fixed_ip_address, std::nullopt);
}

TEST(DecodeTest, Host) {
  const auto host = Decoded<Host>(kHost);
  EXPECT_EQ(host.tunnel_v4.value().ToString(), "192.0.2.1");
  EXPECT_EQ(host.tunnel_v6.value().ToString(), "2001:db8::1");
  EXPECT_TRUE(host.pinned);
  EXPECT_EQ(Decoded<Host>(R"(host { id: "hv2" })").tunnel_v4, std::nullopt);
}

// `change` is text format merged over `base`: scalars are replaced, list items appended.
struct FaultCase {
  const char* base;
  const char* change;
  const char* fault;  // Of the only fault: the path whole, the message in part.
};

void ExpectFaults(std::initializer_list<FaultCase> cases) {
  for (const FaultCase& c : cases) {
    v1::Resource resource = Parse(c.base);
    google::protobuf::TextFormat::Parser parser;
    ASSERT_TRUE(parser.MergeFromString(c.change, &resource)) << c.change;
    EXPECT_THAT(FaultsOf(resource), ElementsAre(::testing::StartsWith(c.fault))) << c.change;
  }
}

TEST(DecodeFaultTest, Port) {
  ExpectFaults({
      {kPort, R"(port { id: "" })", "x[3].id: is missing"},
      {kPort, R"(port { id: "a\nb" })", "x[3].id: 'a\\x0ab' has control characters"},
      {kPort, R"(port { name: "\302\233" })", "x[3].name: '\\xc2\\x9b' has control characters"},
      {kPort, R"(port { network_id: "" })", "x[3].network_id: is missing"},
      {kPort, R"(port { mac_address: "" })", "x[3].mac_address: is missing"},
      {kPort, R"(port { mac_address: "fa:16:3e" })", "x[3].mac_address: 'fa:16:3e' is not a MAC address"},
      {kPort, R"(port { mac_address: "00:00:00:00:00:00" })",
       "x[3].mac_address: 00:00:00:00:00:00 is all zero"},
      {kPort, R"(port { mac_address: "01:16:3e:00:00:01" })",
       "x[3].mac_address: 01:16:3e:00:00:01 is a group address"},
      {kPort, R"(port { fixed_ips { ip_address: "10.0.0.6" } })", "x[3].fixed_ips[2].subnet_id: is missing"},
      {kPort, R"(port { fixed_ips { subnet_id: "s1" } })", "x[3].fixed_ips[2].ip_address: is missing"},
      {kPort, R"(port { fixed_ips { subnet_id: "s1" ip_address: "10.0.0.256" } })",
       "x[3].fixed_ips[2].ip_address: '10.0.0.256' is not an IPv4 or IPv6 address"},
      {kPort, R"(port { fixed_ips { subnet_id: "s1" ip_address: "10.0.0.5" } })",
       "x[3].fixed_ips[2].ip_address: 10.0.0.5 is there twice"},
      {kPort, R"(port { fixed_ips { subnet_id: "s1" ip_address: "0.0.0.0" } })",
       "x[3].fixed_ips[2].ip_address: 0.0.0.0 is the unspecified address"},
      {kPort, R"(port { allowed_address_pairs { } })", "x[3].allowed_address_pairs[2].ip_address: is missing"},
      {kPort, R"(port { allowed_address_pairs { ip_address: "10.0.0.0/33" } })",
       "x[3].allowed_address_pairs[2].ip_address: '10.0.0.0/33' is not a CIDR"},
      {kPort, R"(port { allowed_address_pairs { ip_address: "10.0.0.1" mac_address: "z" } })",
       "x[3].allowed_address_pairs[2].mac_address: 'z' is not a MAC address"},
      {kPort, R"(port { device_owner: "network:router_interface" device_id: "" })",
       "x[3].device_id: is missing"},
      {kPort, R"(port { binding_host_id: "\t" })", "x[3].binding:host_id: '\\x09' has control characters"},
      {kPort, R"(port { binding_vnic_type: "\t" })", "x[3].binding:vnic_type: '\\x09' has control characters"},
      {kPort, R"(port { security_groups: "" })", "x[3].security_groups[1]: is missing"},
      {kPort, R"(port { security_groups: "g1" })", "x[3].security_groups[1]: g1 is there twice"},
  });
}

TEST(DecodeFaultTest, Network) {
  ExpectFaults({
      {kNetwork, R"(network { id: "" })", "x[3].id: is missing"},
      {kNetwork, R"(network { project_id: "\177" })", "x[3].project_id: '\\x7f' has control characters"},
      {kNetwork, R"(network { mtu: 67 })", "x[3].mtu: 67 is not an MTU: it must be 68 to 65535"},
      {kNetwork, R"(network { mtu: 65536 })", "x[3].mtu: 65536 is not an MTU"},
      {kNetwork, R"(network { provider_segmentation_id: 0 })", "x[3].provider:segmentation_id: is missing"},
      {kNetwork, R"(network { provider_segmentation_id: 16777216 })",
       "x[3].provider:segmentation_id: 16777216 is not a VNI"},
      {kNetwork, R"(network { provider_network_type: "vlan" provider_segmentation_id: 4095 })",
       "x[3].provider:segmentation_id: 4095 is not a VLAN id"},
      {kNetwork, R"(network { provider_network_type: "flat" })", "x[3].provider:segmentation_id: 505 is given"},
      {kNetwork, R"(network { provider_network_type: "geneve" })",
       "x[3].provider:network_type: 'geneve' is not supported"},
      {kNetwork, R"(network { provider_physical_network: "\n" })",
       "x[3].provider:physical_network: '\\x0a' has control characters"},
  });
}

TEST(DecodeFaultTest, Subnet) {
  ExpectFaults({
      {kSubnet, R"(subnet { id: "" })", "x[3].id: is missing"},
      {kSubnet, R"(subnet { network_id: "" })", "x[3].network_id: is missing"},
      {kSubnet, R"(subnet { ip_version: 0 })", "x[3].ip_version: is missing"},
      {kSubnet, R"(subnet { ip_version: 5 })", "x[3].ip_version: 5 is not 4 or 6"},
      {kSubnet, R"(subnet { ip_version: 6 })", "x[3].ip_version: 6 contradicts the cidr 10.0.0.0/24; use 4"},
      {kSubnet, R"(subnet { cidr: "" })", "x[3].cidr: is missing"},
      {kSubnet, R"(subnet { cidr: "10.0.0.0" })", "x[3].cidr: '10.0.0.0' is not a CIDR: it lacks a length"},
      {kSubnet, R"(subnet { cidr: "10.0.0.1/24" })",
       "x[3].cidr: '10.0.0.1/24' has bits set beyond its length; the network is 10.0.0.0/24"},
      {kSubnet, R"(subnet { cidr: "0.0.0.0/0" })", "x[3].cidr: 0.0.0.0/0 is the whole Internet"},
      {kSubnet, R"(subnet { cidr: "224.0.0.0/24" })", "x[3].cidr: 224.0.0.0/24 is multicast"},
      {kSubnet, R"(subnet { gateway_ip: "2001:db8::1" })",
       "x[3].gateway_ip: 2001:db8::1 is not an IPv4 address"},
      {kSubnet, R"(subnet { gateway_ip: "10.0.0.0" })", "x[3].gateway_ip: 10.0.0.0 is the network address"},
      {kSubnet, R"(subnet { gateway_ip: "10.0.0.255" })",
       "x[3].gateway_ip: 10.0.0.255 is the broadcast address"},
      {kSubnet, R"(subnet { allocation_pools { start: "10.0.0.9" end: "10.0.0.2" } })",
       "x[3].allocation_pools[1]: ends at 10.0.0.2, before its start 10.0.0.9"},
      {kSubnet, R"(subnet { allocation_pools { start: "10.0.0.2" end: "10.0.0.x" } })",
       "x[3].allocation_pools[1].end: '10.0.0.x' is not"},
      {kSubnet, R"(subnet { host_routes { destination: "10.9.0.0/16" } })",
       "x[3].host_routes[1].nexthop: is missing"},
      {kSubnet, R"(subnet { host_routes { nexthop: "10.0.0.9" } })",
       "x[3].host_routes[1].destination: is missing"},
      {kSubnet, R"(subnet { host_routes { destination: "::/0" nexthop: "10.0.0.9" } })",
       "x[3].host_routes[1].nexthop: 10.0.0.9 is not an IPv6 address"},
      {kSubnet, R"(subnet { host_routes { destination: "192.0.2.0/24" nexthop: "10.0.0.9" } })",
       "x[3].host_routes[1]: 192.0.2.0/24 via 10.0.0.9 is there twice"},
      {kSubnet, R"(subnet { dns_nameservers: "ns1" })",
       "x[3].dns_nameservers[1]: 'ns1' is not an IPv4 or IPv6"},
      {kSubnet, R"(subnet { ipv6_ra_mode: "slaac" })", "x[3].ipv6_ra_mode: slaac is for IPv6"},
      {kSubnet6, R"(subnet { ipv6_ra_mode: "SLAAC" ipv6_address_mode: "" })",
       "x[3].ipv6_ra_mode: 'SLAAC' is not slaac"},
      {kSubnet6, R"(subnet { ipv6_ra_mode: "dhcpv6-stateful" })",
       "x[3].ipv6_ra_mode: 'dhcpv6-stateful' differs"},
      {kSubnet6, R"(subnet { cidr: "2001:db8::/63" ipv6_ra_mode: "" })",
       "x[3].ipv6_address_mode: slaac needs a /64"},
  });
}

TEST(DecodeFaultTest, PoolOutsideItsSubnetNamesBothEnds) {
  v1::Resource resource = Parse(kSubnet);
  auto* pool = resource.mutable_subnet()->add_allocation_pools();
  pool->set_start("10.0.1.2");
  pool->set_end("10.0.1.9");
  EXPECT_THAT(FaultsOf(resource), ElementsAre("x[3].allocation_pools[1].start: 10.0.1.2 is not in 10.0.0.0/24",
                                              "x[3].allocation_pools[1].end: 10.0.1.9 is not in 10.0.0.0/24"));
}

TEST(DecodeFaultTest, RouterFloatingIpHostAndGroup) {
  ExpectFaults({
      {kRouter, R"(router { id: "" })", "x[3].id: is missing"},
      {kRouter, R"(router { routes { destination: "10.0.0.0/8" nexthop: "127.0.0.1" } })",
       "x[3].routes[1].nexthop: 127.0.0.1 is a loopback address"},
      {kRouter, R"(router { external_gateway_info { network_id: "" } })",
       "x[3].external_gateway_info.network_id: is missing"},
      {kRouter,
       R"(router { external_gateway_info { external_fixed_ips { subnet_id: "s" ip_address: "1.2" } } })",
       "x[3].external_gateway_info.external_fixed_ips[1].ip_address: '1.2' is not"},
      {kFloatingIp, R"(floating_ip { id: "" })", "x[3].id: is missing"},
      {kFloatingIp, R"(floating_ip { floating_network_id: "" })", "x[3].floating_network_id: is missing"},
      {kFloatingIp, R"(floating_ip { floating_ip_address: "" })", "x[3].floating_ip_address: is missing"},
      {kFloatingIp, R"(floating_ip { port_id: "" })",
       "x[3].fixed_ip_address: 10.0.0.5 is given without port_id"},
      {kFloatingIp, R"(floating_ip { fixed_ip_address: "2001:db8::5" })",
       "x[3].fixed_ip_address: 2001:db8::5 and"},
      {kHost, R"(host { id: "" })", "x[3].id: is missing"},
      {kHost, R"(host { tunnel_addresses: "192.0.2.2" })", "x[3].tunnel_addresses: has 3 items; at most 2"},
      {R"(host { id: "h" tunnel_addresses: "192.0.2.1" })", R"(host { tunnel_addresses: "192.0.2.2" })",
       "x[3].tunnel_addresses[1]: 192.0.2.2 is a second IPv4 address"},
      {R"(host { id: "h" })", R"(host { pinned: true })", "x[3].tunnel_addresses: is missing"},
      {R"(host { id: "h" })", R"(host { tunnel_addresses: "::" })",
       "x[3].tunnel_addresses[0]: :: is the unspecified"},
      {R"(host { id: "h" })", R"(host { tunnel_addresses: "ff02::1" })",
       "x[3].tunnel_addresses[0]: ff02::1 is a multicast"},
      {R"(host { id: "h" })", R"(host { tunnel_addresses: "127.0.0.1" })",
       "x[3].tunnel_addresses[0]: 127.0.0.1 is a loop"},
      {kGroup, R"(security_group { id: "" })", "x[3].id: is missing"},
      {kGroup, R"(security_group { security_group_rules { id: "u1" direction: "egress" } })",
       "x[3].security_group_rules[2].id: u1 is there twice"},
  });
}

TEST(DecodeFaultTest, EveryFaultOfAResourceAtOnce) {
  v1::Resource resource = Parse(kPort);
  resource.mutable_port()->set_network_id("");
  resource.mutable_port()->set_mac_address("zz");
  resource.mutable_port()->mutable_fixed_ips(1)->set_ip_address("10.0.0.5/24");
  EXPECT_THAT(FaultsOf(resource), ElementsAre(HasSubstr(".network_id: "), HasSubstr(".mac_address: "),
                                              HasSubstr(".fixed_ips[1].ip_address: ")));
}

TEST(DecodeFaultTest, LongTextIsRefusedAndNotEchoed) {
  v1::Resource resource = Parse(kPort);
  resource.mutable_port()->set_name(std::string(256, 'n'));
  resource.mutable_port()->set_mac_address(std::string(100000, 'm'));
  EXPECT_THAT(FaultsOf(resource),
              ElementsAre("x[3].name: has 256 characters; at most 255 are taken",
                          "x[3].mac_address: has 100000 characters; at most 255 are taken"));
  resource = Parse(kPort);
  resource.mutable_port()->set_name(std::string(255, 'n'));
  EXPECT_THAT(FaultsOf(resource), IsEmpty());
}

TEST(DecodeFaultTest, LongListsAreOneFault) {
  v1::Resource resource = Parse(kPort);
  for (int i = 0; i < 2000; ++i) resource.mutable_port()->add_allowed_address_pairs();
  EXPECT_THAT(FaultsOf(resource),
              ElementsAre("x[3].allowed_address_pairs: has 2002 items; at most 1024 are taken"));
}

TEST(DecodeFaultTest, UnknownKind) {
  EXPECT_THAT(FaultsOf(v1::Resource()), ElementsAre(HasSubstr("x[3]: is of no kind known here")));
}

TEST(DecodeKeyTest, OfResourcesAndMessages) {
  EXPECT_EQ(DecodeKey(Parse(kPort)), (ResourceKey{Kind::kPort, "p1"}));
  EXPECT_EQ(DecodeKey(Parse(kFloatingIp)), (ResourceKey{Kind::kFloatingIp, "f1"}));
  EXPECT_EQ(DecodeKey(Parse(R"(port { })")), std::nullopt);
  EXPECT_EQ(DecodeKey(v1::Resource()), std::nullopt);
  for (const Kind kind : kAllKinds) {
    EXPECT_EQ(DecodeKey(EncodeKey({kind, "i"})), (ResourceKey{kind, "i"})) << Label(kind);
  }
  v1::ResourceKey key;
  key.set_id("i");
  EXPECT_EQ(DecodeKey(key), std::nullopt);
  key.set_kind(static_cast<v1::ResourceKind>(99));
  EXPECT_EQ(DecodeKey(key), std::nullopt);
}

TEST(RevisionTest, RoundTrip) {
  const Revision revision{"t1", 42};
  EXPECT_EQ(DecodeRevision(EncodeRevision(revision)), revision);
}

TEST(SnapshotTest, UpsertAndEraseEveryKind) {
  NetworkState state;
  for (const char* text : {kHost, kNetwork, kSubnet, kPort, kRouter, kFloatingIp, kGroup}) {
    std::vector<Fault> faults;
    const auto resource = Decode(Parse(text), "x", faults);
    ASSERT_TRUE(resource) << text;
    EXPECT_EQ(KeyOf(*resource), DecodeKey(Parse(text)));
    Upsert(state, *resource);
  }
  const auto count = [&state] {
    return state.hosts.size() + state.networks.size() + state.subnets.size() + state.ports.size() +
           state.routers.size() + state.floating_ips.size() + state.security_groups.size();
  };
  EXPECT_EQ(count(), 7U);
  EXPECT_EQ(state.ports.at(PortId("p1"))->name, "vm1");
  Erase(state, {Kind::kPort, "n1"});
  EXPECT_EQ(count(), 7U);
  for (const ResourceKey& key : {ResourceKey{Kind::kHost, "hv1"},
                                 {Kind::kNetwork, "n1"},
                                 {Kind::kSubnet, "s1"},
                                 {Kind::kPort, "p1"},
                                 {Kind::kRouter, "r1"},
                                 {Kind::kFloatingIp, "f1"},
                                 {Kind::kSecurityGroup, "g1"}}) {
    Erase(state, key);
  }
  EXPECT_EQ(count(), 0U);
}

}  // namespace
}  // namespace kasane::model
