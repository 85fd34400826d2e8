#include "controller/validate/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "controller/test_support.h"

namespace kasane::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<ItemFault>& faults) {
  std::vector<std::string> texts;
  for (const ItemFault& fault : faults) texts.push_back(fault.path + ": " + fault.message);
  return texts;
}

Judgement Judge(const std::string& stored, const std::string& request) {
  std::vector<model::Fault> faults;
  const std::vector<RequestItem> items = ItemsOf(RequestFrom(request), faults);
  EXPECT_THAT(faults, IsEmpty());
  return Validate(StateOf(RequestFrom(stored)), items);
}

std::vector<std::string> FaultsOf(const std::string& request) {
  return Texts(Judge(kSmallTopology, request).faults);
}

std::vector<std::string> FaultsOfDeleting(std::vector<model::ResourceKey> keys) {
  std::vector<RequestItem> items;
  for (model::ResourceKey& key : keys) {
    items.push_back({"keys[" + std::to_string(items.size()) + "]", std::move(key), std::nullopt, true});
  }
  return Texts(Validate(StateOf(RequestFrom(kSmallTopology)), items).faults);
}

// One change to the small topology, and all that is wrong with it.
struct Case {
  std::string name;
  std::string request;
  std::vector<std::string> faults;
};

class ValidateCaseTest : public testing::TestWithParam<Case> {};

TEST_P(ValidateCaseTest, FindsExactly) { EXPECT_THAT(FaultsOf(GetParam().request), GetParam().faults); }

std::string Port(const std::string& fields) {
  return "ports:\n- {id: new, mac_address: \"fa:16:3e:00:00:99\", " + fields + "}\n";
}

const std::vector<Case> kReferences = {
    {"PortOnNoNetwork",
     Port("network_id: nx"),
     {"ports[0].network_id: there is no network nx; apply it first, or in the same request"}},
    {"PortWithNoSubnetAndNoGroup",
     Port("network_id: n1, fixed_ips: [{subnet_id: sx, ip_address: 10.0.1.9}], security_groups: [g1, gx]"),
     {"ports[0].fixed_ips[0].subnet_id: there is no subnet sx; apply it first, or in the same request",
      "ports[0].security_groups[1]: there is no security_group gx; apply it first, or in the same request"}},
    {"InterfaceOfNoRouter",
     Port("network_id: n1, device_owner: \"network:router_interface\", device_id: rx"),
     {"ports[0].device_id: there is no router rx; apply it first, or in the same request"}},
    {"DeviceIdOfOthersIsFreeText",
     Port("network_id: n1, device_owner: \"network:dhcp\", device_id: dhcp-1"),
     {}},
    {"SubnetOnNoNetwork",
     "subnets: [{id: sn, network_id: nx, ip_version: 4, cidr: 10.9.0.0/24}]",
     {"subnets[0].network_id: there is no network nx; apply it first, or in the same request"}},
    {"FloatingIpOfNothing",
     "floatingips: [{id: fn, floating_network_id: nx, floating_ip_address: 203.0.113.9, port_id: px, "
     "router_id: rx}]",
     {"floatingips[0].floating_network_id: there is no network nx; apply it first, or in the same request",
      "floatingips[0].port_id: there is no port px; apply it first, or in the same request",
      "floatingips[0].router_id: there is no router rx; apply it first, or in the same request"}},
    {"RemoteGroup",
     "security-groups: [{id: gn, security_group_rules: [{id: y, direction: egress, ethertype: IPv4}, {id: z, "
     "direction: "
     "egress, ethertype: IPv4, remote_group_id: gx}]}]",
     {"security-groups[0].security_group_rules[1].remote_group_id: there is no security_group gx; apply it "
      "first, or in "
      "the same request"}},
    {"GatewayOnNothing",
     "routers: [{id: rn, external_gateway_info: {network_id: nx, external_fixed_ips: [{subnet_id: sx, "
     "ip_address: "
     "203.0.113.9}]}}]",
     {"routers[0].external_gateway_info.network_id: there is no network nx; apply it first, or in the same "
      "request",
      "routers[0].external_gateway_info.external_fixed_ips[0].subnet_id: there is no subnet sx; apply it "
      "first, or in "
      "the same request"}},
    {"ReferenceWithinTheRequest",
     "networks: [{id: n3, provider:segmentation_id: 103}]\n" + Port("network_id: n3"),
     {}},
};

