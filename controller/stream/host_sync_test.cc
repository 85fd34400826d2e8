#include "controller/stream/host_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/store/delete.h"
#include "controller/store/state_hub.h"
#include "controller/test_support.h"
#include "kasane/v1/state.pb.h"

namespace kasane::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The small topology, and a VM of hv2 alone on a network.
class HostSyncTest : public testing::Test {
 protected:
  HostSyncTest() {
    store_ = *Store::Open(directory_.File("controller.db"));
    hub_ = *StateHub::Load(*store_, 0, {});
    Apply(kSmallTopology);
    Apply(R"(
networks: [{id: n3, provider:segmentation_id: 103}]
ports: [{id: p3, network_id: n3, mac_address: "fa:16:3e:00:00:03", device_owner: "compute:nova", binding:host_id: hv2}]
)");
  }

  void Apply(const std::string& yaml) {
    const absl::Status status = ApplyTo(*hub_, RequestFrom(yaml)).status();
    ASSERT_TRUE(status.ok()) << Message(status);
  }

  void Delete(std::vector<model::ResourceKey> keys) {
    v1::DeleteRequest request;
    for (const model::ResourceKey& key : keys) *request.add_items()->mutable_key() = model::EncodeKey(key);
    v1::DeleteResponse reply;
    const auto nobody = [](const HostId&) { return false; };
    const absl::Status status = controller::Delete(*hub_, nobody, request, 100, reply);
    ASSERT_TRUE(status.ok()) << Message(status);
  }

  // "+port p1", "-port p2"
  static std::vector<std::string> Texts(const v1::Batch& batch) {
    std::vector<std::string> texts;
    for (const v1::Resource& resource : batch.upserts())
      texts.push_back("+" + ToString(*model::DecodeKey(resource)));
    for (const v1::ResourceKey& key : batch.deletes()) texts.push_back("-" + ToString(*model::DecodeKey(key)));
    return texts;
  }

  std::vector<std::string> Start(HostSync& sync,
                                 const std::map<model::ResourceKey, model::Revision>& held = {}) {
    last_ = hub_->snapshot()->revision.counter;
    std::vector<std::string> texts;
    for (const v1::Batch& batch : sync.Start(hub_->snapshot(), held)) {
      for (const std::string& text : Texts(batch)) texts.push_back(text);
    }
    return texts;
  }

  std::optional<v1::Batch> Next(HostSync& sync) {
    std::vector<v1::Batch> batches = sync.Next(hub_->snapshot(), hub_->TouchedSince(last_));
    last_ = hub_->snapshot()->revision.counter;
    EXPECT_LE(batches.size(), 1U);
    return batches.empty() ? std::nullopt : std::optional(batches.front());
  }

  std::map<model::ResourceKey, model::Revision> HeldNow(const HostId&) const {
    std::map<model::ResourceKey, model::Revision> held;
    for (const auto& [key, resource] : hub_->snapshot()->resources) {
      held[key] = model::DecodeRevision(resource->revision());
    }
    return held;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StateHub> hub_;
  uint64_t last_ = 0;
};

TEST_F(HostSyncTest, FirstSendsTheScope) {
  HostSync sync(HostId("hv2"), true);
  EXPECT_THAT(Start(sync), ElementsAre("+network n3", "+port p3"));
}

TEST_F(HostSyncTest, SendsOnlyWhatIsNotHeldInTheSameRevision) {
  HostSync sync(HostId("hv1"), true);
  std::map<model::ResourceKey, model::Revision> held = HeldNow(HostId("hv1"));
  // Held and not in scope: n3, p3, and what lies on the external network.
  EXPECT_THAT(Start(sync, held), ElementsAre("-network n3", "-subnet se", "-port p3", "-port pf", "-port pg"));
  held[{model::Kind::kPort, "p1"}].counter -= 1;
  held[{model::Kind::kPort, "p2"}].timeline = "of another store";
  held.erase({model::Kind::kRouter, "r1"});
  held.erase({model::Kind::kSubnet, "se"});
  held[{model::Kind::kPort, "deleted long ago"}] = {"t", 3};
  EXPECT_THAT(Start(sync, held), ElementsAre("+port p1", "+port p2", "+router r1", "-network n3",
                                             "-port deleted long ago", "-port p3", "-port pf", "-port pg"));
}

TEST_F(HostSyncTest, SplitsTheFirstSynchronisation) {
  std::string yaml = "ports:\n";
  for (int i = 0; i < 4000; ++i) {
    yaml += fmt::format(
        "- {{id: filler-{0}, name: {2}, network_id: n3, mac_address: \"fa:16:3e:01:{1:02x}:{3:02x}\"}}\n", i,
        i / 256, std::string(250, 'x'), i % 256);
  }
  Apply(yaml);
  HostSync sync(HostId("hv2"), true);
  const std::vector<v1::Batch> batches = sync.Start(hub_->snapshot(), {});
  EXPECT_THAT(batches, SizeIs(testing::Gt(1U)));
  int upserts = 0;
  for (const v1::Batch& batch : batches) {
    EXPECT_LT(batch.ByteSizeLong(), HostSync::kBatchBytes * 11 / 10);
    EXPECT_EQ(batch.revision().counter(), hub_->snapshot()->revision.counter);
    upserts += batch.upserts_size();
  }
  EXPECT_EQ(upserts, 4002);
}

// About 3 MB in one transaction.
std::string LargeTransaction() {
  std::string yaml = "ports:\n";
  for (int i = 0; i < 12'000; ++i) {
    yaml += fmt::format("- {{id: q{}, name: {}, network_id: n3, mac_address: \"fa:16:3e:01:{:02x}:{:02x}\"}}\n",
                        i, std::string(200, 'x'), i / 256, i % 256);
  }
  return yaml;
}

TEST_F(HostSyncTest, ALargeTransactionGoesInPartsToAnAgentThatTakesThem) {
  HostSync takes(HostId("hv2"), true);
  HostSync does_not(HostId("hv2"), false);
  Start(takes);
  Start(does_not);
  Apply(LargeTransaction());
  const std::vector<v1::Batch> parts = takes.Next(hub_->snapshot(), std::nullopt);
  ASSERT_GE(parts.size(), 3U);
  int upserts = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LT(parts[i].ByteSizeLong(), HostSync::kBatchBytes * 11 / 10);
    EXPECT_EQ(parts[i].more(), i + 1 < parts.size());
    upserts += parts[i].upserts_size();
  }
  const std::vector<v1::Batch> whole = does_not.Next(hub_->snapshot(), std::nullopt);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_FALSE(whole.front().more());
  EXPECT_EQ(whole.front().upserts_size(), upserts);
}

