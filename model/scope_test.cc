#include "model/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/files/resource_file.h"

namespace kasane::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

template <typename Model>
void Put(NetworkState& state, Model value) {
  Upsert(state, std::make_shared<const Model>(std::move(value)));
}

void PutNetwork(NetworkState& state, const std::string& id, bool external = false) {
  Network network;
  network.id = NetworkId(id);
  network.external = external;
  Put(state, network);
}

void PutRouter(NetworkState& state, const std::string& id, const std::string& gateway = "") {
  Router router;
  router.id = RouterId(id);
  if (!gateway.empty()) router.gateway = Gateway{NetworkId(gateway), true, {}};
  Put(state, router);
}

void PutInterface(NetworkState& state, const std::string& router, const std::string& network) {
  Port port;
  port.id = PortId(router + "-" + network);
  port.network = NetworkId(network);
  port.role = PortRole::kRouterInterface;
  port.device_id = router;
  Put(state, port);
}

void PutVm(NetworkState& state, const std::string& id, const std::string& network, const std::string& host) {
  Port port;
  port.id = PortId(id);
  port.network = NetworkId(network);
  port.role = PortRole::kVm;
  port.host = HostId(host);
  Put(state, port);
}

void PutHost(NetworkState& state, const std::string& id) {
  Host host;
  host.id = HostId(id);
  Put(state, host);
}

std::vector<std::string> Texts(const std::set<ResourceKey>& scope) {
  std::vector<std::string> texts;
  for (const ResourceKey& key : scope) texts.push_back(ToString(key));
  return texts;
}

TEST(ComputeScopeTest, IsEmptyForAHostThatNobodyKnows) {
  EXPECT_THAT(ComputeScope({}, HostId("hv1")), IsEmpty());
}

TEST(ComputeScopeTest, OfAHostWithoutPortsIsTheHostItself) {
  NetworkState state;
  PutHost(state, "hv1");
  PutNetwork(state, "n1");
  PutVm(state, "vm2", "n1", "hv2");
  EXPECT_THAT(Texts(ComputeScope(state, HostId("hv1"))), ElementsAre("host hv1"));
}

TEST(ComputeScopeTest, LeavesOutNetworksThatNothingOfTheHostReaches) {
  NetworkState state;
  PutHost(state, "hv1");
  PutHost(state, "hv2");
  PutHost(state, "hv3");
  PutNetwork(state, "n1");
  PutNetwork(state, "n2");
  PutVm(state, "vm1", "n1", "hv1");
  PutVm(state, "vm2", "n1", "hv2");
  PutVm(state, "vm3", "n2", "hv3");
  EXPECT_THAT(Texts(ComputeScope(state, HostId("hv1"))),
              ElementsAre("host hv1", "host hv2", "network n1", "port vm1", "port vm2"));
}

TEST(ComputeScopeTest, FollowsAChainOfRouters) {
  NetworkState state;
  for (const char* id : {"n1", "n2", "n3", "n4"}) PutNetwork(state, id);
  PutRouter(state, "r12");
  PutRouter(state, "r23");
  PutInterface(state, "r12", "n1");
  PutInterface(state, "r12", "n2");
  PutInterface(state, "r23", "n2");
  PutInterface(state, "r23", "n3");
  PutVm(state, "vm1", "n1", "hv1");
  PutVm(state, "vm3", "n3", "hv2");
  PutVm(state, "vm4", "n4", "hv2");
  EXPECT_THAT(Texts(ComputeScope(state, HostId("hv1"))),
              ElementsAre("network n1", "network n2", "network n3", "port r12-n1", "port r12-n2", "port r23-n2",
                          "port r23-n3", "port vm1", "port vm3", "router r12", "router r23"));
}

TEST(ComputeScopeTest, DoesNotCrossAnExternalNetwork) {
  NetworkState state;
  PutNetwork(state, "a");
  PutNetwork(state, "b");
  PutNetwork(state, "world", true);
  PutRouter(state, "ra", "world");
  PutRouter(state, "rb", "world");
  PutInterface(state, "ra", "a");
  PutInterface(state, "rb", "b");
  // Even an ordinary interface there, which no router should have, opens no way.
  PutInterface(state, "ra", "world");
  PutInterface(state, "rb", "world");
  PutVm(state, "vma", "a", "hv1");
  PutVm(state, "vmb", "b", "hv2");
  EXPECT_THAT(Texts(ComputeScope(state, HostId("hv1"))),
              ElementsAre("network a", "network world", "port ra-a", "port vma", "router ra"));
}

