#include "vswitch/sim/cloud.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kasane::sim {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const NetworkId kNetwork("n");
const MacAddress kMacA({2, 0, 0, 0, 0, 1});
const MacAddress kMacB({2, 0, 0, 0, 0, 2});

// Two hosts with a VM each, port security off.
vswitch::HostView View(const std::string& host, const std::string& other, uint32_t own, uint32_t peer) {
  vswitch::HostView view;
  view.host = HostId(host);
  view.tunnel_addresses.v4 = IpAddress::V4(own);
  const IpAddress remote = IpAddress::V4(peer);
  view.hosts[HostId(other)] = {HostId(other), remote, {remote, std::nullopt}};
  view.networks.emplace(kNetwork,
                        vswitch::NetworkView{kNetwork, "n", *Vni::From(5), 1450, true, {HostId(other)}});
  return view;
}

Cloud TwoHosts() {
  vswitch::HostView a = View("h1", "h2", 1, 2);
  vswitch::HostView b = View("h2", "h1", 2, 1);
  a.ports[PortId("a")] = {PortId("a"), "a", kNetwork, kMacA, {}, true, false};
  a.endpoints[PortId("b")] = {PortId("b"), "b", kNetwork, HostId("h2"), kMacB, {}, false};
  b.ports[PortId("b")] = {PortId("b"), "b", kNetwork, kMacB, {}, true, false};
  b.endpoints[PortId("a")] = {PortId("a"), "a", kNetwork, HostId("h1"), kMacA, {}, false};
  return Cloud({{HostId("h1"), a}, {HostId("h2"), b}});
}

Frame To(const MacAddress& destination) {
  Frame frame(destination.bytes().begin(), destination.bytes().end());
  frame.insert(frame.end(), kMacA.bytes().begin(), kMacA.bytes().end());
  frame.insert(frame.end(), {0x88, 0xb5, 1, 2});
  return frame;
}

TEST(CloudTest, FollowsAFrameThroughTheTunnelToItsEnd) {
  const CloudResult result = TwoHosts().FromPort(HostId("h1"), PortId("a"), To(kMacB));
  ASSERT_THAT(result.deliveries, SizeIs(1));
  EXPECT_EQ(result.deliveries[0], (CloudDelivery{HostId("h2"), PortId("b"), To(kMacB)}));
  EXPECT_THAT(result.drops, IsEmpty());
  EXPECT_EQ(result.steps.front().host, HostId("h1"));
  EXPECT_EQ(result.steps.back().host, HostId("h2"));
}

TEST(CloudTest, SaysWhichHostDrops) {
  const Cloud cloud = TwoHosts();
  const CloudResult unknown = cloud.FromPort(HostId("h1"), PortId("b"), To(kMacB));
  ASSERT_THAT(unknown.drops, SizeIs(1));
  EXPECT_EQ(unknown.drops[0], (CloudDrop{HostId("h1"), vswitch::DropReason::kUnknownPort}));
  const CloudResult vtep = cloud.FromTunnel(HostId("h2"), IpAddress::V4(9), 5, To(kMacB));
  ASSERT_THAT(vtep.drops, SizeIs(1));
  EXPECT_EQ(vtep.drops[0], (CloudDrop{HostId("h2"), vswitch::DropReason::kUnknownVtep}));
}

}  // namespace
}  // namespace kasane::sim
