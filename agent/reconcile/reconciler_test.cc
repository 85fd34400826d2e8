#include "agent/reconcile/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/reconcile/fake_datapath.h"
#include "base/status.h"
#include "kasane/v1/state.pb.h"
#include "model/decode.h"

namespace kasane::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

const PortId kPort("p1");
const IpAddress kPeer = *IpAddress::Parse("192.0.2.2");

// Records what the loop says.
class FakeLink final : public SyncLink {
 public:
  void SayHello(uint64_t /*stream*/, std::vector<model::HeldResource> held) override {
    hellos.push_back(std::move(held));
  }
  void ReportVerdicts(uint64_t /*stream*/, std::vector<model::Verdict> of) override {
    verdicts.insert(verdicts.end(), of.begin(), of.end());
  }
  void ReportApplied(uint64_t stream, AppliedReport report) override {
    applied_on.push_back(stream);
    applied.push_back(std::move(report));
  }
  void ReportObserved(uint64_t /*stream*/, std::vector<model::AddressClaim> claims) override {
    observed.insert(observed.end(), claims.begin(), claims.end());
  }
  void BatchHandled(uint64_t /*stream*/) override { ++handled; }
  void Refuse(uint64_t /*stream*/, std::string reason) override { refused.push_back(std::move(reason)); }

  std::vector<std::vector<model::HeldResource>> hellos;
  std::vector<model::Verdict> verdicts;
  std::vector<AppliedReport> applied;
  std::vector<model::AddressClaim> observed;
  std::vector<uint64_t> applied_on;
  int handled = 0;
  std::vector<std::string> refused;
};

void AddHost(v1::Batch& batch, const std::string& id, const std::string& address) {
  v1::Resource& resource = *batch.add_upserts();
  *resource.mutable_revision() = batch.revision();
  resource.mutable_host()->set_id(id);
  resource.mutable_host()->add_tunnel_addresses(address);
}

void AddNetwork(v1::Batch& batch, const std::string& id, uint32_t vni) {
  v1::Resource& resource = *batch.add_upserts();
  *resource.mutable_revision() = batch.revision();
  resource.mutable_network()->set_id(id);
  resource.mutable_network()->set_admin_state_up(true);
  resource.mutable_network()->set_provider_network_type("vxlan");
  resource.mutable_network()->set_provider_segmentation_id(vni);
}

void AddVm(v1::Batch& batch, const std::string& id, const std::string& mac, const std::string& host) {
  v1::Resource& resource = *batch.add_upserts();
  *resource.mutable_revision() = batch.revision();
  v1::Port& port = *resource.mutable_port();
  port.set_id(id);
  port.set_network_id("n1");
  port.set_admin_state_up(true);
  port.set_mac_address(mac);
  port.set_device_owner("compute:nova");
  port.set_binding_host_id(host);
}

v1::Batch EmptyBatch(uint64_t counter) {
  v1::Batch batch;
  batch.mutable_revision()->set_timeline("t1");
  batch.mutable_revision()->set_counter(counter);
  return batch;
}

// Port p1 on h1 and p2 on h2, on network n1.
v1::Batch FirstBatch(uint64_t counter) {
  v1::Batch batch = EmptyBatch(counter);
  AddHost(batch, "h1", "192.0.2.1");
  AddHost(batch, "h2", "192.0.2.2");
  AddNetwork(batch, "n1", 7);
  AddVm(batch, "p1", "fa:16:3e:00:00:01", "h1");
  AddVm(batch, "p2", "fa:16:3e:00:00:02", "h2");
  return batch;
}

class ReconcilerTest : public ::testing::Test {
 protected:
  ReconcilerTest()
      : reconciler_({HostId("h1"), {IpAddress::V4(0xc0000201), {}}, "127.0.0.1:6650"}, datapath_, datapath_,
                    link_) {
    MakeReady();
  }

  void MakeReady(uint64_t session = 1) {
    datapath_.Change([session](vswitch::DatapathFacts& facts) {
      facts.ready = true;
      facts.session = session;
      facts.attachments[kPort] = {"tap1", 5};
      facts.tunnels[kPeer] = vswitch::TunnelState{kPeer, true, {}, {}, ""};
    });
  }