const std::vector<Case> kAddresses = {
    {"IpOutsideOfItsSubnet",
     Port("network_id: n1, fixed_ips: [{subnet_id: s1, ip_address: 10.0.9.9}]"),
     {"ports[0].fixed_ips[0].ip_address: 10.0.9.9 is outside of 10.0.1.0/24 of subnet s1; use one of its "
      "addresses, or "
      "the subnet that has it"}},
    {"SubnetOfAnotherNetwork",
     Port("network_id: n1, fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.9}]"),
     {"ports[0].fixed_ips[0].subnet_id: subnet s2 is on network n2, not on n1; use a subnet of that network"}},
    {"SubnetGatewayOutside",
     "subnets: [{id: sn, network_id: n1, ip_version: 4, cidr: 10.9.0.0/24, gateway_ip: 10.8.0.1}]",
     {"subnets[0].gateway_ip: 10.8.0.1 is outside of the subnet 10.9.0.0/24; use one of its addresses, or "
      "none"}},
    {"LinkLocalSubnetGateway",
     "subnets: [{id: sn, network_id: n1, ip_version: 6, cidr: \"2001:db8::/64\", gateway_ip: \"fe80::1\"}]",
     {}},
    {"AllZeroHostAddressInIpv6",
     "subnets: [{id: sn, network_id: n1, ip_version: 6, cidr: \"2001:db8::/64\", gateway_ip: \"2001:db8::\"}]",
     {}},
    {"RouterGatewayNotExternal",
     "routers: [{id: rn, external_gateway_info: {network_id: n1}}]",
     {"routers[0].external_gateway_info.network_id: network n1 (front) is not external; use a network with "
      "router:external true"}},
    {"FloatingIpNotExternal",
     "floatingips: [{id: fn, floating_network_id: n1, floating_ip_address: 10.0.1.77}]",
     {"floatingips[0].floating_network_id: network n1 (front) is not external; use a network with "
      "router:external "
      "true"}},
    {"FloatingIpInNoSubnet",
     "floatingips: [{id: fn, floating_network_id: ext, floating_ip_address: 192.0.2.77}]",
     {"floatingips[0].floating_ip_address: 192.0.2.77 is in no subnet of network ext"}},
    {"FloatingIpToAnAddressThatThePortLacks",
     "floatingips: [{id: fn, floating_network_id: ext, floating_ip_address: 203.0.113.9, port_id: p1, "
     "fixed_ip_address: 10.0.1.6}]",
     {"floatingips[0].fixed_ip_address: 10.0.1.6 is no address of port p1 (vm1)"}},
};

