#include "tests/lab/case/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kHead[] =
    "case: Why.\n"
    "topology:\n"
    "  networks:\n"
    "    - {id: n, \"provider:network_type\": vxlan, \"provider:segmentation_id\": 5}\n"
    "steps:\n";

std::string FaultOf(const std::string& steps) {
  const auto parsed = ParseCase("dir/x.yaml", kHead + steps);
  return parsed.ok() ? "" : Message(parsed.status());
}

TEST(CaseFileTest, ReadsEachStep) {
  const auto parsed = ParseCase(
      "dir/some_fault.yaml",
      std::string(kHead) +
          R"yaml(  - ping: {from: a, to: b, size: 100, df: true, ttl: 3, count: 2, error: frag_needed 1400, error_from: 10.0.0.1}
  - udp: {from: a, to: 10.0.0.9, family: 4, answered_by: nobody}
  - send: {from: a, frame: "hex:00", receive: [{vm: b, frame: "icmp(ttl=3)"}, {vm: c}], drop: no_route, at: hv1}
  - send: {from_tunnel: {host: hv1, source: hv2, vni: 7, flags: 0}, frame: "hex:00"}
  - delete: {ports: [p1, p2]}
  - move: {port: a, to: hv3}
  - kill: agent hv1
  - restart: controller
  - stream: {from: a, to: b, rate: 50, max_lost: 3}
  - end_stream: {}
  - wait: applied
  - trace: {from: a, packet: "hex:00", verdict: dropped no_route}
  - storm: {from: a, frame: "hex:00", rate: 1000, drop: replication_rate}
)yaml");
  ASSERT_TRUE(parsed.ok()) << Message(parsed.status());
  EXPECT_EQ(parsed->name, "some_fault");
  EXPECT_EQ(parsed->why, "Why.");
  EXPECT_THAT(parsed->topology.items, SizeIs(1));
  ASSERT_THAT(parsed->steps, SizeIs(13));
  EXPECT_EQ(parsed->steps[0].line, 6);
  const auto& ping = std::get<ProbeStep>(parsed->steps[0].action);
  EXPECT_EQ(ping.size, 100U);
  EXPECT_TRUE(ping.df);
  EXPECT_EQ(ping.answered_by, "nobody") << "with an error nobody answers";
  const auto& send = std::get<SendStep>(parsed->steps[2].action);
  ASSERT_THAT(send.receive, SizeIs(2));
  EXPECT_EQ(send.receive[0].frame, "icmp(ttl=3)");
  EXPECT_EQ(std::get<SendStep>(parsed->steps[3].action).from_tunnel->vni, 7U);
  EXPECT_EQ(std::get<SendStep>(parsed->steps[3].action).from_tunnel->flags, 0U);
  EXPECT_THAT(
      std::get<DeleteStep>(parsed->steps[4].action).keys,
      ElementsAre(model::ResourceKey{model::Kind::kPort, "p1"}, model::ResourceKey{model::Kind::kPort, "p2"}));
  EXPECT_EQ(std::get<ControlStep>(parsed->steps[6].action).host, "hv1");
  EXPECT_EQ(std::get<StormStep>(parsed->steps[12].action).rate, 1000U);
}

TEST(CaseFileTest, RunsOnTheKernelsSwitchOnlyIfItSaysSo) {
  const std::string steps = "  - wait: applied\n";
  const auto unmarked = ParseCase("x.yaml", kHead + steps);
  ASSERT_TRUE(unmarked.ok());
  EXPECT_TRUE(RunsOn(*unmarked, "sim") && RunsOn(*unmarked, "ovs"));
  EXPECT_FALSE(RunsOn(*unmarked, "ovs-kernel"));
  const auto marked = ParseCase("x.yaml", "datapaths: [ovs-kernel]\n" + (kHead + steps));
  ASSERT_TRUE(marked.ok());
  EXPECT_TRUE(RunsOn(*marked, "ovs-kernel"));
  EXPECT_FALSE(RunsOn(*marked, "sim"));
}