  // Counts one step at the present moment.
  std::optional<Reconciler::Clock::time_point> Step(const std::vector<Event>& events) {
    return reconciler_.Step(events, now_);
  }
  Event BatchEvent(const v1::Batch& batch) const {
    return BatchArrived{stream_, std::make_shared<const v1::Batch>(batch)};
  }
  Event Complete(uint64_t counter) const { return SyncCompleted{stream_, {"t1", counter}}; }

  void Open() {
    ++stream_;
    Step({StreamOpened{stream_}});
    Step({Welcomed{stream_, "store", {"t1"}}});
  }
  void Sync() {
    Open();
    Step({BatchEvent(FirstBatch(5)), Complete(5)});
  }

  FakeDatapath datapath_;
  FakeLink link_;
  Reconciler reconciler_;
  Reconciler::Clock::time_point now_;
  uint64_t stream_ = 0;
};

TEST_F(ReconcilerTest, AppliesNothingBeforeTheFirstSyncComplete) {
  Step({DatapathChanged{}});
  Open();
  EXPECT_THAT(link_.hellos, ElementsAre(IsEmpty()));
  Step({BatchEvent(FirstBatch(5))});
  Step({DatapathChanged{}});
  EXPECT_THAT(datapath_.applied(), IsEmpty());
  EXPECT_THAT(link_.verdicts, SizeIs(5)) << "accepted is reported at once";
  EXPECT_THAT(link_.applied, IsEmpty()) << "accepted is not applied";
  EXPECT_EQ(link_.handled, 1);

  Step({Complete(6)});
  ASSERT_THAT(datapath_.applied(), SizeIs(1));
  EXPECT_EQ(datapath_.applied()[0].ports.count(kPort), 1);
  EXPECT_THAT(datapath_.wanted_tunnels(), ElementsAre(kPeer));
  EXPECT_THAT(link_.applied, ElementsAre(AppliedReport{{"t1", 6}, {kPort}, {}}));
}

TEST_F(ReconcilerTest, CoalescesAllThatWaits) {
  Sync();
  v1::Batch one = EmptyBatch(6);
  AddVm(one, "p3", "fa:16:3e:00:00:03", "h2");
  v1::Batch two = EmptyBatch(7);
  AddVm(two, "p4", "fa:16:3e:00:00:04", "h2");
  Step({BatchEvent(one), DatapathChanged{}, BatchEvent(two)});
  ASSERT_THAT(datapath_.applied(), SizeIs(2)) << "one for the sync, one for both batches";
  EXPECT_THAT(datapath_.applied()[1].endpoints, SizeIs(3));
  EXPECT_EQ(link_.applied.back().revision, (model::Revision{"t1", 7}));
}

TEST_F(ReconcilerTest, StateThatForwardsNothingNewCostsNoApply) {
  Sync();
  v1::Batch batch = EmptyBatch(6);
  AddNetwork(batch, "unrelated", 99);
  Step({BatchEvent(batch)});
  EXPECT_THAT(datapath_.applied(), SizeIs(1));
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 6}, {kPort}, {}})) << "it is in force all the same";
}

TEST_F(ReconcilerTest, AppliedIsSentOnlyWhenItChangedAndAgainOnANewStream) {
  Sync();
  Step({DatapathChanged{}});
  Step({});
  EXPECT_THAT(link_.applied, SizeIs(1));
  Step({StreamClosed{stream_, {"controller", "gone"}}});
  Open();
  EXPECT_THAT(link_.hellos.back(), SizeIs(5));
  EXPECT_THAT(link_.applied, SizeIs(1)) << "not before this stream is in sync";
  Step({Complete(5)});
  EXPECT_THAT(link_.applied_on, ElementsAre(1, 2));
  EXPECT_THAT(datapath_.applied(), SizeIs(1)) << "nothing changed for the switch";
}