const std::vector<Case> kUniqueness = {
    {"IpTwiceInANetwork",
     Port("network_id: n1, fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.5}]"),
     {"ports[0].fixed_ips[0].ip_address: 10.0.1.5 also belongs to port p1 (vm1) in network n1; give each its "
      "own"}},
    {"SameIpInTwoNetworks",
     "networks: [{id: n3, provider:segmentation_id: 103}]\n"
     "subnets: [{id: s3, network_id: n3, ip_version: 4, cidr: 10.0.1.0/24}]\n" +
         Port("network_id: n3, fixed_ips: [{subnet_id: s3, ip_address: 10.0.1.5}]"),
     {}},
    {"MacTwiceInANetwork",
     "ports: [{id: new, network_id: n1, mac_address: \"fa:16:3e:00:00:01\"}]",
     {"ports[0].mac_address: fa:16:3e:00:00:01 is also the MAC of port p1 (vm1) in network n1; give each port "
      "its own"}},
    {"MacTwiceWithinTheRequest",
     "ports: [{id: z, network_id: n1, mac_address: \"fa:16:3e:00:00:77\"}, {id: a, network_id: n1, "
     "mac_address: "
     "\"fa:16:3e:00:00:77\"}]",
     {"ports[1].mac_address: fa:16:3e:00:00:77 is also the MAC of port z (ports[0]) in network n1; give each "
      "port its "
      "own"}},
    {"SameMacInTwoNetworks", "ports: [{id: new, network_id: n2, mac_address: \"fa:16:3e:00:00:01\"}]", {}},
    {"FloatingAddressTwice",
     "floatingips: [{id: fn, floating_network_id: ext, floating_ip_address: 203.0.113.7}]",
     {"floatingips[0].floating_ip_address: 203.0.113.7 also belongs to floating_ip f1 in network ext; give "
      "each its "
      "own"}},
    {"FloatingAddressOfAGateway",
     "floatingips: [{id: fn, floating_network_id: ext, floating_ip_address: 203.0.113.8}]",
     {"floatingips[0].floating_ip_address: 203.0.113.8 also belongs to port pg in network ext; give each its "
      "own"}},
    {"SubnetsOverlapOnANetwork",
     "subnets: [{id: sn, network_id: n1, ip_version: 4, cidr: 10.0.0.0/16}]",
     {"subnets[0].cidr: overlaps subnet s1 on the same network (10.0.0.0/16 and 10.0.1.0/24); subnets of a "
      "network must "
      "be disjoint"}},
    {"VniTwice",
     "networks: [{id: n3, provider:segmentation_id: 101}]",
     {"networks[0].provider:segmentation_id: VNI 101 belongs to network n1 (front); give each vxlan network "
      "its own"}},
    {"TunnelAddressTwice",
     "hosts: [{id: hv9, tunnel_addresses: [192.0.2.1]}]",
     {"hosts[0].tunnel_addresses: 192.0.2.1 is the tunnel address of host hv1; give each host its own, or "
      "delete the "
      "host that is gone"}},
};

const std::string kOverlappingNetwork =
    "networks: [{id: n3, provider:segmentation_id: 103}]\n"
    "subnets: [{id: s3, network_id: n3, ip_version: 4, cidr: 10.0.0.0/16}]\n";

const std::vector<Case> kRouters = {
    {"SubnetsOverlap",
     kOverlappingNetwork +
         Port("network_id: n3, device_owner: \"network:router_interface\", device_id: r1, fixed_ips: "
              "[{subnet_id: s3, ip_address: 10.0.9.1}]"),
     {"ports[0].fixed_ips[0].subnet_id: subnet 10.0.0.0/16 overlaps 10.0.1.0/24, which router r1 (router) is "
      "on by port "
      "i1; subnets of one router must be disjoint",
      "ports[0].fixed_ips[0].subnet_id: subnet 10.0.0.0/16 overlaps 10.0.2.0/24, which router r1 (router) is "
      "on by port "
      "i2; subnets of one router must be disjoint"}},
    {"SameSubnetTwice",
     Port("network_id: n1, device_owner: \"network:router_interface\", device_id: r1, fixed_ips: [{subnet_id: "
          "s1, "
          "ip_address: 10.0.1.2}]"),
     {"ports[0].fixed_ips[0].subnet_id: router r1 (router) is on subnet 10.0.1.0/24 already, by port i1; "
      "remove one of "
      "the two"}},
    {"NexthopOutOfReach",
     "routers: [{id: rn, routes: [{destination: 192.0.2.0/24, nexthop: 10.0.1.9}]}]",
     {"routers[0].routes[0].nexthop: 10.0.1.9 is on no subnet that the router has an interface on; add the "
      "interface, or "
      "remove the route to 192.0.2.0/24"}},
    {"NexthopIsItself",
     "routers: [{id: r1, routes: [{destination: 192.0.2.0/24, nexthop: 10.0.1.1}]}]",
     {"routers[0].routes[0].nexthop: 10.0.1.1 is the router's own address, by port i1; use a neighbour's"}},
    {"NexthopOnTheExternalNetwork",
     "routers: [{id: r1, external_gateway_info: {network_id: ext}, routes: [{destination: 192.0.2.0/24, "
     "nexthop: "
     "203.0.113.200}]}]",
     {}},
};

