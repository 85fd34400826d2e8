#include "vswitch/ovs/openflow/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/ovs/openflow/fake_channel.h"
#include "vswitch/ovs/openflow/flow_installer.h"

namespace kasane::ovs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Kind = FlowChange::Kind;

const vswitch::Owner kPortA{.kind = vswitch::OwnerKind::kPort, .id = "port-a"};
const vswitch::Owner kPortB{.kind = vswitch::OwnerKind::kPort, .id = "port-b"};
const vswitch::Owner kPortC{.kind = vswitch::OwnerKind::kPort, .id = "port-c"};

FlowKey Key(const std::string& match, Table table = Table::kL2, uint16_t priority = 100) {
  return {.table = table, .priority = priority, .match = match};
}

struct Wanted {
  std::string match;
  std::string actions;
  vswitch::Owner owner;
};

FlowTable TableOf(const std::vector<Wanted>& flows) {
  FlowTable table;
  for (const Wanted& flow : flows) {
    table.Add(Key(flow.match), {.actions = flow.actions, .owner = flow.owner, .drop = std::nullopt});
  }
  return table;
}

InstalledFlow Installed(const std::string& actions, const vswitch::Owner& owner) {
  return {.actions = actions, .cookie = CookieOf(owner, std::nullopt), .owner = owner};
}

// "delete x; add y" for a look at the whole plan.
std::string Summary(const std::vector<FlowChange>& changes) {
  std::string text;
  for (const FlowChange& change : changes) {
    text += change.kind == Kind::kDelete ? "-" : change.kind == Kind::kAdd ? "+" : "~";
    text += change.key.match + " ";
  }
  return text;
}

TEST(PlanChangesTest, IsTheDifferenceWithDeletionsFirst) {
  struct Case {
    std::string name;
    std::vector<Wanted> desired;
    InstalledFlows installed;
    std::string plan;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {}, ""},
      {"equal", {{"a", "1", kPortA}}, {{Key("a"), Installed("1", kPortA)}}, ""},
      {"new", {{"a", "1", kPortA}, {"b", "1", kPortA}}, {{Key("a"), Installed("1", kPortA)}}, "+b "},
      {"other actions", {{"a", "2", kPortA}}, {{Key("a"), Installed("1", kPortA)}}, "~a "},
      {"other owner", {{"a", "1", kPortB}}, {{Key("a"), Installed("1", kPortA)}}, "~a "},
      {"gone", {}, {{Key("a"), Installed("1", kPortA)}}, "-a "},
      {"all at once",
       {{"a", "1", kPortA}, {"c", "3", kPortA}, {"d", "9", kPortA}},
       {{Key("b"), Installed("2", kPortA)},
        {Key("d"), Installed("4", kPortA)},
        {Key("e"), Installed("5", kPortA)}},
       "-b -e +a +c ~d "},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Summary(PlanChanges(TableOf(c.desired), c.installed)), c.plan) << c.name;
  }
}

TEST(PlanChangesTest, DropReasonIsPartOfTheCookie) {
  FlowTable desired;
  desired.Add(Key("a"), {.actions = "drop", .owner = kPortA, .drop = vswitch::DropReason::kNoRoute});
  const std::vector<FlowChange> changes = PlanChanges(desired, {{Key("a"), Installed("drop", kPortA)}});
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(CookieDropReason(changes[0].cookie), vswitch::DropReason::kNoRoute);
}

TEST(AcknowledgeTest, MakesInstalledEqualToDesired) {
  const FlowTable desired = TableOf({{"a", "1", kPortA}, {"b", "2", kPortB}});
  InstalledFlows installed = {{Key("a"), Installed("0", kPortA)}, {Key("z"), Installed("1", kPortC)}};
  Acknowledge(PlanChanges(desired, installed), installed);
  EXPECT_THAT(installed, SizeIs(2));
  EXPECT_THAT(PlanChanges(desired, installed), IsEmpty());
}