TEST(CaseFileTest, AFaultHasFileLineFieldAndWhatWasExpected) {
  EXPECT_EQ(FaultOf("  - ping: {form: a, to: b}\n"),
            "dir/x.yaml:6: steps[0].ping.from: is missing; expected the name of a VM\n"
            "dir/x.yaml:6: steps[0].ping.form: unknown field; expected one of from, to, family, size, df, ttl, "
            "count, "
            "error, error_from, answered_by");
  EXPECT_THAT(FaultOf("  - ping: {from: a, to: b, ttl: 300}\n"),
              HasSubstr("dir/x.yaml:6: steps[0].ping.ttl: expected a number from 1 to 255, found \"300\""));
  EXPECT_THAT(FaultOf("  - pong: {}\n"),
              HasSubstr("dir/x.yaml:6: steps[0].pong: unknown step; expected one of ping, "));
  EXPECT_THAT(FaultOf("  - send: {frame: \"hex:00\"}\n"),
              HasSubstr("expected exactly one of from (a VM) and from_tunnel"));
  EXPECT_THAT(FaultOf("  - send: {from: a, frame: \"hex:00\", drop: tired}\n"),
              HasSubstr("steps[0].send.drop: \"tired\" is no drop reason; expected one of unknown_port, "));
  EXPECT_THAT(FaultOf("  - storm: {from: a, frame: \"hex:00\", drop: tired}\n"),
              HasSubstr("steps[0].storm.drop: \"tired\" is no drop reason"));
  EXPECT_THAT(FaultOf("  - ping: {from: a, to: 10.0.0.1}\n"),
              HasSubstr("steps[0].ping.answered_by: is missing"));
  EXPECT_THAT(FaultOf("  - ping: {from: a, to: b, error: sad}\n"), HasSubstr("\"sad\" is no ICMP error"));
  EXPECT_THAT(FaultOf("  - kill: agent\n"),
              HasSubstr("expected \"agent HOST\", \"ovs HOST\" or \"controller\", found \"agent\""));
  EXPECT_THAT(FaultOf("  - apply: {prots: []}\n"),
              HasSubstr("steps[0].apply.prots: is no known section; did you mean ports?"));
  EXPECT_THAT(FaultOf("  - wait: a minute\n"), HasSubstr("expected \"applied\""));
  EXPECT_THAT(FaultOf("  - delete: {ports: p1}\n"), HasSubstr("steps[0].delete.ports: expected lists of ids"));
}

TEST(CaseFileTest, EveryFaultIsTold) {
  const std::string faults = FaultOf("  - ping: {from: a}\n  - move: {port: a}\n");
  EXPECT_THAT(faults, HasSubstr("dir/x.yaml:6: steps[0].ping.to"));
  EXPECT_THAT(faults, HasSubstr("dir/x.yaml:7: steps[1].move.to"));
}

TEST(CaseFileTest, NeedsASentenceATopologyAndSteps) {
  const auto parsed = ParseCase("x.yaml", "datapaths: [simulation]\n");
  const std::string faults = Message(parsed.status());
  EXPECT_THAT(faults, HasSubstr("x.yaml:1: case: is missing"));
  EXPECT_THAT(faults, HasSubstr("x.yaml:1: topology: is missing"));
  EXPECT_THAT(faults, HasSubstr("x.yaml:1: steps: is missing"));
  EXPECT_THAT(faults, HasSubstr("expected sim, ovs or ovs-kernel, found \"simulation\""));
}

TEST(CaseFileTest, ATopologyFileThatIsMissingIsNamed) {
  const auto parsed = ParseCase("dir/x.yaml", "case: c\ntopology: none.yaml\nsteps: [{wait: applied}]\n");
  EXPECT_THAT(Message(parsed.status()), HasSubstr("dir/x.yaml:2: topology: dir/none.yaml"));
}

}  // namespace
}  // namespace kasane::lab