TEST_F(ReconcilerTest, FailedApplyIsRetriedWithBackoffAndNotHot) {
  Open();
  datapath_.NextApply(Error(absl::StatusCode::kUnavailable, "connection reset"));
  datapath_.NextApply(Error(absl::StatusCode::kUnavailable, "connection reset"));
  std::optional<Reconciler::Clock::time_point> until = Step({BatchEvent(FirstBatch(5)), Complete(5)});
  ASSERT_EQ(until, now_ + milliseconds(200));
  EXPECT_THAT(link_.applied, IsEmpty());
  ASSERT_THAT(reconciler_.Snapshot()->problems, SizeIs(1));
  EXPECT_THAT(reconciler_.Snapshot()->problems[0].message, HasSubstr("connection reset"));

  v1::Batch batch = EmptyBatch(6);
  AddVm(batch, "p3", "fa:16:3e:00:00:03", "h2");
  EXPECT_EQ(Step({BatchEvent(batch)}), until);
  EXPECT_THAT(datapath_.applied(), SizeIs(1)) << "new state does not shorten the wait";

  now_ = *until;
  until = Step({});
  EXPECT_EQ(until, now_ + milliseconds(400));
  EXPECT_THAT(datapath_.applied(), SizeIs(2));

  now_ = *until;
  EXPECT_EQ(Step({}), std::nullopt);
  EXPECT_THAT(link_.applied, ElementsAre(AppliedReport{{"t1", 6}, {kPort}, {}}));
  EXPECT_THAT(reconciler_.Snapshot()->problems, IsEmpty());
}

TEST_F(ReconcilerTest, SwitchThatComesBackIsAppliedToAtOnce) {
  Sync();
  datapath_.Change([](vswitch::DatapathFacts& facts) { facts.ready = false; });
  Step({DatapathChanged{}});
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {}, {kPort}}));
  EXPECT_THAT(datapath_.applied(), SizeIs(1));

  datapath_.NextApply(Error(absl::StatusCode::kUnavailable, "not yet"));
  MakeReady(2);
  EXPECT_NE(Step({DatapathChanged{}}), std::nullopt);
  EXPECT_THAT(datapath_.applied(), SizeIs(2));
  MakeReady(3);
  EXPECT_EQ(Step({DatapathChanged{}}), std::nullopt) << "a new session does not wait for the back-off";
  EXPECT_THAT(datapath_.applied(), SizeIs(3));
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {kPort}, {}}));
}

TEST_F(ReconcilerTest, WaitsForTheSwitchWithoutATimer) {
  datapath_.Change([](vswitch::DatapathFacts& facts) { facts = {}; });
  Open();
  EXPECT_EQ(Step({BatchEvent(FirstBatch(5)), Complete(5)}), std::nullopt);
  EXPECT_THAT(datapath_.applied(), IsEmpty());
  EXPECT_THAT(link_.applied, IsEmpty());
  MakeReady();
  Step({DatapathChanged{}});
  EXPECT_THAT(link_.applied, ElementsAre(AppliedReport{{"t1", 5}, {kPort}, {}}));
}

TEST_F(ReconcilerTest, PluggingAPortAppliesAndActivatesIt) {
  datapath_.Change([](vswitch::DatapathFacts& facts) { facts.attachments.clear(); });
  Sync();
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {}, {kPort}}));
  MakeReady();
  Step({DatapathChanged{}});
  EXPECT_THAT(datapath_.applied(), SizeIs(2));
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {kPort}, {}}));
}

TEST_F(ReconcilerTest, TunnelThatBecomesReadyActivatesWithoutAnotherApply) {
  datapath_.Change([](vswitch::DatapathFacts& facts) { facts.tunnels.clear(); });
  Sync();
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {}, {kPort}}));
  MakeReady();
  Step({DatapathChanged{}});
  EXPECT_THAT(datapath_.applied(), SizeIs(1));
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {kPort}, {}}));
}

TEST_F(ReconcilerTest, RefusedOwnerIsAProblemAndItsPortDown) {
  Open();
  vswitch::ApplyResult result;
  result.failed_owners[{vswitch::OwnerKind::kPort, "p1"}] = "bad action";
  datapath_.NextApply(result);
  EXPECT_EQ(Step({BatchEvent(FirstBatch(5)), Complete(5)}), std::nullopt) << "not retried hot";
  EXPECT_EQ(link_.applied.back(), (AppliedReport{{"t1", 5}, {}, {kPort}}));
  ASSERT_THAT(reconciler_.Snapshot()->problems, SizeIs(1));
  EXPECT_EQ(reconciler_.Snapshot()->problems[0].subject, "port p1");
}

