#include "model/files/resource_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ResourceFile Parse(const std::string& text) {
  auto file = ParseResourceFile("t.yaml", text);
  EXPECT_TRUE(file.ok()) << Message(file.status());
  return file.ok() ? *std::move(file) : ResourceFile();
}

std::vector<std::string> FaultsOf(const std::string& text) {
  std::vector<std::string> out;
  for (const model::Fault& fault : Parse(text).faults) out.push_back(ToString(fault));
  return out;
}

TEST(ResourceFileTest, AResourceOfEachKind) {
  const auto file = Parse(R"(
hosts:
- id: hv1
  tunnel_addresses: [192.0.2.1]
networks:
- id: n1
  provider:segmentation_id: 505
  router:external: true
  admin_state_up: false
subnets:
- {id: s1, network_id: n1, ip_version: 4, cidr: 10.0.0.0/24, gateway_ip: null}
ports:
- id: p1
  binding:host_id: hv1
  fixed_ips: [{subnet_id: s1, ip_address: 10.0.0.5}]
  security_groups: [g1]
routers:
- id: r1
  external_gateway_info: {network_id: n1}
  routes: [{destination: 192.0.2.0/24, nexthop: 10.0.0.9}]
floatingips:
- {id: f1, floating_ip_address: 198.51.100.4}
security-groups:
- id: g1
  security_group_rules: [{direction: ingress, protocol: 6, port_range_min: 80, port_range_max: 80}]
)");
  EXPECT_THAT(file.faults, IsEmpty());
  ASSERT_EQ(file.items.size(), 7U);
  EXPECT_TRUE(file.items[0].resource().host().pinned());
  EXPECT_THAT(file.items[0].resource().host().tunnel_addresses(), ElementsAre("192.0.2.1"));
  const v1::Network& network = file.items[1].resource().network();
  EXPECT_EQ(network.provider_segmentation_id(), 505U);
  EXPECT_TRUE(network.router_external());
  EXPECT_FALSE(network.admin_state_up());
  EXPECT_FALSE(network.has_port_security_enabled());  // The controller fills defaults in.
  EXPECT_EQ(file.items[2].resource().subnet().gateway_ip(), "");
  EXPECT_FALSE(file.items[2].resource().subnet().has_enable_dhcp());
  EXPECT_EQ(file.items[3].path(), "ports[0]");
  EXPECT_EQ(file.items[3].resource().port().binding_host_id(), "hv1");
  EXPECT_EQ(file.items[3].resource().port().fixed_ips(0).ip_address(), "10.0.0.5");
  EXPECT_FALSE(file.items[4].resource().router().external_gateway_info().has_enable_snat());
  EXPECT_EQ(file.items[5].resource().floating_ip().floating_ip_address(), "198.51.100.4");
  const v1::SecurityGroup& group = file.items[6].resource().security_group();
  EXPECT_EQ(file.items[6].path(), "security-groups[0]");
  EXPECT_FALSE(group.has_stateful());
  EXPECT_EQ(group.security_group_rules(0).protocol(), "6");
  EXPECT_EQ(group.security_group_rules(0).port_range_min(), 80U);
}

TEST(ResourceFileTest, AbsentNullAndEmptyMeanTheSame) {
  const auto file = Parse(R"({"ports": null, "routers": [
      {"id": "r1", "external_gateway_info": null, "routes": null, "admin_state_up": null},
      {"id": "r2", "external_gateway_info": {}}, {"id": "r3"}]})");
  EXPECT_THAT(file.faults, IsEmpty());
  ASSERT_EQ(file.items.size(), 3U);
  for (const auto& item : file.items) {
    EXPECT_FALSE(item.resource().router().has_external_gateway_info());
    EXPECT_FALSE(item.resource().router().has_admin_state_up());
  }
}

TEST(ResourceFileTest, AbsentIsNotZeroWhereItMatters) {
  const auto file = Parse(R"(security_groups: [{id: g, security_group_rules: [
      {protocol: icmp, port_range_min: 0, port_range_max: null}]}])");
  const auto& rule = file.items.at(0).resource().security_group().security_group_rules(0);
  EXPECT_TRUE(rule.has_port_range_min());
  EXPECT_FALSE(rule.has_port_range_max());
}

TEST(ResourceFileTest, AHostIsPinnedByItsAddresses) {
  const auto file = Parse("hosts: [{id: hv1, tunnel_addresses: [192.0.2.1]}, {id: hv2, pinned: true}]");
  EXPECT_TRUE(file.items.at(0).resource().host().pinned());
  EXPECT_FALSE(file.items.at(1).resource().host().pinned());
}

TEST(ResourceFileTest, TenantIdIsTheOldNameOfProjectId) {
  const auto file = Parse("routers: [{id: r1, tenant_id: old}, {tenant_id: old, project_id: new, id: r2}]");
  EXPECT_EQ(file.items.at(0).resource().router().project_id(), "old");
  EXPECT_EQ(file.items.at(1).resource().router().project_id(), "new");
}

