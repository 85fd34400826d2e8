#include "ctl/trace/follow.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

using ::testing::ElementsAre;

v1::TraceResponse Parse(const char* text) {
  v1::TraceResponse reply;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &reply));
  return reply;
}

constexpr char kFlooded[] = R"(
  steps { host: "hv1" text: "flooded" }
  verdicts { delivered: true host: "hv1" port_id: "p1" }
  verdicts { delivered: true host: "hv1" remote_host: "hv2" remote_address: "192.0.2.2" local_address: "192.0.2.1"
             vni: 7 frame: "to 2" way: 3 }
  verdicts { delivered: true host: "hv1" remote_host: "hv3" remote_address: "192.0.2.3" local_address: "192.0.2.1"
             vni: 7 frame: "to 3" })";

TEST(FollowTunnelsTest, WhatComesOfItAtTheEndTakesTheTunnelsPlace) {
  std::vector<std::string> asked;
  const v1::TraceResponse reply = FollowTunnels(Parse(kFlooded), [&](const std::string& host,
                                                                     const v1::TraceRequest& request) {
    asked.push_back(fmt::format("{} {} {} {}", host, request.outer_source(), request.vni(), request.frame()));
    return absl::StatusOr<v1::TraceResponse>(
        host == "hv2" ? Parse("steps { host: 'hv2' } verdicts { delivered: true host: 'hv2' port_id: 'p2' }")
                      : Parse("steps { host: 'hv3' } verdicts { host: 'hv3' drop_reason: 'not_local' }"));
  });
  EXPECT_THAT(asked, ElementsAre("hv2 192.0.2.1 7 to 2", "hv3 192.0.2.1 7 to 3"));
  EXPECT_EQ(reply.steps_size(), 3);
  ASSERT_EQ(reply.verdicts_size(), 3);
  EXPECT_EQ(reply.verdicts(0).port_id(), "p1");
  EXPECT_EQ(reply.verdicts(1).port_id(), "p2");
  EXPECT_EQ(reply.verdicts(1).way(), 3U);
  EXPECT_EQ(reply.steps(1).way(), 3U);
  EXPECT_EQ(reply.verdicts(2).drop_reason(), "not_local");
  EXPECT_TRUE(reply.notes().empty());
}

TEST(FollowTunnelsTest, WhereItCannotFollowItSaysWhyOnce) {
  const v1::TraceResponse reply = FollowTunnels(
      Parse(kFlooded), [](const std::string&, const v1::TraceRequest&) -> absl::StatusOr<v1::TraceResponse> {
        return Error(absl::StatusCode::kUnavailable, "no controller");
      });
  ASSERT_EQ(reply.verdicts_size(), 3);
  EXPECT_EQ(reply.verdicts(1).remote_host(), "hv2");
  EXPECT_THAT(reply.notes(), ElementsAre("not followed to host hv2: no controller"));
}

}  // namespace
}  // namespace kasane::ctl
