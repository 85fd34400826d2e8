#include "agent/sync/stream_end.h"

#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kasane::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(StreamEndTest, EachEndSaysWhatToDo) {
  struct Case {
    absl::StatusCode code;
    ::testing::Matcher<std::string> message;
  };
  const Case cases[] = {
      {absl::StatusCode::kOk, HasSubstr("closed the stream")},
      {absl::StatusCode::kUnavailable,
       AllOf(HasSubstr("not reachable (why)"), HasSubstr("start kasane-controller"))},
      {absl::StatusCode::kAlreadyExists, HasSubstr("refuses this agent as host hv1: why")},
      {absl::StatusCode::kFailedPrecondition, HasSubstr("refuses this agent as host hv1: why")},
      {absl::StatusCode::kInvalidArgument, HasSubstr("refuses this agent as host hv1: why")},
      {absl::StatusCode::kUnimplemented, HasSubstr("does not speak this version")},
      {absl::StatusCode::kInternal, HasSubstr("INTERNAL): why")},
  };
  for (const Case& c : cases) {
    const vswitch::Problem problem =
        DescribeStreamEnd("127.0.0.1:6650", "hv1", static_cast<int>(c.code), "why");
    EXPECT_EQ(problem.subject, "controller 127.0.0.1:6650");
    EXPECT_THAT(problem.message, c.message);
    EXPECT_THAT(problem.message, HasSubstr("trying again"));
  }
}

TEST(StreamEndTest, OfGrpcsOwnWordsOnlyTheReasonIsShown) {
  const vswitch::Problem problem = DescribeStreamEnd(
      "127.0.0.1:6650", "hv1", static_cast<int>(absl::StatusCode::kUnavailable),
      "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:6650: Failed to "
      "connect to remote host: Connection refused");
  EXPECT_THAT(problem.message, HasSubstr("not reachable (Connection refused): "));
}

}  // namespace
}  // namespace kasane::agent