TEST(ResourceFileTest, WhatNeutronKnowsAndWeDoNotIsCounted) {
  const auto file = Parse(R"(
quotas: []
agents: [{id: a}, {id: b}]
ports:
- {id: p1, binding:profile: {a: b}, status: DOWN, binding:vif_type: unbound, tags: []}
- {id: p2, binding:profile: {a: b}, qos_policy_id: q1, trunk_details: null}
- {id: p3, binding:profile: {}, mac_learning_enabled: false}
routers: [{id: r1, external_gateways: [{network_id: a}]}, {id: r2, external_gateways: [{network_id: a}, {network_id: b}]}]
trunks: [{id: t1, name: trunk}]
security-groups:
- {id: g, security_group_rules: [{created_at: now}, {created_at: then}]}
)");
  EXPECT_THAT(file.faults, IsEmpty());
  std::vector<std::string> unused;
  for (const UnusedField& field : file.unused) unused.push_back(fmt::format("{} {}", field.path, field.count));
  EXPECT_THAT(unused, ElementsAre("agents 2", "ports[*].binding:profile 2",
                                  "security-groups[*].security_group_rules[*].created_at 2"));
  EXPECT_TRUE(file.unused[0].metadata);
  EXPECT_FALSE(file.unused[1].metadata);
  std::vector<std::string> asked;
  for (const FieldNotEnforced& field : file.not_enforced)
    asked.push_back(file.items[field.item].path() + " " + field.feature);
  EXPECT_THAT(asked, ElementsAre("ports[1] qos", "routers[1] second_gateway"));
  ASSERT_EQ(file.others.size(), 1U);
  EXPECT_EQ(file.others[0].feature, "trunk");
}

TEST(ResourceFileFaultTest, One) {
  const std::pair<const char*, const char*> cases[] = {
      {"[1, 2]", "file: expected a mapping of sections such as ports, found a list (line 1)"},
      {"prots: []", "prots: is no known section; did you mean ports? (line 1)"},
      {"vpn-things: []",
       "vpn-things: is no known section; they are those of Neutron's API, and hosts (line 1)"},
      {"ports: {}", "ports: expected a list, found a mapping (line 1)"},
      {"ports: []\nports: []", "ports: is there twice; join the sections (line 2)"},
      {"ports:\n- p1\n", "ports[0]: expected a mapping, found a string (line 2)"},
      {"ports:\n- id: p\n  mac_adress: x\n",
       "ports[0].mac_adress: is no known field; did you mean mac_address? (line 3)"},
      {"ports:\n- id: p\n  colour: x\n", "ports[0].colour: is no known field (line 3)"},
      {"ports:\n- id: p\n  \"a\\nb\": x\n", "ports[0].'a\\x0ab': is no known field (line 3)"},
      {"ports: [{id: p, name: a, name: b}]", "ports[0].name: is there twice; remove one (line 1)"},
      {"ports: [{id: p, name: [a]}]", "ports[0].name: expected a string, found a list (line 1)"},
      {"ports: [{id: p, name: true}]",
       "ports[0].name: expected a string, found a boolean; put true in quotes (line 1)"},
      {"ports: [{id: p, name: \"\xff\"}]", "ports[0].name: '\\xff' is not valid UTF-8 (line 1)"},
      {"ports: [{id: p, admin_state_up: yes}]",
       "ports[0].admin_state_up: expected true or false, found a string (line 1)"},
      {"ports: [{id: p, fixed_ips: 10.0.0.1}]", "ports[0].fixed_ips: expected a list, found a string (line 1)"},
      {"ports: [{id: p, fixed_ips: [10.0.0.1]}]",
       "ports[0].fixed_ips[0]: expected a mapping, found a string (line 1)"},
      {"ports: [{id: p, fixed_ips: [{ip: x}]}]", "ports[0].fixed_ips[0].ip: is no known field (line 1)"},
      {"ports: [{id: p, security_groups: [g, [h]]}]",
       "ports[0].security_groups[1]: expected a string, found a list (line 1)"},
      {"routers: [{id: r, external_gateway_info: n1}]",
       "routers[0].external_gateway_info: expected a mapping, found a string (line 1)"},
      {"networks: [{id: n, mtu: \"1500\"}]", "networks[0].mtu: expected a number, found a string (line 1)"},
      {"networks: [{id: n, mtu: 1.5}]", "networks[0].mtu: expected a number, found a string (line 1)"},
      {"networks: [{id: n, mtu: -1}]", "networks[0].mtu: '-1' is out of range (line 1)"},
      {"networks: [{id: n, mtu: 4294967296}]", "networks[0].mtu: '4294967296' is out of range (line 1)"},
      {"ports: [{id: p}, {id: q}, {id: p}]",
       "ports[2].id: 'p' is also the id of ports[0]; remove one of them (line 1)"},
      {"security-groups: [{id: g}]\nsecurity_groups: [{id: g}]",
       "security_groups[0].id: 'g' is also the id of security-groups[0]; remove one of them (line 2)"},
  };
  for (const auto& [text, fault] : cases) EXPECT_THAT(FaultsOf(text), ElementsAre(fault)) << text;
}