TEST_F(HostSyncTest, ThenSendsWhatChanged) {
  HostSync sync(HostId("hv2"), true);
  Start(sync);
  EXPECT_EQ(Next(sync), std::nullopt);
  Apply("networks: [{id: n3, name: renamed, provider:segmentation_id: 103}]");
  const std::optional<v1::Batch> batch = Next(sync);
  ASSERT_TRUE(batch);
  EXPECT_THAT(Texts(*batch), ElementsAre("+network n3"));
  EXPECT_EQ(batch->upserts(0).network().name(), "renamed");
  EXPECT_EQ(model::DecodeRevision(batch->revision()), hub_->snapshot()->revision);
}

TEST_F(HostSyncTest, SendsNothingOfWhatIsOutOfScope) {
  HostSync sync(HostId("hv2"), true);
  Start(sync);
  Apply("networks: [{id: n1, name: renamed, provider:segmentation_id: 101}]");
  EXPECT_EQ(Next(sync), std::nullopt);
}

TEST_F(HostSyncTest, SendsWhatEntersAndLeavesTheScope) {
  HostSync sync(HostId("hv2"), true);
  Start(sync);
  const std::string p2 =
      "ports: [{id: p2, name: vm2, network_id: n2, mac_address: \"fa:16:3e:00:00:02\", device_owner: "
      "\"compute:nova\", "
      "fixed_ips: [{subnet_id: s2, ip_address: 10.0.2.5}], binding:host_id: ";
  Apply(p2 + "hv2}]");
  EXPECT_THAT(Texts(*Next(sync)),
              ElementsAre("+host hv1", "+network ext", "+network n1", "+network n2", "+subnet s1", "+subnet s2",
                          "+port i1", "+port i2", "+port p1", "+port p2", "+router r1"));
  Apply(p2 + "hv1}]");
  EXPECT_THAT(Texts(*Next(sync)),
              ElementsAre("-host hv1", "-network ext", "-network n1", "-network n2", "-subnet s1", "-subnet s2",
                          "-port i1", "-port i2", "-port p1", "-port p2", "-router r1"));
}

TEST_F(HostSyncTest, SendsAHostThatComesIntoBeing) {
  HostSync sync(HostId("hv2"), true);
  Start(sync);
  Apply("hosts: [{id: hv2, tunnel_addresses: [192.0.2.2]}]");
  EXPECT_THAT(Texts(*Next(sync)), ElementsAre("+host hv2"));
}

TEST_F(HostSyncTest, ASlowAgentGetsTheNewestOfManyTransactionsInOneBatch) {
  HostSync sync(HostId("hv2"), true);
  Start(sync);
  for (int i = 0; i < 100; ++i) {
    Apply(fmt::format("networks: [{{id: n3, name: v{}, provider:segmentation_id: 103}}]", i));
  }
  Delete({{model::Kind::kPort, "p3"}});
  EXPECT_THAT(Texts(*Next(sync)), ElementsAre("-network n3", "-port p3"));
  EXPECT_EQ(Next(sync), std::nullopt);
}

}  // namespace
}  // namespace kasane::controller
