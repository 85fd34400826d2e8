#include "agent/ctl/probe.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>

#include "agent/ctl/packet_builder.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/base/status.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPorts[] = R"(
  ports { id: "aaaa1111" name: "web" network_id: "n1" network_name: "front" mac_address: "fa:16:3e:00:00:01"
          ip_addresses: "10.0.0.5" ip_addresses: "2001:db8::5" }
  ports { id: "aaaa2222" name: "db" network_id: "n2" network_name: "isolated" mac_address: "fa:16:3e:00:00:02"
          ip_addresses: "10.0.0.5" }
  ports { id: "bbbb3333" name: "db" network_id: "n1" mac_address: "fa:16:3e:00:00:03" })";
constexpr char kRouters[] = R"(
  routers { id: "r1" name: "router" ports { network_id: "n9" mac_address: "fa:16:3e:99:99:99" addresses: "10.0.0.1/24" }
            ports { network_id: "n1" mac_address: "fa:16:3e:aa:00:04" addresses: "10.0.0.1/24" addresses: "fe80::4/64" }
            ports { network_id: "n1" mac_address: "fa:16:3e:aa:00:06" addresses: "2001:db8::1/64" addresses: "fe80::6/64" } })";

template <typename Reply>
Reply Parse(const char* text) {
  Reply reply;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &reply));
  return reply;
}

// The neighbours on n1 and on n2.
absl::StatusOr<v1::ResolveReply> Resolve(const v1::ResolveRequest& request) {
  static const std::map<std::pair<std::string, std::string>, std::string> kMacs = {
      {{"aaaa1111", "10.0.0.7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "2001:db8::7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "fe80::7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "10.0.0.1"}, "fa:16:3e:aa:00:04"},
      {{"aaaa2222", "10.0.0.7"}, "fa:16:3e:00:00:17"}};
  const auto found = kMacs.find({request.port(), request.ip_address()});
  if (found == kMacs.end()) return Error(absl::StatusCode::kNotFound, "nothing");
  v1::ResolveReply reply;
  reply.set_mac_address(found->second);
  reply.set_kind("port");
  reply.set_name("peer");
  return reply;
}

absl::StatusOr<Probe> Plan(const ProbeOptions& options) {
  return PlanProbe(options, Parse<v1::ListPortsReply>(kPorts), Parse<v1::ListRoutersReply>(kRouters), Resolve);
}

std::string Described(const ProbeOptions& options) {
  const auto probe = Plan(options);
  return probe.ok() ? DescribeFrame(probe->frame) : Message(probe.status());
}

ProbeOptions To(const std::string& port, const std::string& destination) {
  ProbeOptions options;
  options.port = port;
  options.destination_ip = destination;
  return options;
}

TEST(FindLocalPortTest, ByIdNameAndPrefix) {
  const auto ports = Parse<v1::ListPortsReply>(kPorts);
  const auto find = [&](const char* text) {
    const auto port = FindLocalPort(ports, text);
    return port.ok() ? port->id() : Message(port.status());
  };
  EXPECT_EQ(find("aaaa1111"), "aaaa1111");
  EXPECT_EQ(find("web"), "aaaa1111");
  EXPECT_EQ(find("bbbb"), "bbbb3333");
  EXPECT_EQ(find("aaaa"), "'aaaa' names 2 local ports: web (aaaa1111), db (aaaa2222); give an id");
  EXPECT_EQ(find("db"), "'db' names 2 local ports: db (aaaa2222), db (bbbb3333); give an id");
  EXPECT_THAT(find("bbb"), HasSubstr("this host has no port 'bbb'"));
}

TEST(PlanProbeTest, TheDestinationMacIsWhatTheVmWouldUse) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.0.7", "fa:16:3e:00:00:01 > fa:16:3e:00:00:07, 10.0.0.5 > 10.0.0.7 icmp echo request"},
      {"192.0.2.1", "fa:16:3e:00:00:01 > fa:16:3e:aa:00:04, 10.0.0.5 > 192.0.2.1 icmp echo request"},
      {"10.0.0.1", "fa:16:3e:00:00:01 > fa:16:3e:aa:00:04, 10.0.0.5 > 10.0.0.1 icmp echo request"},
      {"2001:db8::7", "fa:16:3e:00:00:01 > fa:16:3e:00:00:07, 2001:db8::5 > 2001:db8::7 icmpv6 echo request"},
      {"2001:db8:9::7",
       "fa:16:3e:00:00:01 > fa:16:3e:aa:00:06, 2001:db8::5 > 2001:db8:9::7 icmpv6 echo request"},
      {"fe80::7", "fa:16:3e:00:00:01 > fa:16:3e:00:00:07, "},
      {"224.0.0.251", "fa:16:3e:00:00:01 > 01:00:5e:00:00:fb, "},
      {"ff02::1", "fa:16:3e:00:00:01 > 33:33:00:00:00:01, "},
      {"255.255.255.255", "fa:16:3e:00:00:01 > ff:ff:ff:ff:ff:ff, "},
  };
  for (const auto& [destination, text] : cases)
    EXPECT_THAT(Described(To("web", destination)), StartsWith(text));
}

