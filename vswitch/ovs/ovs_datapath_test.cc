#include "vswitch/ovs/ovs_datapath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/ovs/openflow/fake_channel.h"
#include "vswitch/ovs/tunnel_neighbours.h"

namespace kasane::ovs {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class FakeMonitor : public SwitchMonitor {
 public:
  void Start(std::function<void()> on_change) override { on_change_ = std::move(on_change); }
  void Stop() override {}
  std::shared_ptr<const SwitchState> State() const override { return state_; }
  void Reconnect() override {
    ++reconnects;
    SwitchState next = *state_;
    ++next.session;
    Set(next);
  }
  void Set(const SwitchState& state) {
    state_ = std::make_shared<SwitchState>(state);
    on_change_();
  }

  int reconnects = 0;

 private:
  std::function<void()> on_change_;
  std::shared_ptr<const SwitchState> state_ = std::make_shared<SwitchState>();
};

class FakeKeeper : public underlay::NeighbourKeeper {
 public:
  void Start(std::function<void()>) override {}
  void Stop() override {}
  void Want(std::vector<IpAddress> remotes) override {
    underlay::TunnelStates states;
    for (const IpAddress& remote : remotes) states[remote].remote = remote;
    states_ = std::make_shared<underlay::TunnelStates>(states);
  }
  void SetEgress(underlay::Egress) override {}
  std::shared_ptr<const underlay::TunnelStates> States() const override { return states_; }

 private:
  std::shared_ptr<const underlay::TunnelStates> states_ = std::make_shared<underlay::TunnelStates>();
};

// A flow per plugged port: enough to see bindings go in and owners come out.
FlowTable CompilePorts(const tables::ForwardingTables&, const Bindings& bindings) {
  FlowTable table;
  for (const auto& [port, number] : bindings.ports) {
    table.Add({.table = Table::kInput, .priority = 100, .match = fmt::format("in_port={}", number)},
              {.actions = "drop",
               .owner = {.kind = vswitch::OwnerKind::kPort, .id = port.str()},
               .drop = vswitch::DropReason::kAdminDown});
  }
  return table;
}

SwitchState Ready() {
  SwitchState state;
  state.ready = true;
  state.session = 1;
  state.datapath_type = "netdev";
  state.attachments[PortId("port-1")] = {.interface = "tap1", .number = 4};
  return state;
}

class OvsDatapathTest : public ::testing::Test {
 protected:
  OvsDatapathTest() {
    OvsDatapath::Parts parts;
    parts.compile = CompilePorts;
    parts.open_channel = [this] { return switch_.Connect(); };
    auto monitor = std::make_unique<FakeMonitor>();
    monitor_ = monitor.get();
    parts.monitor = std::move(monitor);
    parts.keeper = std::make_unique<FakeKeeper>();
    datapath_ = std::make_unique<OvsDatapath>(std::move(parts), [this] { ++events_; });
  }