TEST_F(ReconcilerTest, RejectedResourceIsReportedAndShown) {
  Sync();
  v1::Batch batch = EmptyBatch(6);
  AddVm(batch, "p1", "not a mac", "h1");
  Step({BatchEvent(batch)});
  ASSERT_FALSE(link_.verdicts.back().faults.empty());
  EXPECT_EQ(link_.verdicts.back().faults[0].path, "port.mac_address");
  ASSERT_THAT(reconciler_.Snapshot()->rejected, SizeIs(1));
  EXPECT_THAT(reconciler_.Snapshot()->view->ports, SizeIs(1)) << "the last good version stays";
}

TEST_F(ReconcilerTest, AnotherDatabaseIsRefusedAndForwardingGoesOn) {
  Sync();
  Step({StreamClosed{stream_, {"controller", "gone"}}});
  ++stream_;
  Step({StreamOpened{stream_}});
  Step({Welcomed{stream_, "other", {"t9"}}});
  ASSERT_THAT(link_.refused, SizeIs(1));
  EXPECT_THAT(link_.refused[0], HasSubstr("kasanectl accept"));
  EXPECT_FALSE(reconciler_.Snapshot()->controller_connected);

  v1::Batch sweep = EmptyBatch(9);
  *sweep.add_deletes() = model::EncodeKey({model::Kind::kPort, "p1"});
  Step({BatchEvent(sweep), Complete(9)});
  EXPECT_THAT(datapath_.applied(), SizeIs(1));
  EXPECT_THAT(reconciler_.Snapshot()->view->ports, SizeIs(1));
  Step({StreamClosed{stream_, {"controller 127.0.0.1:6650", link_.refused[0]}}});
  EXPECT_THAT(reconciler_.Snapshot()->problems, SizeIs(1));
}

// What the operator accepts replaces what is held, once it is here whole.
TEST_F(ReconcilerTest, AnotherDatabaseThatIsAcceptedReplacesWhatIsHeld) {
  Sync();
  Step({StoreAccepted{}});
  Step({StreamClosed{stream_, {"controller", "gone"}}});
  ++stream_;
  Step({StreamOpened{stream_}});
  EXPECT_THAT(link_.hellos.back(), SizeIs(5)) << "accepting without a refusal does nothing";
  Step({Welcomed{stream_, "other", {"t9"}}});
  EXPECT_TRUE(reconciler_.Snapshot()->foreign_store);
  Step({StoreAccepted{}, StreamClosed{stream_, {"controller", "refused"}}});
  EXPECT_FALSE(reconciler_.Snapshot()->foreign_store);

  ++stream_;
  Step({StreamOpened{stream_}});
  EXPECT_THAT(link_.hellos.back(), IsEmpty());
  Step({Welcomed{stream_, "other", {"t9"}}});
  v1::Batch batch;
  batch.mutable_revision()->set_timeline("t9");
  batch.mutable_revision()->set_counter(1);
  AddHost(batch, "h1", "192.0.2.1");
  AddNetwork(batch, "n1", 7);
  AddVm(batch, "p3", "fa:16:3e:00:00:03", "h1");
  Step({BatchEvent(batch)});
  EXPECT_THAT(reconciler_.Snapshot()->view->ports, ElementsAre(Key(PortId("p1")))) << "not whole yet";
  Step({SyncCompleted{stream_, {"t9", 1}}});
  EXPECT_THAT(reconciler_.Snapshot()->view->ports, ElementsAre(Key(PortId("p3"))));
  EXPECT_THAT(reconciler_.Snapshot()->view->endpoints, IsEmpty());
}

// What the loop hands to the disk, as the disk would hold it.
class FakeDisk final : public StateSink {
 public:
  void Write(DiskChanges changes) override {
    for (auto& [key, bytes] : changes.resources) resources[key] = std::move(bytes);
    for (auto& [id, bytes] : changes.claims) claims[id] = std::move(bytes);
    if (changes.revision) revision = *changes.revision;
    ++writes;
  }
  std::string Problem() const override { return problem; }