// What a change does to resources that are stored and not in the request.
const std::vector<Case> kStored = {
    {"SubnetMovesAwayUnderItsPorts",
     "subnets: [{id: s2, network_id: n2, ip_version: 4, cidr: 10.7.0.0/24}]",
     {"subnets[0]: would break the stored port i2: fixed_ips[0].ip_address: 10.0.2.1 is outside of 10.7.0.0/24 "
      "of subnet "
      "s2 (subnets[0]); use one of its addresses, or the subnet that has it",
      "subnets[0]: would break the stored port p2 (vm2): fixed_ips[0].ip_address: 10.0.2.5 is outside of "
      "10.7.0.0/24 of "
      "subnet s2 (subnets[0]); use one of its addresses, or the subnet that has it",
      "subnets[0]: would break the stored router r1 (router): routes[0].nexthop: 10.0.2.5 is on no subnet that "
      "the "
      "router has an interface on; add the interface, or remove the route to 198.51.100.0/24"}},
    {"NetworkIsExternalNoMore",
     "networks: [{id: ext, provider:network_type: flat, router:external: false}]",
     {"networks[0]: would break the stored router r1 (router): external_gateway_info.network_id: network ext "
      "(networks[0]) is not external; use a network with router:external true",
      "networks[0]: would break the stored floating_ip f1: floating_network_id: network ext (networks[0]) is "
      "not "
      "external; use a network with router:external true"}},
    {"PortLosesTheAddressOfAFloatingIp",
     "ports: [{id: p1, network_id: n1, mac_address: \"fa:16:3e:00:00:01\", fixed_ips: [{subnet_id: s1, "
     "ip_address: "
     "10.0.1.6}]}]",
     {"ports[0]: would break the stored floating_ip f1: fixed_ip_address: 10.0.1.5 is no address of port p1 "
      "(ports[0])"}},
    {"InterfaceMovesToAnotherRouter",
     "routers: [{id: r2}]\nports: [{id: i2, network_id: n2, mac_address: \"fa:16:3e:00:00:12\", device_owner: "
     "\"network:router_interface\", device_id: r2, fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.1}]}]",
     {"ports[0]: would break the stored router r1 (router): routes[0].nexthop: 10.0.2.5 is on no subnet that "
      "the router "
      "has an interface on; add the interface, or remove the route to 198.51.100.0/24"}},
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(References, ValidateCaseTest, testing::ValuesIn(kReferences), NameOf);
INSTANTIATE_TEST_SUITE_P(Addresses, ValidateCaseTest, testing::ValuesIn(kAddresses), NameOf);
INSTANTIATE_TEST_SUITE_P(Uniqueness, ValidateCaseTest, testing::ValuesIn(kUniqueness), NameOf);
INSTANTIATE_TEST_SUITE_P(Routers, ValidateCaseTest, testing::ValuesIn(kRouters), NameOf);
INSTANTIATE_TEST_SUITE_P(Stored, ValidateCaseTest, testing::ValuesIn(kStored), NameOf);

TEST(ValidateTest, TheSmallTopologyIsSound) {
  const Judgement judgement = Judge("{}", kSmallTopology);
  EXPECT_THAT(Texts(judgement.faults), IsEmpty());
  EXPECT_THAT(Texts(judgement.warnings), IsEmpty());
}

TEST(ValidateTest, ApplyingTheSameAgainIsSound) { EXPECT_THAT(FaultsOf(kSmallTopology), IsEmpty()); }

TEST(ValidateTest, FindsEveryFaultAtOnceInTheOrderOfTheItems) {
  EXPECT_THAT(
      FaultsOf(R"(
networks:
- {id: n3, provider:segmentation_id: 102}
ports:
- {id: q1, network_id: n1, mac_address: "fa:16:3e:00:00:01", security_groups: [gx],
   fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.5}, {subnet_id: s1, ip_address: 10.9.9.9}]}
subnets:
- {id: sn, network_id: n2, ip_version: 4, cidr: 10.0.2.128/25, gateway_ip: 10.0.2.1}
)"),
      ElementsAre(
          "networks[0].provider:segmentation_id: VNI 102 belongs to network n2 (back); give each vxlan "
          "network its own",
          "ports[0].security_groups[0]: there is no security_group gx; apply it first, or in the same "
          "request",
          "ports[0].fixed_ips[1].ip_address: 10.9.9.9 is outside of 10.0.1.0/24 of subnet s1; use one "
          "of its addresses, or the subnet that has it",
          "ports[0].mac_address: fa:16:3e:00:00:01 is also the MAC of port p1 (vm1) in network n1; give "
          "each port its own",
          "ports[0].fixed_ips[0].ip_address: 10.0.1.5 also belongs to port p1 (vm1) in network n1; give "
          "each its own",
          "subnets[0].gateway_ip: 10.0.2.1 is outside of the subnet 10.0.2.128/25; use one of its "
          "addresses, or none",
          "subnets[0].cidr: overlaps subnet s2 on the same network (10.0.2.0/24 and 10.0.2.128/25); "
          "subnets of a network must be disjoint"));
}

