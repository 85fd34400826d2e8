#include "vswitch/ovs/openflow/flow_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/ovs/openflow/fake_channel.h"

namespace kasane::ovs {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FlowKeeperTest : public ::testing::Test {
 protected:
  FlowKeeperTest() : keeper_([this] { return switch_.Connect(); }) {
    desired_.Add({Table::kL2, 1, "a"}, {"drop", {}, std::nullopt});
    desired_.AddMeter(3, {{10, 10}, {}, vswitch::DropReason::kReplicationRate});
    EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  }
  void OthersDelete() {
    switch_.flows.clear();
    switch_.disturbance = {.added = 0, .deleted = 1, .modified = 0, .first = "table=9,priority=1,a"};
  }
  // As the thread does: again when it is wanted at the latest, if that is about to be.
  void CheckAt(FlowKeeper::Clock::time_point now) {
    const auto next = keeper_.Check(now);
    if (next <= now + FlowKeeper::kGather) keeper_.Check(next);
  }

  FakeSwitch switch_;
  FlowTable desired_;
  FlowKeeper keeper_;
  FlowKeeper::Clock::time_point now_{seconds(1000)};
};

TEST_F(FlowKeeperTest, WhatOthersDeleteIsNamedAndRepaired) {
  keeper_.Check(now_);
  EXPECT_EQ(keeper_.Seen().count, 0u);
  OthersDelete();
  CheckAt(now_);
  EXPECT_EQ(keeper_.Seen().count, 1u);
  EXPECT_THAT(keeper_.Seen().last, HasSubstr("1 deleted, 0 modified (first table=9,priority=1,a)"));
  const size_t dumps = switch_.dumps;
  EXPECT_EQ(keeper_.Apply(desired_, 1)->added, 1u);
  EXPECT_THAT(switch_.flows, SizeIs(1));
  EXPECT_EQ(switch_.dumps, dumps + 1);
  EXPECT_EQ(keeper_.Apply(desired_, 1)->added, 0u);
  EXPECT_EQ(switch_.dumps, dumps + 1) << "once for each disturbance";
}

TEST_F(FlowKeeperTest, MetersAreReadOnceASecond) {
  keeper_.Check(now_);
  switch_.meters[3].rate = 11;
  const auto next = keeper_.Check(now_ + std::chrono::milliseconds(500));
  EXPECT_EQ(keeper_.Seen().count, 0u);
  EXPECT_EQ(next, now_ + FlowKeeper::kUntoldCheck);
  CheckAt(next);
  EXPECT_THAT(keeper_.Seen().last, HasSubstr("meters of the switch"));
  EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  EXPECT_EQ(switch_.meters[3].rate, 10u);
}

TEST_F(FlowKeeperTest, GroupsAreReadOnceASecond) {
  desired_.AddGroup(1, "type=all,bucket=a");
  EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  keeper_.Check(now_);
  EXPECT_EQ(keeper_.Seen().count, 0u);
  switch_.groups[1] = "type=all";
  CheckAt(now_ + FlowKeeper::kUntoldCheck);
  EXPECT_THAT(keeper_.Seen().last, HasSubstr("groups of the switch: 1 was modified"));
  EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  EXPECT_EQ(switch_.groups[1], "type=all,bucket=a");
  switch_.groups.clear();
  CheckAt(now_ + seconds(100));
  EXPECT_THAT(keeper_.Seen().last, HasSubstr("groups of the switch: 1 was deleted"));
  EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  EXPECT_THAT(switch_.groups, SizeIs(1));
  switch_.groups[7] = "type=all";
  CheckAt(now_ + seconds(200));
  EXPECT_EQ(keeper_.Seen().count, 2u) << "a group of others, which no flow names";
}

TEST_F(FlowKeeperTest, WhoDisturbsWithoutEndCostsLittle) {
  uint64_t seconds_passed = 0;
  for (; seconds_passed < 60; ++seconds_passed) {
    OthersDelete();
    CheckAt(now_ + seconds(seconds_passed));
    EXPECT_TRUE(keeper_.Apply(desired_, 1).ok());
  }
  EXPECT_LE(keeper_.Seen().count, 11u) << "0, 1, 3, 7, 15, then every 8 s";
  // What waits is not lost, and after a quiet time the next one is published at once.
  keeper_.Check(now_ + seconds(70));
  const uint64_t before = keeper_.Seen().count;
  keeper_.Check(now_ + seconds(100));
  EXPECT_EQ(keeper_.Seen().count, before);
  OthersDelete();
  CheckAt(now_ + seconds(100));
  EXPECT_EQ(keeper_.Seen().count, before + 1);
}

TEST_F(FlowKeeperTest, ANewSessionStartsFromWhatIsThere) {
  switch_.Restart();
  EXPECT_EQ(keeper_.Apply(desired_, 2)->added, 1u);
  EXPECT_THAT(keeper_.Seen().last, IsEmpty());
}

}  // namespace
}  // namespace kasane::ovs