  DiskContent Content() const {
    DiskContent content{{}, {}, revision, {}};
    for (const auto& entry : resources) {
      if (entry.second) content.resources.push_back(*entry.second);
    }
    for (const auto& entry : claims) {
      if (entry.second) content.claims.push_back(*entry.second);
    }
    return content;
  }

  std::map<model::ResourceKey, std::optional<std::string>> resources;
  std::map<AddressClaimId, std::optional<std::string>> claims;
  std::string revision;
  std::string problem;
  int writes = 0;
};

class RestartedReconcilerTest : public ReconcilerTest {
 protected:
  RestartedReconcilerTest() : first_(OptionsOf(), datapath_, datapath_, link_, &disk_) {}

  static ReconcilerOptions OptionsOf() {
    return {HostId("h1"), {IpAddress::V4(0xc0000201), {}}, "127.0.0.1:6650"};
  }
  void SyncFirst() {
    first_.Step({StreamOpened{1}}, now_);
    first_.Step({Welcomed{1, "store", {"t1"}}}, now_);
    first_.Step({BatchArrived{1, std::make_shared<const v1::Batch>(FirstBatch(5))}}, now_);
    EXPECT_EQ(disk_.writes, 0) << "not whole yet";
    first_.Step({SyncCompleted{1, {"t1", 5}}}, now_);
  }

  FakeDisk disk_;
  Reconciler first_;
};

TEST_F(RestartedReconcilerTest, ForwardsWhatTheDiskHeldWithoutTheController) {
  SyncFirst();
  EXPECT_EQ(disk_.writes, 1);
  v1::Batch change = EmptyBatch(6);
  AddVm(change, "p3", "fa:16:3e:00:00:03", "h1");
  *change.add_deletes() = model::EncodeKey({model::Kind::kPort, "p2"});
  first_.Step({BatchArrived{1, std::make_shared<const v1::Batch>(change)}}, now_);
  EXPECT_EQ(disk_.writes, 2);
  first_.Step({DatapathChanged{}}, now_);
  EXPECT_EQ(disk_.writes, 2) << "nothing changed";

  const size_t applied = datapath_.applied().size();
  reconciler_.Restore(disk_.Content());
  Step({});
  ASSERT_THAT(datapath_.applied(), SizeIs(applied + 1));
  EXPECT_EQ(*reconciler_.Snapshot()->view, *first_.Snapshot()->view);
  EXPECT_EQ(reconciler_.Snapshot()->applied->counter, 6U);
  EXPECT_FALSE(reconciler_.Snapshot()->synced);

  Open();
  EXPECT_THAT(link_.hellos.back(), SizeIs(5)) << "the controller sends only what is missing";
}

TEST_F(RestartedReconcilerTest, WhatTheDiskLostIsAProblemUntilItIsHereAgain) {
  SyncFirst();
  DiskContent content = disk_.Content();
  content.losses = {"agent.db: port p2 is damaged"};
  content.resources.back() = "no resource";
  reconciler_.Restore(content);
  Step({});
  EXPECT_THAT(reconciler_.Snapshot()->problems, SizeIs(2));
  Open();
  Step({BatchEvent(FirstBatch(5)), Complete(5)});
  EXPECT_THAT(reconciler_.Snapshot()->problems, IsEmpty());
}

TEST_F(RestartedReconcilerTest, ADiskThatCannotBeWrittenIsAProblem) {
  disk_.problem = "agent.db cannot be written: disk full";
  SyncFirst();
  EXPECT_THAT(first_.Snapshot()->problems, ElementsAre(vswitch::Problem{"state on the disk", disk_.problem}));
}

TEST_F(ReconcilerTest, EventsOfAnEarlierStreamAreIgnored) {
  Sync();
  v1::Batch late = EmptyBatch(6);
  *late.add_deletes() = model::EncodeKey({model::Kind::kPort, "p1"});
  const Event old = BatchEvent(late);
  Step({StreamClosed{stream_, {"controller", "gone"}}});
  Open();
  Step({old});
  Step({Complete(6)});
  EXPECT_THAT(reconciler_.Snapshot()->view->ports, SizeIs(1));
}