  FakeSwitch switch_;
  FakeMonitor* monitor_ = nullptr;
  int events_ = 0;
  std::unique_ptr<OvsDatapath> datapath_;
};

TEST_F(OvsDatapathTest, FactsFollowTheSwitchAndOnlyChangesAreEvents) {
  EXPECT_FALSE(datapath_->Facts()->ready);
  monitor_->Set(Ready());
  monitor_->Set(Ready());
  EXPECT_EQ(events_, 1);
  EXPECT_TRUE(datapath_->Facts()->ready);
  EXPECT_EQ(datapath_->Facts()->attachments.at(PortId("port-1")).number, 4u);
  EXPECT_EQ(datapath_->Name(), "ovs (netdev)");
}

TEST_F(OvsDatapathTest, RefusesToApplyUntilReadyAndSaysWhy) {
  SwitchState state;
  state.problems = {{"ovs", "is not installed"}};
  monitor_->Set(state);
  const absl::Status status = datapath_->Apply(vswitch::HostView()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("ovs: is not installed"));
  EXPECT_EQ(switch_.connections, 0u);
}

TEST_F(OvsDatapathTest, DumpNamesOwnerStageAndDropReason) {
  monitor_->Set(Ready());
  ASSERT_TRUE(datapath_->Apply(vswitch::HostView()).ok());
  switch_.flows[{.table = static_cast<Table>(77), .priority = 1, .match = ""}] = {.actions = "DROP",
                                                                                  .cookie = 0};
  const absl::StatusOr<std::vector<vswitch::InstalledEntry>> entries = datapath_->Dump();
  ASSERT_TRUE(entries.ok());
  ASSERT_THAT(*entries, SizeIs(2));
  const vswitch::InstalledEntry& entry = entries->front();
  EXPECT_EQ(entry.owner, (vswitch::Owner{.kind = vswitch::OwnerKind::kPort, .id = "port-1"}));
  EXPECT_EQ(entry.stage, "input");
  EXPECT_EQ(entry.key, "priority=100,IN_PORT=4");
  EXPECT_EQ(entry.native, "table=0,priority=100,IN_PORT=4 actions=DROP");
  EXPECT_EQ(entry.drop_reason, vswitch::DropReason::kAdminDown);
  EXPECT_EQ(entry.packets, 7u);
  EXPECT_EQ(entries->back().native, "table=77,priority=1 actions=DROP")
      << "what an older or newer pipeline left is shown too";
  EXPECT_EQ(entries->back().stage, "unknown");
}

TEST_F(OvsDatapathTest, CompareFindsWhatIsMissingExtraAndDifferent) {
  monitor_->Set(Ready());
  ASSERT_TRUE(datapath_->Apply(vswitch::HostView()).ok());
  EXPECT_THAT(*datapath_->Compare(vswitch::HostView()), SizeIs(0));

  const auto installed = switch_.flows.begin();
  installed->second.actions = "NORMAL";
  switch_.flows[{.table = Table::kL2, .priority = 1, .match = ""}] = {.actions = "FLOOD", .cookie = 0};
  const auto differences = datapath_->Compare(vswitch::HostView());
  ASSERT_TRUE(differences.ok());
  ASSERT_THAT(*differences, SizeIs(2));
  EXPECT_EQ(differences->front().kind, vswitch::Discrepancy::Kind::kExtra);
  EXPECT_EQ(differences->front().entry.action, "FLOOD");
  EXPECT_EQ(differences->back().kind, vswitch::Discrepancy::Kind::kDifferent);
  EXPECT_EQ(differences->back().entry.owner,
            (vswitch::Owner{.kind = vswitch::OwnerKind::kPort, .id = "port-1"}));

  switch_.flows.clear();
  const auto missing = datapath_->Compare(vswitch::HostView());
  ASSERT_THAT(*missing, SizeIs(1));
  EXPECT_EQ(missing->front().kind, vswitch::Discrepancy::Kind::kMissing);
  EXPECT_THAT(switch_.flows, SizeIs(0)) << "comparing changes nothing";
}

TEST_F(OvsDatapathTest, ARestartedSwitchIsFilledAgain) {
  monitor_->Set(Ready());
  ASSERT_TRUE(datapath_->Apply(vswitch::HostView()).ok());
  switch_.Restart();
  SwitchState restarted = Ready();
  restarted.session = 2;
  restarted.attachments[PortId("port-1")].number = 9;
  monitor_->Set(restarted);
  const absl::StatusOr<vswitch::ApplyResult> result = datapath_->Apply(vswitch::HostView());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->added, 1u);
  EXPECT_EQ(switch_.flows.begin()->first.match, "IN_PORT=9");
  EXPECT_EQ(switch_.connections, 2u);
}

TEST_F(OvsDatapathTest, ALostConnectionChangesTheSessionAndIsRepaired) {
  monitor_->Set(Ready());
  switch_.fail_call = 1;
  EXPECT_EQ(datapath_->Apply(vswitch::HostView()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(monitor_->reconnects, 1);
  EXPECT_EQ(datapath_->Facts()->session, 2u);
  ASSERT_TRUE(datapath_->Apply(vswitch::HostView()).ok());
  EXPECT_THAT(switch_.flows, SizeIs(1));
}

TEST_F(OvsDatapathTest, ARefusedOwnerIsReportedAndCostsNoSession) {
  monitor_->Set(Ready());
  switch_.refused_actions = "drop";
  const absl::StatusOr<vswitch::ApplyResult> result = datapath_->Apply(vswitch::HostView());
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->failed_owners, SizeIs(1));
  EXPECT_EQ(monitor_->reconnects, 0);
}

TEST(ParseTunnelNeighboursTest, ReadsTheTableOfTheSwitch) {
  const std::string text =
      "IP                                            MAC                 Bridge\n"
      "==========================================================================\n"
      "10.0.0.2                                      aa:bb:cc:00:00:02   br-phy\n"
      "fd00::2                                       aa:bb:cc:00:00:03   br-phy\n"
      "10.0.0.3                                      aa:bb:cc:00:00:04   br-phy STALE\n";
  const underlay::CachedNeighbours neighbours = ParseTunnelNeighbours(text);
  ASSERT_THAT(neighbours, SizeIs(2));
  EXPECT_EQ(neighbours.at({"br-phy", *IpAddress::Parse("10.0.0.2")}), *MacAddress::Parse("aa:bb:cc:00:00:02"));
  EXPECT_EQ(neighbours.at({"br-phy", *IpAddress::Parse("fd00::2")}), *MacAddress::Parse("aa:bb:cc:00:00:03"));
}

}  // namespace
}  // namespace kasane::ovs
