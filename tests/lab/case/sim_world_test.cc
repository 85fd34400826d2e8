// The runner and sim's executor together, on a small cloud: above all that a wrong expectation fails.
#include "tests/lab/case/sim_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/lab/case/runner.h"

namespace kasane::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTwoVms[] = R"(
case: A test.
topology:
  networks:
    - {id: n, name: n, "provider:network_type": vxlan, "provider:segmentation_id": 5, mtu: 1450}
  subnets:
    - {id: s4, network_id: n, ip_version: 4, cidr: 10.0.0.0/24}
    - {id: s6, network_id: n, ip_version: 6, cidr: "2001:db8::/64"}
  ports:
    - id: 10000000-0000-0000-0000-000000000001
      name: a
      network_id: n
      mac_address: "fa:16:3e:00:00:01"
      device_owner: compute:nova
      "binding:host_id": hv1
      fixed_ips: [{subnet_id: s4, ip_address: 10.0.0.1}, {subnet_id: s6, ip_address: "2001:db8::1"}]
    - id: 20000000-0000-0000-0000-000000000002
      name: b
      network_id: n
      mac_address: "fa:16:3e:00:00:02"
      device_owner: compute:nova
      "binding:host_id": hv2
      fixed_ips: [{subnet_id: s4, ip_address: 10.0.0.2}, {subnet_id: s6, ip_address: "2001:db8::2"}]
steps:
)";

CaseResult RunSteps(const std::string& steps) {
  const auto subject = ParseCase("x.yaml", kTwoVms + steps);
  EXPECT_TRUE(subject.ok()) << Message(subject.status());
  auto resources = CaseResources::Make(*subject);
  EXPECT_TRUE(resources.ok()) << Message(resources.status());
  SimWorld world(*std::move(resources));
  return RunCase(*subject, world);
}

std::string SeenIn(const std::string& steps) {
  const CaseResult result = RunSteps(steps);
  return result.failure
             ? result.failure->where + " | " + result.failure->expected + " | " + result.failure->seen
             : "";
}

TEST(SimWorldTest, VmsAnswerEachOtherByEveryProtocol) {
  EXPECT_EQ(SeenIn("  - ping: {from: a, to: b}\n"
                   "  - ping: {from: b, to: a, family: 6, size: 3000}\n"
                   "  - ping: {from: a, to: b, size: 4000}\n"
                   "  - udp: {from: a, to: b, size: 2000}\n"
                   "  - tcp: {from: a, to: b, family: 6}\n"
                   "  - ping: {from: a, to: 10.0.0.9, answered_by: nobody}\n"),
            "");
}

TEST(SimWorldTest, AWrongAnswererFails) {
  EXPECT_THAT(SeenIn("  - ping: {from: a, to: b, answered_by: nobody}\n"),
              HasSubstr("x.yaml:25: steps[0].ping | a -> 10.0.0.2: answered by nobody | answered by b"));
  EXPECT_THAT(SeenIn("  - udp: {from: a, to: 10.0.0.9, answered_by: b}\n"), HasSubstr("| answered by nobody"));
  EXPECT_THAT(SeenIn("  - ping: {from: a, to: b, error: ttl_exceeded}\n"), HasSubstr("| answered by b"));
  EXPECT_THAT(SeenIn("  - ping: {from: a, to: c}\n"), HasSubstr("there is no port \"c\""));
}

constexpr char kSend[] =
    "  - send: {from: a, frame: \"icmp(eth_src=mac(a), eth_dst=mac(b), src=ip(a), dst=ip(b))\"";

TEST(SimWorldTest, ReceiversMustBeExactlyThese) {
  EXPECT_EQ(SeenIn(std::string(kSend) + ", receive: [{vm: b, frame: \"icmp(ttl=64, src=10.0.0.1)\"}]}\n"), "");
  EXPECT_THAT(SeenIn(std::string(kSend) + "}\n"),
              HasSubstr("| nobody else receives anything | b receives icmp("));
  EXPECT_THAT(SeenIn(std::string(kSend) + ", receive: [{vm: b}, {vm: a}]}\n"),
              HasSubstr("a receives a frame (line 25) | it does not"));
  EXPECT_THAT(SeenIn(std::string(kSend) + ", receive: [{vm: b, frame: \"icmp(ttl=63)\"}]}\n"),
              HasSubstr("it does not; of what it received: "));
  EXPECT_THAT(SeenIn(std::string(kSend) + ", receive: [{vm: b}], drop: no_route}\n"),
              HasSubstr("dropped as no_route | no drop was counted"));
}

TEST(SimWorldTest, DropsAreCountedWhereTheyHappen) {
  const std::string unknown =
      "  - send: {from_tunnel: {host: hv1, source: hv2, vni: 77}, frame: \"hex:00\", drop: unknown_vni, at: ";
  EXPECT_EQ(SeenIn(unknown + "hv1}\n"), "");
  EXPECT_THAT(SeenIn(unknown + "hv2}\n"), HasSubstr("| counted: 1 unknown_vni at hv1"));
}

// hv1 sends to where b was; nobody receives anything.
TEST(SimWorldTest, ACopyThatAnotherHostDropsIsSeen) {
  const std::string lagging = "  - pause: agent hv1\n  - move: {port: b, to: hv3}\n" + std::string(kSend);
  EXPECT_EQ(SeenIn(lagging + ", drop: unknown_vtep, at: hv2}\n"), "");
  EXPECT_THAT(SeenIn(lagging + "}\n"),
              HasSubstr("| no other host drops a copy | counted: 1 unknown_vtep at hv2"));
}

TEST(SimWorldTest, ChangesTakeEffect) {
  EXPECT_EQ(SeenIn("  - move: {port: b, to: hv3}\n"
                   "  - udp: {from: a, to: b}\n"
                   "  - delete: {ports: [20000000-0000-0000-0000-000000000002]}\n"
                   "  - udp: {from: a, to: b, answered_by: nobody}\n"),
            "");
}

TEST(SimWorldTest, StreamsAndTracesAreJudged) {
  const CaseResult result = RunSteps(
      "  - stream: {from: a, to: b}\n"
      "  - trace: {from: a, packet: \"icmp(eth_src=mac(a), eth_dst=mac(b), src=ip(a), dst=ip(b))\", verdict: "
      "delivered b}\n");
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.notes, ElementsAre("stream a -> b: 0 of 2 lost"));
  EXPECT_THAT(
      SeenIn("  - stream: {from: a, to: b}\n  - delete: {ports: [20000000-0000-0000-0000-000000000002]}\n"),
      HasSubstr("at most 0 lost | stream a -> b: 1 of 2 lost"));
  EXPECT_THAT(SeenIn("  - trace: {from: a, packet: \"hex:00\", verdict: delivered b}\n"),
              HasSubstr("| delivered b | dropped malformed"));
}

}  // namespace
}  // namespace kasane::lab