TEST(PlanChangesTest, AFlowOfAnotherOwnerOrReasonCountsAnew) {
  const FlowTable desired = TableOf({{"a", "2", kPortA}, {"b", "2", kPortB}});
  const InstalledFlows installed = {{Key("a"), Installed("1", kPortA)}, {Key("b"), Installed("1", kPortA)}};
  const std::vector<FlowChange> changes = PlanChanges(desired, installed);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_FALSE(changes[0].reset_counters) << "the same flow with other actions goes on counting";
  EXPECT_TRUE(changes[1].reset_counters);
}

TEST(ReadBackTest, ComparesMeaningsNotSpellings) {
  const FlowTable desired =
      TableOf({{"same", "out", kPortA}, {"other", "out", kPortA}, {"absent", "out", kPortA}});
  const uint64_t cookie = CookieOf(kPortA, std::nullopt);
  const std::vector<DumpedFlow> dump = {
      {.key = Key("SAME"), .actions = "OUT", .cookie = cookie},
      {.key = Key("OTHER"), .actions = "ELSEWHERE", .cookie = cookie},
      {.key = Key("FOREIGN"), .actions = "OUT", .cookie = cookie},
  };
  const InstalledFlows installed = ReadBack(
      desired, dump, [](const FlowKey& key, const std::string& actions) -> absl::StatusOr<CanonicalFlow> {
        return FakeCanonical(key, actions);
      });
  EXPECT_EQ(Summary(PlanChanges(desired, installed)), "-FOREIGN +absent ~other ");
}

// ---- FlowInstaller ----------------------------------------------------------------------------------

std::unique_ptr<FlowInstaller> Connect(FakeSwitch& fake) {
  return std::make_unique<FlowInstaller>(*fake.Connect());
}

TEST(FlowInstallerTest, SendsOnlyWhatChanged) {
  FakeSwitch fake;
  const auto installer = Connect(fake);
  absl::StatusOr<vswitch::ApplyResult> result =
      installer->Apply(TableOf({{"a", "1", kPortA}, {"b", "2", kPortB}}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->added, 2u);
  EXPECT_EQ(result->installed, 2u);

  result = installer->Apply(TableOf({{"a", "1", kPortA}, {"b", "3", kPortB}}));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->modified, 1u);
  EXPECT_EQ(Summary(fake.bundles.back()), "~b ");

  const size_t before = fake.bundles.size();
  ASSERT_TRUE(installer->Apply(TableOf({{"a", "1", kPortA}, {"b", "3", kPortB}})).ok());
  EXPECT_EQ(fake.bundles.size(), before) << "an equal table must not touch the switch";
  EXPECT_EQ(fake.dumps, 1u);
}

TEST(FlowInstallerTest, ANewOneRepairsOnlyTheDifference) {
  FakeSwitch fake;
  ASSERT_TRUE(Connect(fake)->Apply(TableOf({{"a", "1", kPortA}, {"b", "2", kPortB}})).ok());
  fake.flows.erase(Key("B"));
  fake.flows[Key("STRAY")] = {.actions = "NORMAL", .cookie = 0};
  fake.bundles.clear();
  ASSERT_TRUE(Connect(fake)->Apply(TableOf({{"a", "1", kPortA}, {"b", "2", kPortB}})).ok());
  ASSERT_THAT(fake.bundles, SizeIs(1));
  EXPECT_EQ(Summary(fake.bundles[0]), "-STRAY +b ");
}

TEST(FlowInstallerTest, LeavesWhatTheSwitchHasLearned) {
  FakeSwitch fake;
  FlowKey learned = Key("LEARNED");
  learned.table = Table::kLearned;
  fake.flows[learned] = {.actions = "LOAD", .cookie = 7};
  ASSERT_TRUE(Connect(fake)->Apply(TableOf({{"a", "1", kPortA}})).ok());
  EXPECT_EQ(fake.flows.count(learned), 1U);
}