TEST(PlanProbeTest, WithoutARouterOnlyTheLinkIsReached) {
  EXPECT_THAT(Described(To("aaaa2222", "10.0.0.7")), StartsWith("fa:16:3e:00:00:02 > fa:16:3e:00:00:17, "));
  EXPECT_THAT(Described(To("aaaa2222", "192.0.2.1")),
              HasSubstr("nothing on the port's network isolated has 192.0.2.1"));
}

TEST(PlanProbeTest, TheTextSaysWhereTheMacComesFrom) {
  EXPECT_EQ(Plan(To("web", "10.0.0.7"))->text,
            "port peer has 10.0.0.7 on the port's network, at fa:16:3e:00:00:07");
  EXPECT_THAT(Plan(To("web", "192.0.2.1"))->text, HasSubstr("by way of router router, at fa:16:3e:aa:00:04"));
}

TEST(PlanProbeTest, ArpAndNd) {
  ProbeOptions options = To("web", "10.0.0.99");
  options.protocol = "arp";
  EXPECT_THAT(Described(options), HasSubstr("> ff:ff:ff:ff:ff:ff, arp who has 10.0.0.99 tell 10.0.0.5"));
  options = To("web", "2001:db8::99");
  options.protocol = "nd";
  EXPECT_THAT(Described(options),
              HasSubstr("> 33:33:ff:00:00:99, 2001:db8::5 > ff02::1:ff00:99 neighbour solicitation"));
}

TEST(PlanProbeTest, WhatIsGivenIsTaken) {
  ProbeOptions options = To("web", "10.0.0.99");
  options.destination_mac = "fa:16:3e:00:00:44";
  options.source_mac = "fa:16:3e:00:00:55";
  options.source_ip = "10.0.0.200";
  options.protocol = "tcp";
  options.destination_port = 443;
  options.ttl = 1;
  EXPECT_THAT(
      Described(options),
      StartsWith("fa:16:3e:00:00:55 > fa:16:3e:00:00:44, 10.0.0.200 > 10.0.0.99 tcp 40000 > 443, ttl 1"));
  options.frame = "ffffffffffff fa163e000001 88b5";
  EXPECT_EQ(Plan(options)->frame.size(), 14U);
  EXPECT_EQ(Plan(options)->port_id, "aaaa1111");
}

TEST(PlanProbeTest, Faults) {
  EXPECT_THAT(Described(To("web", "")), HasSubstr("--dst-ip is missing"));
  EXPECT_THAT(Described(To("web", "10.0.0")), HasSubstr("--dst-ip: '10.0.0' is not"));
  EXPECT_THAT(Described(To("aaaa2222", "2001:db8::7")),
              HasSubstr("has no IPv6 address to send from; give one with --src-ip"));
  ProbeOptions options = To("web", "10.0.0.7");
  options.destination_mac = "x";
  EXPECT_THAT(Described(options), HasSubstr("--dst-mac: 'x' is not a MAC"));
}

TEST(PlanProbeTest, AnAgentsFailureIsPassedOn) {
  const auto probe = PlanProbe(To("web", "10.0.0.7"), Parse<v1::ListPortsReply>(kPorts), {},
                               [](const v1::ResolveRequest&) -> absl::StatusOr<v1::ResolveReply> {
                                 return Error(absl::StatusCode::kUnavailable, "gone");
                               });
  EXPECT_EQ(Message(probe.status()), "gone");
}

}  // namespace
}  // namespace kasane::ctl
