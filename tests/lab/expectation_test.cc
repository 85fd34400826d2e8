#include "tests/lab/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace kasane::lab {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"(
reach:
  - name: both
    families: [v4, v6]
    vms: [a, b]
  - families: [v4]
    vms: [b, c]
probes:
  - from: [a, c]
    to: 192.0.2.1
    answered_by: b
  - from: [c]
    to: 2001:db8::1
    answered_by: nobody
)";

LabPlan PlanOf(std::vector<std::string> nodes) {
  LabPlan plan;
  plan.hosts.push_back({});
  for (std::string& node : nodes) {
    plan.vms.emplace_back();
    plan.vms.back().node = std::move(node);
  }
  return plan;
}

TEST(ParseExpectationTest, ReadsGroupsAndProbes) {
  const auto expectation = ParseExpectation("x.yaml", kGood);
  ASSERT_TRUE(expectation.ok()) << expectation.status();
  ASSERT_EQ(expectation->groups.size(), 2);
  EXPECT_EQ(expectation->groups[0], (ReachGroup{"both", {IpFamily::kV4, IpFamily::kV6}, {"a", "b"}}));
  ASSERT_EQ(expectation->probes.size(), 2);
  EXPECT_EQ(expectation->probes[0], (ExtraProbe{{"a", "c"}, *IpAddress::Parse("192.0.2.1"), "b"}));
  EXPECT_EQ(expectation->probes[1].answered_by, std::nullopt);
}

TEST(ParseExpectationTest, NamesTheLineAndTheFault) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"reach: [", "x.yaml: "},
      {"[]", "x.yaml:1: expected a map"},
      {"probes: []", "\"reach\" is missing"},
      {"reach: 7", "x.yaml:1: expected a list of groups"},
      {"reach:\n- families: [v5]\n  vms: [a, b]", "x.yaml:2: \"v5\" is neither v4 nor v6"},
      {"reach:\n- families: [v4]\n  vm: [a, b]", "x.yaml:3: unknown key \"vm\""},
      {"reach:\n- families: [v4]\n  vms: []", "x.yaml:3: expected a list of names"},
      {"reach: []\nprobes:\n- {from: [a], to: 192.0.2, answered_by: b}", "192.0.2"},
  };
  for (const auto& test : kCases) {
    const auto expectation = ParseExpectation("x.yaml", test.text);
    ASSERT_FALSE(expectation.ok()) << test.text;
    EXPECT_THAT(Message(expectation.status()), HasSubstr(test.message)) << test.text;
  }
}

TEST(CheckExpectationTest, WantsEveryVmAndNoOther) {
  const auto expectation = ParseExpectation("x.yaml", kGood);
  ASSERT_TRUE(expectation.ok());
  EXPECT_TRUE(CheckExpectation(*expectation, PlanOf({"a", "b", "c"})).ok());
  EXPECT_THAT(Message(CheckExpectation(*expectation, PlanOf({"a", "b"}))), HasSubstr("names the VM \"c\""));
  EXPECT_THAT(Message(CheckExpectation(*expectation, PlanOf({"a", "b", "c", "d"}))),
              HasSubstr("says nothing about the VM \"d\""));
}

TEST(CheckExpectationTest, WantsAnAnswerToRelyOn) {
  const auto alone = ParseExpectation("x.yaml", "reach: [{families: [v4], vms: [a]}]");
  ASSERT_TRUE(alone.ok());
  EXPECT_THAT(Message(CheckExpectation(*alone, PlanOf({"a"}))), HasSubstr("fewer than two VMs"));
}

TEST(ExpectsReachTest, HoldsPerFamilyAndBothWays) {
  const auto expectation = ParseExpectation("x.yaml", kGood);
  ASSERT_TRUE(expectation.ok());
  EXPECT_TRUE(ExpectsReach(*expectation, "a", "b", IpFamily::kV6));
  EXPECT_TRUE(ExpectsReach(*expectation, "c", "b", IpFamily::kV4));
  EXPECT_FALSE(ExpectsReach(*expectation, "c", "b", IpFamily::kV6));
  EXPECT_FALSE(ExpectsReach(*expectation, "a", "c", IpFamily::kV4));
}

}  // namespace
}  // namespace kasane::lab