TEST(ValidateTest, AnIdTwiceInOneRequest) {
  std::vector<model::Fault> faults;
  std::vector<RequestItem> items =
      ItemsOf(RequestFrom("networks: [{id: n3, provider:segmentation_id: 103}]"), faults);
  items.push_back(items.front());
  items.back().path = "networks[1]";
  EXPECT_THAT(Texts(Validate({}, items).faults),
              ElementsAre("networks[1]: network n3 is already given at networks[0]; keep one"));
}

TEST(ValidateTest, TwoPortsMayExchangeTheirAddressesInOneRequest) {
  EXPECT_THAT(FaultsOf(R"(
subnets:
- {id: s1, network_id: n1, ip_version: 4, cidr: 10.0.1.0/24, gateway_ip: 10.0.1.1}
ports:
- {id: p1, network_id: n1, mac_address: "fa:16:3e:00:00:11", fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.5}]}
- {id: i1, network_id: n1, mac_address: "fa:16:3e:00:00:01", device_owner: "network:router_interface", device_id: r1,
   fixed_ips: [{subnet_id: s1, ip_address: 10.0.1.1}]}
)"),
              IsEmpty());
}

TEST(ValidateTest, WarnsOnceOfHostsThatWereNotSeen) {
  const Judgement judgement = Judge(kSmallTopology, R"(
ports:
- {id: a, network_id: n1, mac_address: "fa:16:3e:00:01:01", binding:host_id: hv8}
- {id: b, network_id: n1, mac_address: "fa:16:3e:00:01:02", binding:host_id: hv9}
- {id: c, network_id: n1, mac_address: "fa:16:3e:00:01:03", binding:host_id: hv9}
- {id: d, network_id: n1, mac_address: "fa:16:3e:00:01:04", binding:host_id: hv1}
)");
  EXPECT_THAT(Texts(judgement.faults), IsEmpty());
  EXPECT_THAT(
      Texts(judgement.warnings),
      ElementsAre("ports[0].binding:host_id: 2 hosts have not been seen yet (hv8, hv9); the 3 ports of this "
                  "request on them stay BUILD until their agents connect"));
}

// Nothing is said about what refers to a resource that could not be read: its own faults come first.
TEST(ValidateTest, TakesWhatCouldNotBeDecodedToExist) {
  std::vector<model::Fault> faults;
  const std::vector<RequestItem> items = ItemsOf(RequestFrom(R"(
networks: [{id: n3, provider:segmentation_id: 103}]
subnets: [{id: s3, network_id: n3, ip_version: 4, cidr: 10.0.3.0/99}]
ports: [{id: a, network_id: n3, mac_address: "fa:16:3e:00:01:01", fixed_ips: [{subnet_id: s3, ip_address: 10.0.3.1}]}]
)"),
                                                 faults);
  EXPECT_THAT(faults, testing::SizeIs(1));
  EXPECT_THAT(Texts(Validate({}, items).faults), IsEmpty());
}

TEST(ValidateDeletionTest, NamesWhatStillUsesTheResource) {
  EXPECT_THAT(
      FaultsOfDeleting({{model::Kind::kNetwork, "n1"}, {model::Kind::kSecurityGroup, "g1"}}),
      ElementsAre(
          "keys[0]: network n1 is still used by subnet s1, port i1, port p1 (vm1); delete or change those "
          "first, or in the same request",
          "keys[1]: security_group g1 is still used by port p1 (vm1); delete or "
          "change those first, or in the same request"));
}