TEST(FlowInstallerTest, LeavesOutTheOwnerOfARefusedFlowAndKeepsItsOldOnes) {
  FakeSwitch fake;
  fake.refused_actions = "bad";
  const auto installer = Connect(fake);
  ASSERT_TRUE(installer->Apply(TableOf({{"b1", "1", kPortB}})).ok());

  const absl::StatusOr<vswitch::ApplyResult> result = installer->Apply(TableOf({{"a", "1", kPortA},
                                                                                {"b1", "2", kPortB},
                                                                                {"b2", "bad", kPortB},
                                                                                {"c", "bad", kPortC},
                                                                                {"d", "1", kPortA}}));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_THAT(result->failed_owners, SizeIs(2));
  EXPECT_THAT(result->failed_owners.at(kPortB), HasSubstr("b2 actions=bad: OFPBAC_BAD_TYPE"));
  EXPECT_EQ(result->added, 2u);
  EXPECT_EQ(result->modified, 0u);
  EXPECT_EQ(fake.flows.at(Key("B1")).actions, "1") << "the refused owner's installed flows stay";
  EXPECT_EQ(fake.flows.count(Key("D")), 1u);

  fake.refused_actions.clear();
  ASSERT_TRUE(installer
                  ->Apply(TableOf({{"a", "1", kPortA},
                                   {"b1", "2", kPortB},
                                   {"b2", "bad", kPortB},
                                   {"c", "bad", kPortC},
                                   {"d", "1", kPortA}}))
                  .ok());
  EXPECT_THAT(fake.flows, SizeIs(5)) << "what failed is tried again";
}

FlowTable WithMeters(FlowTable table, const std::map<uint32_t, uint32_t>& rates, const vswitch::Owner& owner) {
  for (const auto& [id, rate] : rates)
    table.AddMeter(id, {{rate, rate}, owner, vswitch::DropReason::kReplicationRate});
  return table;
}

TEST(FlowInstallerTest, MetersAreThereBeforeTheFlowsThatNameThemAndGoBehindThem) {
  FakeSwitch fake;
  fake.meters = {{7, {1, 1}}, {9, {5, 5}}};  // Of another agent's time.
  const auto installer = Connect(fake);
  ASSERT_TRUE(
      installer->Apply(WithMeters(TableOf({{"a", "meter:7", kPortA}}), {{7, 10}, {8, 10}}, kPortA)).ok());
  EXPECT_EQ(fake.meters, (std::map<uint32_t, MeterRate>{{7, {10, 10}}, {8, {10, 10}}}));

  const size_t before = fake.meter_changes.size();
  ASSERT_TRUE(
      installer->Apply(WithMeters(TableOf({{"a", "meter:7", kPortA}}), {{7, 10}, {8, 10}}, kPortA)).ok());
  EXPECT_EQ(fake.meter_changes.size(), before) << "an equal table must not touch the switch";

  fake.fail_call = 0;
  EXPECT_EQ(installer->Apply(TableOf({})).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(fake.meters, SizeIs(2)) << "a meter goes only after the flows that name it";
}

TEST(FlowInstallerTest, LeavesOutTheOwnerOfARefusedMeter) {
  FakeSwitch fake;
  fake.refused_meter = 7;
  const FlowTable desired =
      WithMeters(TableOf({{"a", "meter:7", kPortA}, {"b", "1", kPortB}}), {{7, 10}}, kPortA);
  const auto installer = Connect(fake);
  const absl::StatusOr<vswitch::ApplyResult> result = installer->Apply(desired);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->failed_owners.at(kPortA), HasSubstr("meter 7 of 10 packets/s: OFPMMFC_OUT_OF_METERS"));
  EXPECT_THAT(fake.flows, SizeIs(1));
  fake.refused_meter.reset();
  ASSERT_TRUE(installer->Apply(desired).ok());
  EXPECT_THAT(fake.flows, SizeIs(2)) << "what failed is tried again";
}