TEST_F(ReconcilerTest, SnapshotFollows) {
  EXPECT_FALSE(reconciler_.Snapshot()->controller_connected);
  EXPECT_FALSE(reconciler_.Snapshot()->applied);
  vswitch::ApplyResult result;
  result.installed = 42;
  datapath_.NextApply(result);
  Sync();
  const auto snapshot = reconciler_.Snapshot();
  EXPECT_TRUE(snapshot->controller_connected && snapshot->synced);
  EXPECT_EQ(snapshot->received, (model::Revision{"t1", 5}));
  EXPECT_EQ(snapshot->applied, (model::Revision{"t1", 5}));
  EXPECT_EQ(snapshot->flows, 42);
  EXPECT_TRUE(snapshot->ports.at(kPort).active);
  EXPECT_THAT(snapshot->state->ports, SizeIs(2));
  Step({StreamClosed{stream_, {"controller 127.0.0.1:6650", "gone"}}});
  EXPECT_FALSE(reconciler_.Snapshot()->synced);
  EXPECT_THAT(reconciler_.Snapshot()->problems,
              ElementsAre(vswitch::Problem{"controller 127.0.0.1:6650", "gone"}));
  EXPECT_TRUE(reconciler_.Snapshot()->ports.at(kPort).active) << "a lost controller changes nothing";
}

TEST(RunReconcilerTest, RunsUntilTheQueueIsClosed) {
  EventQueue queue;
  FakeDatapath datapath([&queue] { queue.Push(DatapathChanged{}); });
  FakeLink link;
  Reconciler reconciler({HostId("h1"), {}, "c"}, datapath, datapath, link);
  queue.Push(StreamClosed{1, {"controller c", "gone"}});
  std::thread loop([&] { RunReconciler(reconciler, queue); });
  datapath.Change([](vswitch::DatapathFacts& facts) { facts.ready = true; });
  // The loop takes in both, in one step or in two, and tells nobody when.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  auto snapshot = reconciler.Snapshot();
  while ((!snapshot->facts->ready || snapshot->problems.empty()) &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    snapshot = reconciler.Snapshot();
  }
  queue.Close();
  loop.join();
  EXPECT_TRUE(snapshot->facts->ready);
  EXPECT_THAT(snapshot->problems, Contains(vswitch::Problem{"controller c", "gone"}));
}

TEST_F(ReconcilerTest, AnAnnouncementIsAppliedAtOnceAndReported) {
  Open();
  v1::Batch batch = FirstBatch(1);
  for (v1::Resource& resource : *batch.mutable_upserts()) {
    if (!resource.has_port()) continue;
    resource.mutable_port()->set_port_security_enabled(true);
    resource.mutable_port()->add_allowed_address_pairs()->set_ip_address("10.0.0.9");
  }
  Step({BatchEvent(batch), Complete(1)});
  const IpAddress vip = *IpAddress::Parse("10.0.0.9");
  const auto mac = [](int n) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, static_cast<uint8_t>(n)}); };
  const auto claimer = [&] { return reconciler_.Snapshot()->view->claims.at({NetworkId("n1"), vip}).port; };

  Step({AddressAnnounced{{NetworkId("n1"), vip, mac(1), kPort}}});
  EXPECT_EQ(claimer(), kPort);
  ASSERT_THAT(link_.observed, SizeIs(1));
  EXPECT_EQ(link_.observed[0].sequence, 1U);

  // By a port elsewhere: followed without a word of the controller, and reported by its own host.
  Step({AddressAnnounced{{NetworkId("n1"), vip, mac(2), PortId("p2")}}});
  EXPECT_EQ(claimer(), PortId("p2"));
  EXPECT_THAT(link_.observed, SizeIs(1));

  // Who may not have it changes nothing.
  Step({AddressAnnounced{{NetworkId("n1"), *IpAddress::Parse("10.0.0.10"), mac(2), PortId("p2")}}});
  EXPECT_THAT(reconciler_.Snapshot()->view->claims, SizeIs(1));
}

}  // namespace
}  // namespace kasane::agent