TEST(ComputeScopeTest, SkipsWhatIsReferredToButDoesNotExist) {
  NetworkState state;
  Port port;
  port.id = PortId("vm1");
  port.network = NetworkId("gone");
  port.host = HostId("hv1");
  port.security_groups = {SecurityGroupId("gone")};
  Put(state, port);
  EXPECT_THAT(Texts(ComputeScope(state, HostId("hv1"))), ElementsAre("port vm1"));
}

TEST(ComputeScopeTest, HasGroupsAndFloatingIpsOfOwnPortsOnly) {
  NetworkState state;
  PutNetwork(state, "n1");
  for (const char* host : {"hv1", "hv2"}) {
    const std::string own = host;
    SecurityGroup group;
    group.id = SecurityGroupId("sg-" + own);
    Put(state, group);
    Port port;
    port.id = PortId("vm-" + own);
    port.network = NetworkId("n1");
    port.host = HostId(own);
    port.security_groups = {group.id};
    Put(state, port);
    FloatingIp floating_ip;
    floating_ip.id = FloatingIpId("fip-" + own);
    floating_ip.port = port.id;
    Put(state, floating_ip);
  }
  EXPECT_THAT(
      Texts(ComputeScope(state, HostId("hv1"))),
      ElementsAre("network n1", "port vm-hv1", "port vm-hv2", "floating_ip fip-hv1", "security_group sg-hv1"));
}

NetworkState Recorded(const std::string& name) {
  NetworkState state;
  absl::StatusOr<files::ResourceFile> file = files::ReadResourceFile("tests/data/" + name);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return state;
  std::vector<Fault> faults;
  for (const v1::ApplyItem& item : file->items) {
    if (const auto decoded = Decode(item.resource(), item.path(), faults)) Upsert(state, *decoded);
  }
  EXPECT_THAT(faults, IsEmpty());
  return state;
}

std::map<Kind, size_t> Counts(const std::set<ResourceKey>& scope) {
  std::map<Kind, size_t> counts;
  for (const ResourceKey& key : scope) ++counts[key.kind];
  return counts;
}

// Both tenants have VMs on both hosts: everything but what lies on the external network.
TEST(ComputeScopeTest, OfTheRecordedTwoTenants) {
  const NetworkState state = Recorded("neutron-two-tenants.json");
  const std::map<Kind, size_t> hv1 = {{Kind::kNetwork, 5}, {Kind::kSubnet, 6},     {Kind::kPort, 14},
                                      {Kind::kRouter, 2},  {Kind::kFloatingIp, 2}, {Kind::kSecurityGroup, 2}};
  EXPECT_EQ(Counts(ComputeScope(state, HostId("hv1"))), hv1);
  const std::map<Kind, size_t> hv2 = {{Kind::kNetwork, 5},
                                      {Kind::kSubnet, 6},
                                      {Kind::kPort, 14},
                                      {Kind::kRouter, 2},
                                      {Kind::kSecurityGroup, 2}};
  EXPECT_EQ(Counts(ComputeScope(state, HostId("hv2"))), hv2);
}

// hv3 has no port in the isolated networks: they, their subnets and their ports stay out.
TEST(ComputeScopeTest, OfTheRecordedShopAndAds) {
  const NetworkState state = Recorded("neutron-shop-ads.json");
  const std::set<ResourceKey> hv1 = ComputeScope(state, HostId("hv1"));
  EXPECT_EQ(Counts(hv1)[Kind::kNetwork], 7U);
  EXPECT_EQ(Counts(hv1)[Kind::kPort], 30U);
  EXPECT_EQ(Counts(hv1)[Kind::kFloatingIp], 2U);
  const std::set<ResourceKey> hv3 = ComputeScope(state, HostId("hv3"));
  EXPECT_EQ(Counts(hv3)[Kind::kNetwork], 5U);
  EXPECT_EQ(Counts(hv3)[Kind::kSubnet], 8U);
  EXPECT_EQ(Counts(hv3)[Kind::kPort], 26U);
  EXPECT_EQ(Counts(hv3)[Kind::kRouter], 2U);
  EXPECT_EQ(Counts(hv3)[Kind::kFloatingIp], 0U);
}

}  // namespace
}  // namespace kasane::model