TEST(FlowInstallerTest, ARefusedOwnersOldFlowsKeepTheirMeter) {
  FakeSwitch fake;
  const auto installer = Connect(fake);
  ASSERT_TRUE(installer->Apply(WithMeters(TableOf({{"a", "meter:7", kPortA}}), {{7, 10}}, kPortA)).ok());
  // Plugged again under another number, for which there is no meter.
  fake.refused_meter = 9;
  const FlowTable moved = WithMeters(TableOf({{"b", "meter:9", kPortA}}), {{9, 10}}, kPortA);
  ASSERT_THAT(installer->Apply(moved)->failed_owners, SizeIs(1));
  EXPECT_EQ(fake.flows.count(Key("A")), 1U);
  EXPECT_EQ(fake.meters.count(7), 1U);
  fake.refused_meter.reset();
  ASSERT_THAT(installer->Apply(moved)->failed_owners, IsEmpty());
  EXPECT_EQ(fake.flows.count(Key("B")), 1U);
  EXPECT_EQ(fake.meters, (std::map<uint32_t, MeterRate>{{9, {10, 10}}}));
}

TEST(FlowInstallerTest, SetsGroupsOncePerConnection) {
  FakeSwitch fake;
  FlowTable desired = TableOf({{"a", "group:1", kPortA}});
  desired.AddGroup(1, "type=all");
  const auto installer = Connect(fake);
  ASSERT_TRUE(installer->Apply(desired).ok());
  EXPECT_EQ(fake.groups, (std::map<uint32_t, std::string>{{1, "type=all"}}));
  ASSERT_TRUE(installer->Apply(desired).ok());
  EXPECT_EQ(fake.group_changes, 1U);
  fake.Restart();
  ASSERT_TRUE(Connect(fake)->Apply(desired).ok());
  EXPECT_EQ(fake.groups.size(), 1U);
}

TEST(FlowInstallerTest, WhatTheFlowsDoNotDoIsReportedAndTheyAreInstalled) {
  FakeSwitch fake;
  FlowTable desired = TableOf({{"a", "1", kPortA}});
  desired.AddShortfall(kPortA, "too many");
  const absl::StatusOr<vswitch::ApplyResult> result = Connect(fake)->Apply(desired);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->failed_owners, (std::map<vswitch::Owner, std::string>{{kPortA, "too many"}}));
  EXPECT_THAT(fake.flows, SizeIs(1));
}

TEST(FlowInstallerTest, GivesUpWhenEverybodyIsRefused) {
  FakeSwitch fake;
  fake.refused_actions = "bad";
  std::vector<Wanted> flows;
  for (int i = 0; i < 100; ++i) {
    flows.push_back(
        {fmt::format("m{}", i), "bad", {.kind = vswitch::OwnerKind::kPort, .id = fmt::format("p{}", i)}});
  }
  const absl::StatusOr<vswitch::ApplyResult> result = Connect(fake)->Apply(TableOf(flows));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(fake.flows, IsEmpty());
}

TEST(FlowInstallerTest, AfterALostAcknowledgementTheNextConnectionFindsOut) {
  for (const bool applied : {false, true}) {
    FakeSwitch fake;
    fake.fail_call = 1;  // The dump succeeds, the commit does not.
    fake.apply_before_failing = applied;
    const FlowTable desired = TableOf({{"a", "1", kPortA}});
    EXPECT_EQ(Connect(fake)->Apply(desired).status().code(), absl::StatusCode::kUnavailable);
    const absl::StatusOr<vswitch::ApplyResult> again = Connect(fake)->Apply(desired);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->added, applied ? 0u : 1u);
    EXPECT_EQ(again->installed, 1u);
  }
}

}  // namespace
}  // namespace kasane::ovs
