#include "agent/sync/state_store.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "kasane/v1/state.pb.h"

namespace kasane::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

const model::ResourceKey kNet1{model::Kind::kNetwork, "n1"};
const model::ResourceKey kNet2{model::Kind::kNetwork, "n2"};

// A batch of timeline "t1" at `counter`.
v1::Batch BatchAt(uint64_t counter, const std::string& timeline = "t1") {
  v1::Batch batch;
  batch.mutable_revision()->set_timeline(timeline);
  batch.mutable_revision()->set_counter(counter);
  return batch;
}

void AddNetwork(v1::Batch& batch, const std::string& id, const std::string& name, uint32_t vni = 7) {
  v1::Resource& resource = *batch.add_upserts();
  *resource.mutable_revision() = batch.revision();
  v1::Network& network = *resource.mutable_network();
  network.set_id(id);
  network.set_name(name);
  network.set_provider_network_type("vxlan");
  network.set_provider_segmentation_id(vni);
}

void AddDelete(v1::Batch& batch, const model::ResourceKey& key) {
  *batch.add_deletes() = model::EncodeKey(key);
}

class StateStoreTest : public ::testing::Test {
 protected:
  // A first session that ends in sync with networks n1 and n2 at revision 5.
  void Sync() {
    ASSERT_TRUE(store_.Begin({"t1"}).ok());
    v1::Batch batch = BatchAt(5);
    AddNetwork(batch, "n1", "one");
    AddNetwork(batch, "n2", "two", 8);
    store_.Apply(batch);
    store_.SyncComplete({"t1", 5});
  }

  StateStore store_;
};

TEST_F(StateStoreTest, PublishesNothingBeforeSyncComplete) {
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch batch = BatchAt(5);
  AddNetwork(batch, "n1", "one");
  const BatchResult result = store_.Apply(batch);
  EXPECT_THAT(result.verdicts, ElementsAre(model::Verdict{kNet1, {"t1", 5}, {}}));
  EXPECT_EQ(store_.Snapshot(), nullptr);

  store_.SyncComplete({"t1", 6});
  ASSERT_NE(store_.Snapshot(), nullptr);
  EXPECT_THAT(store_.Snapshot()->networks, ElementsAre(Key(NetworkId("n1"))));
  EXPECT_EQ(store_.revision(), (model::Revision{"t1", 6}));
}

TEST_F(StateStoreTest, UnchangedResourcesStayPointerEqual) {
  Sync();
  const auto before = store_.Snapshot();
  v1::Batch batch = BatchAt(6);
  AddNetwork(batch, "n2", "renamed", 8);
  store_.Apply(batch);
  const auto after = store_.Snapshot();
  EXPECT_EQ(after->networks.at(NetworkId("n1")), before->networks.at(NetworkId("n1")));
  EXPECT_NE(after->networks.at(NetworkId("n2")), before->networks.at(NetworkId("n2")));
  EXPECT_EQ(before->networks.at(NetworkId("n2"))->name, "two") << "a published snapshot never changes";
}

TEST_F(StateStoreTest, SameContentUnderANewRevisionIsTheSameSnapshot) {
  Sync();
  const auto before = store_.Snapshot();
  v1::Batch batch = BatchAt(9);
  AddNetwork(batch, "n1", "one");
  store_.Apply(batch);
  EXPECT_EQ(store_.Snapshot(), before);
  EXPECT_EQ(store_.revision(), (model::Revision{"t1", 9}));
  EXPECT_THAT(store_.Held(),
              ElementsAre(model::HeldResource{kNet1, {"t1", 9}}, model::HeldResource{kNet2, {"t1", 5}}));
}

TEST_F(StateStoreTest, RejectedKeepsItsLastGoodVersion) {
  Sync();
  v1::Batch batch = BatchAt(6);
  AddNetwork(batch, "n1", "broken", 1 << 24);
  AddNetwork(batch, "n2", "fine", 8);
  const BatchResult result = store_.Apply(batch);
  ASSERT_EQ(result.verdicts.size(), 2);
  ASSERT_EQ(result.verdicts[0].faults.size(), 1);
  EXPECT_EQ(result.verdicts[0].faults[0].path, "network.provider:segmentation_id");
  EXPECT_THAT(result.verdicts[1].faults, IsEmpty()) << "one bad resource never blocks a good one";

  EXPECT_EQ(store_.Snapshot()->networks.at(NetworkId("n1"))->name, "one");
  EXPECT_EQ(store_.Snapshot()->networks.at(NetworkId("n2"))->name, "fine");
  EXPECT_THAT(store_.rejected(), ElementsAre(Key(kNet1)));
  EXPECT_EQ(store_.Held()[0], (model::HeldResource{kNet1, {"t1", 5}})) << "Hello tells the version in force";

  v1::Batch fixed = BatchAt(7);
  AddNetwork(fixed, "n1", "fixed");
  store_.Apply(fixed);
  EXPECT_EQ(store_.Snapshot()->networks.at(NetworkId("n1"))->name, "fixed");
  EXPECT_THAT(store_.rejected(), IsEmpty());
}