TEST(ResourceFileFaultTest, TheSameIdInTwoSectionsIsNoFault) {
  EXPECT_THAT(FaultsOf("ports: [{id: x}]\nnetworks: [{id: x}]"), IsEmpty());
}

TEST(ResourceFileFaultTest, AllAtOnceAndTheRestIsRead) {
  const auto file = Parse(R"(
netwroks: []
ports:
- id: p1
  nam: web
  network_id: [n1]
  mac_address: fa:16:3e:00:00:01
- id: p2
  fixed_ips: [{subnet_id: s1}, 7, {subnet_id: s2, ip_address: 10.0.0.7}]
)");
  std::vector<std::string> paths;
  for (const model::Fault& fault : file.faults) paths.push_back(fault.path);
  EXPECT_THAT(paths, ElementsAre("netwroks", "ports[0].nam", "ports[0].network_id", "ports[1].fixed_ips[1]"));
  ASSERT_EQ(file.items.size(), 2U);
  EXPECT_EQ(file.items[0].resource().port().mac_address(), "fa:16:3e:00:00:01");
  ASSERT_EQ(file.items[1].resource().port().fixed_ips_size(), 3);
  EXPECT_EQ(file.items[1].resource().port().fixed_ips(2).ip_address(), "10.0.0.7");
}

TEST(ResourceFileFaultTest, FaultsAreBounded) {
  std::string text = "ports: [";
  for (int i = 0; i < 3000; ++i) text += "7, ";
  const auto faults = Parse(text + "]").faults;
  ASSERT_EQ(faults.size(), 1001U);
  EXPECT_EQ(ToString(faults.back()), "file: has more faults; the first 1000 are shown");
}

TEST(ResourceFileFaultTest, NoYamlAtAll) {
  const auto file = ParseResourceFile("t.yaml", "ports: [\n");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(Message(file.status()), HasSubstr("t.yaml: line 2"));
}

TEST(ReadResourceFileTest, WhatCannotBeRead) {
  EXPECT_THAT(Message(ReadResourceFile("/nonexistent/x.yaml").status()),
              HasSubstr("/nonexistent/x.yaml: cannot be read: No such file"));
  EXPECT_THAT(Message(ReadResourceFile("/").status()), HasSubstr("/: is a directory"));
}

TEST(ReadResourceFileTest, RecordedTopologiesLoadAsTheyAre) {
  struct Case {
    const char* name;
    std::map<model::Kind, int> counts;
  };
  const Case cases[] = {
      {"tests/data/neutron-two-tenants.json",
       {{model::Kind::kNetwork, 5},
        {model::Kind::kSubnet, 7},
        {model::Kind::kPort, 18},
        {model::Kind::kRouter, 2},
        {model::Kind::kFloatingIp, 2},
        {model::Kind::kSecurityGroup, 5}}},
      {"tests/data/neutron-shop-ads.json",
       {{model::Kind::kNetwork, 7},
        {model::Kind::kSubnet, 12},
        {model::Kind::kPort, 34},
        {model::Kind::kRouter, 2},
        {model::Kind::kFloatingIp, 2},
        {model::Kind::kSecurityGroup, 7}}},
  };
  for (const Case& c : cases) {
    const auto file = ReadResourceFile(c.name);
    ASSERT_TRUE(file.ok()) << Message(file.status());
    std::map<model::Kind, int> counts;
    std::vector<model::Fault> faults = file->faults;
    for (const v1::ApplyItem& item : file->items) {
      ++counts[model::DecodeKey(item.resource()).value().kind];
      Decode(item.resource(), item.path(), faults);
    }
    EXPECT_EQ(counts, c.counts) << c.name;
    for (const model::Fault& fault : faults) ADD_FAILURE() << c.name << ": " << ToString(fault);
  }
}

TEST(ResourceFileTest, LinesOfPaths) {
  const auto file =
      Parse("ports:\n- id: p1\n  fixed_ips:\n  - {subnet_id: s1,\n     ip_address: x}\n- id: p2\n");
  EXPECT_EQ(LineOf(file, "ports[0]"), 2);
  EXPECT_EQ(LineOf(file, "ports[0].fixed_ips[0].ip_address"), 5);
  EXPECT_EQ(LineOf(file, "ports[0].mac_address"), 2);
  EXPECT_EQ(LineOf(file, "ports[1].id"), 6);
  EXPECT_EQ(LineOf(file, "nowhere"), 0);
}

}  // namespace
}  // namespace kasane::files
