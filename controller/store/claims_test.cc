#include "controller/store/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/store/delete.h"
#include "controller/stream/host_sync.h"
#include "controller/test_support.h"
#include "kasane/v1/state.pb.h"
#include "model/scope.h"

namespace kasane::controller {
namespace {

// The small topology, and p9 of hv2 on n1, which may also have 10.0.1.100, as p1 of hv1 may.
class ClaimsTest : public testing::Test {
 protected:
  ClaimsTest() {
    store_ = *Store::Open(directory_.File("controller.db"));
    hub_ = *StateHub::Load(*store_, 0, {});
    Apply(kSmallTopology);
    Apply(Port("p1", "01", "hv1", "5"));
    Apply(Port("p9", "09", "hv2", "9"));
  }

  static std::string Port(const std::string& id, const std::string& mac, const std::string& host,
                          const std::string& ip, const std::string& pair = "10.0.1.100") {
    return "ports: [{id: " + id + ", network_id: n1, mac_address: \"fa:16:3e:00:00:" + mac +
           "\", device_owner: \"compute:nova\", binding:host_id: " + host +
           ", allowed_address_pairs: [{ip_address: " + pair +
           "}], fixed_ips: [{subnet_id: s1, ip_address: 10.0.1." + ip + "}]}]\n";
  }
  void Apply(const std::string& yaml) {
    const absl::Status status = ApplyTo(*hub_, RequestFrom(yaml)).status();
    ASSERT_TRUE(status.ok()) << Message(status);
  }
  void Delete(const model::ResourceKey& key) {
    v1::DeleteRequest request;
    *request.add_items()->mutable_key() = model::EncodeKey(key);
    v1::DeleteResponse reply;
    const auto nobody = [](const HostId&) { return false; };
    const absl::Status status = controller::Delete(*hub_, nobody, request, 100, reply);
    ASSERT_TRUE(status.ok()) << Message(status);
  }
  void Observe(const std::string& host, const std::string& port, uint64_t sequence,
               const std::string& ip = "10.0.1.100") {
    v1::Report report;
    v1::AddressClaim& claim = *report.add_observed();
    claim.set_network_id("n1");
    claim.set_ip_address(ip);
    claim.set_mac_address("fa:16:3e:00:00:" + (port == "p1" ? std::string("01") : "09"));
    claim.set_port_id(port);
    claim.set_sequence(sequence);
    ASSERT_TRUE(TakeObserved(*hub_, HostId(host), report).ok());
  }
  // Who has the address, "p1 3"; "" if nobody claims it.
  std::string Claimer() const {
    const auto& claims = hub_->snapshot()->state.address_claims;
    const auto claim = claims.find(AddressClaimId("n1/10.0.1.100"));
    if (claim == claims.end()) return "";
    return claim->second->port.str() + " " + std::to_string(claim->second->sequence);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StateHub> hub_;
};

TEST_F(ClaimsTest, TheNewestOfTheClaimsThatMayBeMadeIsStored) {
  Observe("hv1", "p1", 1);
  EXPECT_EQ(Claimer(), "p1 1");
  Observe("hv2", "p9", 1);
  EXPECT_EQ(Claimer(), "p9 1") << "the larger port of equal sequences";
  Observe("hv1", "p1", 1);
  EXPECT_EQ(Claimer(), "p9 1");
  Observe("hv1", "p1", 2);
  EXPECT_EQ(Claimer(), "p1 2");
  Observe("hv1", "p9", 9);
  EXPECT_EQ(Claimer(), "p1 2") << "hv1 speaks for its own ports alone";
  Observe("hv2", "p9", 9, "10.0.1.77");
  EXPECT_EQ(hub_->snapshot()->state.address_claims.size(), 1U) << "not an address that p9 may have";
}

TEST_F(ClaimsTest, TheHostsInScopeAreToldAndARestartKeepsIt) {
  HostSync sync(HostId("hv2"), true);
  sync.Start(hub_->snapshot(), {});
  const uint64_t before = hub_->snapshot()->revision.counter;
  Observe("hv1", "p1", 4);
  const std::vector<v1::Batch> batches = sync.Next(hub_->snapshot(), hub_->TouchedSince(before));
  ASSERT_EQ(batches.size(), 1U);
  const v1::Batch* batch = &batches.front();
  ASSERT_EQ(batch->upserts_size(), 1);
  EXPECT_EQ(batch->upserts(0).address_claim().port_id(), "p1");
  EXPECT_EQ(batch->upserts(0).address_claim().id(), "n1/10.0.1.100");

  hub_.reset();
  store_.reset();
  store_ = *Store::Open(directory_.File("controller.db"));
  const StoreContents contents = *store_->Load();
  hub_ = *StateHub::Load(*store_, contents.counter, contents.resources);
  EXPECT_EQ(Claimer(), "p1 4");
}

TEST_F(ClaimsTest, AClaimGoesWithItsPort) {
  Observe("hv1", "p1", 1);
  Observe("hv2", "p9", 2);
  Delete({model::Kind::kPort, "p9"});
  EXPECT_EQ(Claimer(), "");
}

TEST_F(ClaimsTest, AClaimGoesWhenThePortMayNoLongerMakeIt) {
  Observe("hv2", "p9", 2);
  Apply(Port("p9", "09", "hv1", "9"));
  EXPECT_EQ(Claimer(), "p9 2") << "a port that moves takes its addresses along";
  Apply(Port("p9", "09", "hv1", "9", "10.0.1.101"));
  EXPECT_EQ(Claimer(), "");
}

TEST_F(ClaimsTest, IsObservedAndNotApplied) {
  v1::ApplyRequest request;
  v1::AddressClaim& claim = *request.add_items()->mutable_resource()->mutable_address_claim();
  claim.set_id("n1/10.0.1.100");
  claim.set_network_id("n1");
  claim.set_ip_address("10.0.1.100");
  claim.set_mac_address("fa:16:3e:00:00:01");
  claim.set_port_id("p1");
  EXPECT_THAT(Message(ApplyTo(*hub_, request).status()), testing::HasSubstr("observed"));
  Observe("hv1", "p1", 1);
  Delete({model::Kind::kAddressClaim, "n1/10.0.1.100"});
  EXPECT_EQ(Claimer(), "") << "but an operator may delete it";
}

}  // namespace
}  // namespace kasane::controller
