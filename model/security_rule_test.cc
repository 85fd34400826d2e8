#include "model/security_rule.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "kasane/v1/resources.pb.h"
#include "model/field.h"

namespace kasane::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

v1::SecurityGroupRule Parse(const std::string& text) {
  v1::SecurityGroupRule rule;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &rule)) << text;
  return rule;
}

SecurityGroupRule DecodeText(const std::string& text, std::vector<std::string>& out) {
  std::vector<Fault> faults;
  const auto rule = DecodeSecurityGroupRule(Parse(text), Field("r", faults));
  for (const Fault& fault : faults) out.push_back(ToString(fault));
  return rule;
}

TEST(SecurityRuleTest, Whole) {
  std::vector<std::string> faults;
  const auto rule = DecodeText(R"(id: "u" direction: "ingress" ethertype: "IPv4" protocol: "tcp"
      port_range_min: 80 port_range_max: 443 remote_ip_prefix: "10.0.0.7/24")",
                               faults);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_TRUE(rule.ingress);
  EXPECT_EQ(rule.ethertype, IpFamily::kV4);
  EXPECT_EQ(rule.protocol, 6);
  EXPECT_EQ(rule.port_range_min, 80);
  EXPECT_EQ(rule.port_range_max, 443);
  EXPECT_EQ(rule.remote_ip_prefix.value().ToString(), "10.0.0.0/24");
  EXPECT_TRUE(rule.remote_group.empty());
}

TEST(SecurityRuleTest, Protocols) {
  struct Case {
    const char* ethertype;
    const char* text;
    std::optional<uint8_t> number;
  };
  const Case cases[] = {{"IPv4", "", std::nullopt}, {"IPv4", "any", std::nullopt},
                        {"IPv4", "TCP", 6},         {"IPv4", "udp", 17},
                        {"IPv4", "sctp", 132},      {"IPv4", "icmp", 1},
                        {"IPv6", "icmp", 58},       {"IPv6", "icmpv6", 58},
                        {"IPv6", "ipv6-icmp", 58},  {"IPv6", "1", 58},
                        {"IPv4", "0", 0},           {"IPv4", "255", 255},
                        {"ipv6", "vrrp", 112}};
  for (const Case& c : cases) {
    std::vector<std::string> faults;
    const auto rule = DecodeText(
        fmt::format(R"(direction: "egress" ethertype: "{}" protocol: "{}")", c.ethertype, c.text), faults);
    EXPECT_THAT(faults, IsEmpty()) << c.text;
    EXPECT_EQ(rule.protocol, c.number) << c.text;
  }
}

TEST(SecurityRuleTest, IcmpTypeAlone) {
  std::vector<std::string> faults;
  const auto rule =
      DecodeText(R"(direction: "ingress" ethertype: "IPv4" protocol: "icmp" port_range_min: 0)", faults);
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(rule.port_range_min, 0);
  EXPECT_EQ(rule.port_range_max, std::nullopt);
}

TEST(SecurityRuleTest, Faults) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(ethertype: "IPv4")", "r.direction: is missing; give ingress or egress"},
      {R"(direction: "in")", "r.direction: 'in' is unknown; give ingress or egress"},
      {R"(direction: "egress" ethertype: "ARP")", "r.ethertype: 'ARP' is not IPv4 or IPv6"},
      {R"(direction: "egress" protocol: "tpc")", "r.protocol: 'tpc' is not a protocol"},
      {R"(direction: "egress" protocol: "256")", "r.protocol: '256' is not a protocol"},
      {R"(direction: "egress" protocol: "-1")", "r.protocol: '-1' is not a protocol"},
      {R"(direction: "egress" protocol: "tpc" port_range_min: 1)", "r.protocol: 'tpc' is not a protocol"},
      {R"(direction: "egress" protocol: "ipv6-icmp")", "r.protocol: 'ipv6-icmp' is for IPv6"},
      {R"(direction: "egress" port_range_min: 1 port_range_max: 2)",
       "r.port_range_min: is given without a protocol"},
      {R"(direction: "egress" protocol: "gre" port_range_min: 1)",
       "r.port_range_min: is given, but protocol 'gre'"},
      {R"(direction: "egress" protocol: "tcp" port_range_min: 1)", "r.port_range_max: is missing"},
      {R"(direction: "egress" protocol: "tcp" port_range_max: 1)", "r.port_range_min: is missing"},
      {R"(direction: "egress" protocol: "udp" port_range_min: 0 port_range_max: 1)",
       "r.port_range_min: 0 is not a port"},
      {R"(direction: "egress" protocol: "udp" port_range_min: 1 port_range_max: 65536)",
       "r.port_range_max: 65536 is not a port"},
      {R"(direction: "egress" protocol: "udp" port_range_min: 9 port_range_max: 8)",
       "r.port_range_max: 8 is below port_range_min 9"},
      {R"(direction: "egress" protocol: "icmp" port_range_min: 256)",
       "r.port_range_min: 256 is not an ICMP type"},
      {R"(direction: "egress" protocol: "icmp" port_range_max: 3)",
       "r.port_range_min: is missing; an ICMP code"},
      {R"(direction: "egress" remote_ip_prefix: "10.0.0.0/99")",
       "r.remote_ip_prefix: '10.0.0.0/99' is not a CIDR"},
      {R"(direction: "egress" remote_ip_prefix: "::/0")",
       "r.remote_ip_prefix: ::/0 contradicts the ethertype IPv4"},
      {R"(direction: "egress" remote_ip_prefix: "10.0.0.0/8" remote_group_id: "g")",
       "r.remote_ip_prefix: is given beside remote_group_id"},
      {R"(direction: "egress" remote_group_id: "\n")", "r.remote_group_id: '\\x0a' has control characters"},
      {R"(direction: "egress" id: "\n")", "r.id: '\\x0a' has control characters"},
  };
  for (const auto& [text, fault] : cases) {
    std::vector<std::string> faults;
    DecodeText(text, faults);
    EXPECT_THAT(faults, ElementsAre(StartsWith(fault))) << text;
  }
}

}  // namespace
}  // namespace kasane::model