TEST_F(StateStoreTest, DeletesWaitForSyncCompleteOnlyWhileSyncing) {
  Sync();
  store_.End();
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch difference = BatchAt(8);
  AddDelete(difference, kNet1);
  store_.Apply(difference);
  EXPECT_EQ(store_.Snapshot()->networks.size(), 2) << "nothing is swept before SyncComplete";
  store_.SyncComplete({"t1", 8});
  EXPECT_THAT(store_.Snapshot()->networks, ElementsAre(Key(NetworkId("n2"))));

  v1::Batch transaction = BatchAt(9);
  AddDelete(transaction, kNet2);
  store_.Apply(transaction);
  EXPECT_THAT(store_.Snapshot()->networks, IsEmpty());
  EXPECT_THAT(store_.Held(), IsEmpty());
}

TEST_F(StateStoreTest, SyncThatBreaksOffPublishesAndDeletesNothing) {
  Sync();
  store_.End();
  const auto before = store_.Snapshot();
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch difference = BatchAt(8);
  AddNetwork(difference, "n3", "three", 9);
  AddDelete(difference, kNet1);
  store_.Apply(difference);
  store_.End();
  EXPECT_EQ(store_.Snapshot(), before);
  EXPECT_EQ(store_.Held().size(), 3)
      << "what arrived need not be sent again; what was not deleted is still held";

  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch again = BatchAt(9);
  AddDelete(again, kNet2);
  store_.Apply(again);
  store_.SyncComplete({"t1", 9});
  EXPECT_THAT(store_.Snapshot()->networks, ElementsAre(Key(NetworkId("n1")), Key(NetworkId("n3"))))
      << "the delete of the broken session is not remembered";
}

TEST_F(StateStoreTest, UpsertAfterADeleteKeptBackWins) {
  Sync();
  store_.End();
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch first = BatchAt(8);
  AddDelete(first, kNet1);
  store_.Apply(first);
  v1::Batch second = BatchAt(9);
  AddNetwork(second, "n1", "back");
  store_.Apply(second);
  store_.SyncComplete({"t1", 9});
  EXPECT_EQ(store_.Snapshot()->networks.at(NetworkId("n1"))->name, "back");
}

TEST_F(StateStoreTest, RejectionsNotRepeatedBySyncAreForgotten) {
  Sync();
  v1::Batch batch = BatchAt(6);
  AddNetwork(batch, "n3", "never good", 1 << 24);
  store_.Apply(batch);
  EXPECT_THAT(store_.rejected(), ElementsAre(Key(model::ResourceKey{model::Kind::kNetwork, "n3"})));
  store_.End();
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  store_.SyncComplete({"t1", 7});
  EXPECT_THAT(store_.rejected(), IsEmpty()) << "it was never held, so its departure is not told by a delete";
}

TEST_F(StateStoreTest, RefusesAStoreThatDoesNotKnowItsTimeline) {
  Sync();
  store_.End();
  EXPECT_TRUE(store_.Begin({"t0", "t1", "t2"}).ok());
  store_.End();
  const absl::Status status = store_.Begin({"t0", "t2"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("timeline t1, which network n1 came from"));
  EXPECT_EQ(store_.Snapshot()->networks.size(), 2);
}

TEST_F(StateStoreTest, AnEmptyAgentTakesAnyStore) { EXPECT_TRUE(store_.Begin({"whatever"}).ok()); }

TEST_F(StateStoreTest, NamelessAndUnrevisionedResourcesAreFaults) {
  ASSERT_TRUE(store_.Begin({"t1"}).ok());
  v1::Batch batch = BatchAt(5);
  batch.add_upserts();
  batch.add_deletes();
  AddNetwork(batch, "n1", "one");
  batch.mutable_upserts(1)->clear_revision();
  const BatchResult result = store_.Apply(batch);
  ASSERT_EQ(result.unnamed.size(), 2);
  EXPECT_EQ(result.unnamed[0].path, "upserts[0]");
  EXPECT_EQ(result.unnamed[1].path, "deletes[0]");
  ASSERT_EQ(result.verdicts.size(), 1);
  EXPECT_EQ(result.verdicts[0].faults[0].path, "network.revision");
}

}  // namespace
}  // namespace kasane::agent
