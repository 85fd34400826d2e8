#include "ctl/trace/probe.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/status.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/packet/packet_text.h"

namespace kasane::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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
absl::StatusOr<v1::ResolveResponse> Resolve(const v1::ResolveRequest& request) {
  static const std::map<std::pair<std::string, std::string>, std::string> kMacs = {
      {{"aaaa1111", "10.0.0.7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "2001:db8::7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "fe80::7"}, "fa:16:3e:00:00:07"},
      {{"aaaa1111", "10.0.0.1"}, "fa:16:3e:aa:00:04"},
      {{"aaaa2222", "10.0.0.7"}, "fa:16:3e:00:00:17"}};
  const auto found = kMacs.find({request.port(), request.ip_address()});
  if (found == kMacs.end()) return Error(absl::StatusCode::kNotFound, "nothing");
  v1::ResolveResponse reply;
  reply.set_mac_address(found->second);
  reply.set_kind("port");
  reply.set_name("peer");
  return reply;
}

absl::StatusOr<Probe> Plan(const std::string& port, const std::string& packet) {
  return PlanProbe(port, packet, Parse<v1::ListPortsResponse>(kPorts), Parse<v1::ListRoutersResponse>(kRouters),
                   Resolve);
}

// The frame that is planned, as text, or what is wrong.
std::string Planned(const std::string& port, const std::string& packet) {
  const auto probe = Plan(port, packet);
  return probe.ok() ? packet::PacketText(probe->frame) : Message(probe.status());
}

// Nothing if the planned frame fits `match`.
std::string Mismatch(const std::string& port, const std::string& packet, const std::string& match) {
  const auto probe = Plan(port, packet);
  if (!probe.ok()) return Message(probe.status());
  return packet::FieldMatch::Parse(match)->Mismatch(probe->frame).value_or("");
}

TEST(FindLocalPortTest, ByIdNameAndPrefix) {
  const auto ports = Parse<v1::ListPortsResponse>(kPorts);
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
      {"10.0.0.7", "icmp(src=10.0.0.5, dst=10.0.0.7, eth_dst=fa:16:3e:00:00:07)"},
      {"192.0.2.1", "icmp(src=10.0.0.5, dst=192.0.2.1, eth_dst=fa:16:3e:aa:00:04)"},
      {"10.0.0.1", "icmp(src=10.0.0.5, dst=10.0.0.1, eth_dst=fa:16:3e:aa:00:04)"},
      {"2001:db8::7", "icmp6(src=2001:db8::5, dst=2001:db8::7, eth_dst=fa:16:3e:00:00:07)"},
      {"2001:db8:9::7", "icmp6(src=2001:db8::5, dst=2001:db8:9::7, eth_dst=fa:16:3e:aa:00:06)"},
      {"fe80::7", "icmp6(src=fe80::f816:3eff:fe00:1, eth_dst=fa:16:3e:00:00:07)"},
      {"224.0.0.251", "icmp(src=10.0.0.5, eth_dst=01:00:5e:00:00:fb)"},
      {"ff02::1", "icmp6(src=fe80::f816:3eff:fe00:1, eth_dst=33:33:00:00:00:01)"},
      {"255.255.255.255", "icmp(src=10.0.0.5, eth_dst=ff:ff:ff:ff:ff:ff)"},
  };
  for (const auto& [destination, match] : cases) {
    EXPECT_EQ(Mismatch("web", destination, match), "") << destination;
    EXPECT_EQ(Mismatch("web", destination, "eth(eth_src=fa:16:3e:00:00:01)"), "") << destination;
  }
}

TEST(PlanProbeTest, WithoutARouterOnlyTheLinkIsReached) {
  EXPECT_EQ(Mismatch("aaaa2222", "10.0.0.7", "icmp(eth_src=fa:16:3e:00:00:02, eth_dst=fa:16:3e:00:00:17)"), "");
  EXPECT_THAT(Planned("aaaa2222", "192.0.2.1"),
              HasSubstr("nothing that is up on the port's network isolated has 192.0.2.1"));
}

TEST(PlanProbeTest, TheTextSaysWhereTheMacComesFrom) {
  EXPECT_EQ(Plan("web", "10.0.0.7")->text,
            "port peer has 10.0.0.7 on the port's network, at fa:16:3e:00:00:07");
  EXPECT_THAT(Plan("web", "192.0.2.1")->text, HasSubstr("by way of router router, at fa:16:3e:aa:00:04"));
}