TEST(ValidateDeletionTest, CountsUsersBeyondTheFirstThree) {
  EXPECT_THAT(
      FaultsOfDeleting({{model::Kind::kNetwork, "ext"}}),
      ElementsAre(
          "keys[0]: network ext is still used by subnet se, port pf, port pg and 2 more; delete or change "
          "those first, or in the same request"));
}

TEST(ValidateDeletionTest, OfEverythingThatHangsTogetherIsSound) {
  EXPECT_THAT(FaultsOfDeleting({{model::Kind::kFloatingIp, "f1"},
                                {model::Kind::kPort, "p1"},
                                {model::Kind::kPort, "i1"},
                                {model::Kind::kSubnet, "s1"},
                                {model::Kind::kNetwork, "n1"},
                                {model::Kind::kSecurityGroup, "g1"}}),
              IsEmpty());
}

TEST(ValidateDeletionTest, OfARoutersOnlyWayToANexthop) {
  EXPECT_THAT(
      FaultsOfDeleting({{model::Kind::kPort, "i2"}}),
      ElementsAre("keys[0]: would break the stored router r1 (router): routes[0].nexthop: 10.0.2.5 is on no "
                  "subnet that the router has an interface on; add the interface, or remove the route to "
                  "198.51.100.0/24"));
}

TEST(ValidateDeletionTest, OfWhatIsNotThere) {
  EXPECT_THAT(FaultsOfDeleting({{model::Kind::kPort, "nobody"}, {model::Kind::kHost, "hv1"}}),
              ElementsAre("keys[0]: there is no port nobody"));
}

class RecordedTopologyTest : public testing::TestWithParam<const char*> {};

TEST_P(RecordedTopologyTest, IsSound) {
  std::vector<model::Fault> faults;
  const std::vector<RequestItem> items = ItemsOf(Recorded(GetParam()), faults);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_THAT(Texts(Validate({}, items).faults), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Validate, RecordedTopologyTest,
                         testing::Values("neutron-two-tenants.json", "neutron-shop-ads.json"));

// 100,000 ports on 100 networks. A quadratic check would take hours; the bound is far above what it takes.
TEST(ValidateTest, ManyPortsAtOnce) {
  model::NetworkState state;
  std::vector<RequestItem> items;
  const auto add = [&](model::Kind kind, const std::string& id, model::AnyResource value) {
    items.push_back(
        {"items[" + std::to_string(items.size()) + "]", model::ResourceKey{kind, id}, std::move(value), false});
  };
  for (uint32_t n = 0; n < 100; ++n) {
    model::Network network;
    network.id = NetworkId("n" + std::to_string(n));
    network.vni = *Vni::From(n + 1);
    add(model::Kind::kNetwork, network.id.str(), std::make_shared<const model::Network>(network));
    model::Subnet subnet;
    subnet.id = SubnetId("s" + std::to_string(n));
    subnet.network = network.id;
    subnet.cidr = IpPrefix(IpAddress::V4(0x0a000000 + (n << 16)), 16);
    add(model::Kind::kSubnet, subnet.id.str(), std::make_shared<const model::Subnet>(subnet));
    for (uint32_t p = 0; p < 1000; ++p) {
      model::Port port;
      port.id = PortId(network.id.str() + "-" + std::to_string(p));
      port.network = network.id;
      port.mac = MacAddress({0xfa, 0x16, 0x3e, 0, static_cast<uint8_t>(p >> 8), static_cast<uint8_t>(p)});
      port.fixed_ips = {{subnet.id, IpAddress::V4(0x0a000000 + (n << 16) + p + 2)}};
      add(model::Kind::kPort, port.id.str(), std::make_shared<const model::Port>(port));
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Validate({}, items).faults, IsEmpty());
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  RecordProperty("seconds", std::to_string(all.count()));
  EXPECT_LT(all.count(), 30);
}

}  // namespace
}  // namespace kasane::controller