TEST(PlanProbeTest, ArpAndNd) {
  EXPECT_EQ(Planned("web", "arp(tpa=10.0.0.99)"),
            "arp(op=request, eth_src=fa:16:3e:00:00:01, eth_dst=ff:ff:ff:ff:ff:ff, sha=fa:16:3e:00:00:01, "
            "spa=10.0.0.5, tha=00:00:00:00:00:00, tpa=10.0.0.99)");
  EXPECT_EQ(Mismatch("web", "arp(op=reply, tpa=10.0.0.7)",
                     "arp(eth_dst=fa:16:3e:00:00:07, tha=fa:16:3e:00:00:07, spa=10.0.0.5)"),
            "");
  EXPECT_EQ(
      Mismatch("web", "ns(target=2001:db8::99)",
               "ns(src=2001:db8::5, dst=ff02::1:ff00:99, eth_dst=33:33:ff:00:00:99, sll=fa:16:3e:00:00:01)"),
      "");
  EXPECT_THAT(Planned("web", "ns(src=::, target=2001:db8::99)"), Not(HasSubstr("sll")));
  EXPECT_EQ(Mismatch("web", "na(target=2001:db8::5)",
                     "na(src=2001:db8::5, dst=ff02::1, flags=O, tll=fa:16:3e:00:00:01)"),
            "");
  EXPECT_EQ(Mismatch("web", "rs()", "rs(src=fe80::f816:3eff:fe00:1, dst=ff02::2)"), "");
}

TEST(PlanProbeTest, WhatIsGivenIsTaken) {
  const std::string given =
      "tcp(eth_dst=fa:16:3e:00:00:44, eth_src=fa:16:3e:00:00:55, src=10.0.0.200, "
      "dst=10.0.0.99, dport=443, ttl=1)";
  EXPECT_EQ(Mismatch("web", given, given), "");
  EXPECT_EQ(Mismatch("web", "icmp(dst=10.0.0.7, size=3)", "icmp(size=3)"), "");
  EXPECT_EQ(Mismatch("web", "icmp(src=203.0.113.9, dst=192.0.2.1)", "icmp(eth_dst=fa:16:3e:aa:00:04)"), "")
      << "a foreign source does not change the VM's routes";
  EXPECT_EQ(Mismatch("web", "icmp(dst=10.0.0.7)", "icmp(size=56)"), "");
  EXPECT_EQ(Mismatch("web", "vlan(id=7, icmp(dst=10.0.0.7))",
                     "vlan(id=7, icmp(src=10.0.0.5, eth_dst=fa:16:3e:00:00:07))"),
            "");
  EXPECT_EQ(Plan("web", "hex:ffffffffffff fa163e000001 88b5")->frame.size(), 14U);
  EXPECT_EQ(Plan("web", "hex:ffffffffffff fa163e000001 88b5")->port_id, "aaaa1111");
}

TEST(PlanProbeTest, Faults) {
  EXPECT_EQ(Planned("web", "icmp()"), "packet: column 1: icmp: dst is missing");
  EXPECT_THAT(Planned("web", "icmp(dst=10.0.0)"), StartsWith("packet: column 10: dst: "));
  EXPECT_THAT(Planned("web", "10.0.0"), StartsWith("packet: \"10.0.0\" is neither an address nor a packet"));
  EXPECT_EQ(Planned("web", "eth(type=0x88b5)"), "packet: column 1: eth: eth_dst is missing");
  EXPECT_THAT(Planned("aaaa2222", "2001:db8::7"),
              HasSubstr("has no IPv6 address to send from; src= gives one"));
}

TEST(PlanProbeTest, AnAgentsFailureIsPassedOn) {
  const auto probe = PlanProbe("web", "10.0.0.7", Parse<v1::ListPortsResponse>(kPorts), {},
                               [](const v1::ResolveRequest&) -> absl::StatusOr<v1::ResolveResponse> {
                                 return Error(absl::StatusCode::kUnavailable, "gone");
                               });
  EXPECT_EQ(Message(probe.status()), "gone");
}

}  // namespace
}  // namespace kasane::ctl
