#include "inspect/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "base/status.h"
#include "inspect/test_snapshot.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RepliesTest, Status) {
  AgentSnapshot snapshot = TestSnapshot();
  model::NetworkState state;
  auto router = std::make_shared<model::Router>();
  router->id = RouterId("router-1");
  router->name = "r1";
  router->gateway = model::Gateway{NetworkId("x"), true, {}};
  state.routers[router->id] = router;
  snapshot.state = std::make_shared<const model::NetworkState>(state);

  const v1::AgentStatusResponse reply = StatusReply({"h1", "1.0", "127.0.0.1:6650", {"192.0.2.1"}},
                                                    "ovs (netdev)", std::chrono::seconds(9), snapshot);
  EXPECT_EQ(reply.host_id(), "h1");
  EXPECT_EQ(reply.uptime_seconds(), 9);
  EXPECT_TRUE(reply.controller_connected() && reply.synced() && reply.datapath_ready());
  EXPECT_EQ(reply.received().counter(), 8);
  EXPECT_EQ(reply.applied().counter(), 7);
  EXPECT_EQ(reply.datapath(), "ovs (netdev)");
  EXPECT_EQ(reply.flows(), 42);
  EXPECT_EQ(reply.local_ports(), 1);
  EXPECT_EQ(reply.active_ports(), 1);
  EXPECT_EQ(reply.problems(0).subject(), "host h3");
  EXPECT_EQ(reply.rejected(0).key().id(), "bad");
  EXPECT_EQ(reply.rejected(0).faults(0).path(), "port.mac_address");
  ASSERT_EQ(reply.not_enforced_size(), 1);
  EXPECT_EQ(reply.not_enforced(0).name(), "r1");
  EXPECT_EQ(reply.not_enforced(0).feature(), "gateway");
}

TEST(RepliesTest, PortsTunnelsNetworks) {
  const v1::ListPortsResponse ports = PortsReply(TestSnapshot());
  ASSERT_EQ(ports.ports_size(), 1);
  EXPECT_EQ(ports.ports(0).network_name(), "blue");
  EXPECT_EQ(ports.ports(0).mac_address(), "fa:16:3e:00:00:05");
  EXPECT_THAT(ports.ports(0).ip_addresses(), ElementsAre("10.0.0.5"));
  EXPECT_EQ(ports.ports(0).interface(), "tap-web");
  EXPECT_EQ(ports.ports(0).interface_number(), 5);
  EXPECT_TRUE(ports.ports(0).active());

  const v1::ListTunnelsResponse tunnels = TunnelsReply(TestSnapshot());
  ASSERT_EQ(tunnels.tunnels_size(), 1);
  EXPECT_EQ(tunnels.tunnels(0).local_address(), "192.0.2.1");
  EXPECT_EQ(tunnels.tunnels(0).remote_address(), "192.0.2.2");
  EXPECT_TRUE(tunnels.tunnels(0).ready());
  EXPECT_EQ(tunnels.tunnels(0).next_hop_mac(), "02:00:00:00:00:02");
  EXPECT_THAT(tunnels.tunnels(0).networks(), ElementsAre("blue-0001"));

  const v1::ListNetworksResponse networks = NetworksReply(TestSnapshot());
  ASSERT_EQ(networks.networks_size(), 2);
  EXPECT_EQ(networks.networks(0).vni(), 7);
  EXPECT_EQ(networks.networks(0).local_ports(), 1);
  EXPECT_EQ(networks.networks(0).remote_endpoints(), 1);
  EXPECT_THAT(networks.networks(0).flood_vteps(), ElementsAre("192.0.2.2"));
  EXPECT_THAT(networks.networks(0).routers(), ElementsAre("router-1"));
}

TEST(RepliesTest, Routers) {
  const v1::ListRoutersResponse reply = RoutersReply(TestSnapshot());
  ASSERT_EQ(reply.routers_size(), 1);
  const v1::RouterInfo& router = reply.routers(0);
  EXPECT_THAT(router.ports(0).addresses(), ElementsAre("10.0.0.1/24", "fe80::f816:3eff:fe00:1/64"));
  ASSERT_EQ(router.routes_size(), 2);
  EXPECT_EQ(router.routes(0).origin(), "connected");
  EXPECT_EQ(router.routes(0).next_hop(), "");
  EXPECT_EQ(router.routes(1).origin(), "extra");
  EXPECT_EQ(router.routes(1).next_hop(), "10.0.0.6");
  EXPECT_EQ(router.routes(1).network_id(), "blue-0001");
}

TEST(RepliesTest, FlowsOfAnOwner) {
  vswitch::InstalledEntry web;
  web.owner = {vswitch::OwnerKind::kPort, "port-web"};
  web.stage = "deliver";
  web.drop_reason = vswitch::DropReason::kVlanTagged;
  vswitch::InstalledEntry left_over;
  left_over.owner = {vswitch::OwnerKind::kPort, "gone-port"};
  const std::vector<vswitch::InstalledEntry> entries = {web, left_over};

  EXPECT_EQ(FlowsReply(TestSnapshot(), entries, "")->flows_size(), 2);
  for (const char* text : {"web", "port-web", "port-w"}) {
    const absl::StatusOr<v1::ListFlowsResponse> reply = FlowsReply(TestSnapshot(), entries, text);
    ASSERT_TRUE(reply.ok()) << text;
    ASSERT_EQ(reply->flows_size(), 1);
    EXPECT_EQ(reply->flows(0).owner_kind(), "port");
    EXPECT_EQ(reply->flows(0).stage(), "deliver");
    EXPECT_EQ(reply->flows(0).drop_reason(), "vlan_tagged");
  }
  EXPECT_EQ(FlowsReply(TestSnapshot(), entries, "gone")->flows(0).owner_id(), "gone-port");
  EXPECT_EQ(FlowsReply(TestSnapshot(), entries, "r1")->flows_size(), 0);
  EXPECT_EQ(FlowsReply(TestSnapshot(), entries, "port-").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// db has announced web's address, as an allowed pair lets it.
AgentSnapshot SnapshotWithClaim() {
  AgentSnapshot snapshot = TestSnapshot();
  vswitch::HostView view = *snapshot.view;
  const IpAddress ip = *IpAddress::Parse("10.0.0.5");
  vswitch::RemoteEndpoint& db = view.endpoints.at(PortId("port-db"));
  db.allowed = {{db.mac, IpPrefix::Host(ip)}};
  view.claims[{db.network, ip}] = {.mac = db.mac, .port = db.id, .sequence = 1};
  snapshot.view = std::make_shared<const vswitch::HostView>(view);
  return snapshot;
}

absl::StatusOr<v1::ListTablesResponse> Tables(const std::string& network, const std::string& owner,
                                              const std::string& family) {
  v1::ListTablesRequest request;
  request.set_network(network);
  request.set_owner(owner);
  request.set_family(family);
  return TablesReply(SnapshotWithClaim(), request);
}

TEST(RepliesTest, TablesShowAllClaimantsTheOneInForceFirst) {
  const auto reply = Tables("blue", "web", "answer");
  ASSERT_TRUE(reply.ok()) << Message(reply.status());
  ASSERT_EQ(reply->entries_size(), 2) << "its address, and its link-local one";
  const v1::TableEntry& entry = reply->entries(0);
  EXPECT_EQ(entry.family(), "answer");
  EXPECT_EQ(entry.network_id(), "blue-0001");
  EXPECT_EQ(entry.network_name(), "blue");
  EXPECT_EQ(entry.key(), "10.0.0.5");
  EXPECT_TRUE(entry.in_force());
  ASSERT_EQ(entry.claimants_size(), 2);
  EXPECT_EQ(entry.claimants(0).rank(), "claim");
  EXPECT_EQ(entry.claimants(0).owner_name(), "db");
  EXPECT_THAT(entry.claimants(0).value(), StartsWith("fa:16:3e:00:00:06"));
  EXPECT_EQ(entry.claimants(1).rank(), "local");
  EXPECT_EQ(entry.claimants(1).owner_kind(), "port");
  EXPECT_EQ(entry.claimants(1).owner_id(), "port-web");
  EXPECT_EQ(entry.claimants(1).owner_name(), "web");
  EXPECT_FALSE(reply->entries(1).in_force()) << "a port answers for its link-local address itself";
}

TEST(RepliesTest, TablesOfANetworkAreOfItOrLeadIntoIt) {
  const auto blue = Tables("blue", "", "");
  ASSERT_TRUE(blue.ok()) << Message(blue.status());
  std::set<std::string> routes;
  for (const v1::TableEntry& entry : blue->entries()) {
    EXPECT_EQ(entry.network_id(), "blue-0001") << entry.family() << " " << entry.key();
    if (entry.family() == "route") routes.insert(entry.key());
  }
  EXPECT_THAT(routes, ElementsAre("router-1 10.0.0.0/24", "router-1 198.51.100.0/24"));
  EXPECT_GT(Tables("", "", "")->entries_size(), blue->entries_size());
}

TEST(RepliesTest, TablesOfAPortThatIsNotPluggedAreNotInForce) {
  AgentSnapshot snapshot = TestSnapshot();
  snapshot.facts = std::make_shared<const vswitch::DatapathFacts>();
  v1::ListTablesRequest request;
  request.set_owner("web");
  request.set_family("mac");
  const auto reply = TablesReply(snapshot, request);
  ASSERT_EQ(reply->entries_size(), 1);
  EXPECT_FALSE(reply->entries(0).in_force());
  EXPECT_EQ(reply->entries(0).claimants(0).rank(), "reserved");
}

TEST(RepliesTest, WhatTablesDoNotKnowIsNamedWithWhatIsMeant) {
  const auto message = [](const auto& reply) { return Message(reply.status()); };
  EXPECT_EQ(Tables("blu", "", "").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(message(Tables("blu", "", "")), HasSubstr("no network on this host has the id or name \"blu\""));
  EXPECT_THAT(message(Tables("blu", "", "")), HasSubstr("did you mean blue?"));
  EXPECT_THAT(message(Tables("", "wbe", "")), HasSubstr("did you mean web?"));
  EXPECT_THAT(message(Tables("", "", "answr")), HasSubstr("there is no family \"answr\"; there are network, "));
  EXPECT_THAT(message(Tables("", "", "answr")), HasSubstr("did you mean answer?"));
}

TEST(RepliesTest, DropsByReasonAndOwner) {
  const vswitch::Owner web{vswitch::OwnerKind::kPort, "port-web"};
  const auto drop = [](const vswitch::Owner& owner, vswitch::DropReason reason, uint64_t packets) {
    vswitch::InstalledEntry entry;
    entry.owner = owner;
    entry.drop_reason = reason;
    entry.packets = packets;
    entry.bytes = packets * 100;
    return entry;
  };
  vswitch::InstalledEntry forwards;
  forwards.packets = 99;
  const std::vector<vswitch::InstalledEntry> entries = {
      forwards,
      drop({}, vswitch::DropReason::kTtlExceeded, 2),
      drop({}, vswitch::DropReason::kTtlExceeded, 3),
      drop({}, vswitch::DropReason::kNoRoute, 0),
      drop(web, vswitch::DropReason::kSpoofedIp, 4),
      drop({vswitch::OwnerKind::kPort, "gone"}, vswitch::DropReason::kSpoofedIp, 1)};
  auto reply = DropsReply(TestSnapshot(), entries, {});
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->drops_size(), 3);
  EXPECT_EQ(reply->drops(0).drop_reason(), "ttl_exceeded");
  EXPECT_EQ(reply->drops(0).owner_kind(), "pipeline");
  EXPECT_EQ(reply->drops(0).packets(), 5U);
  EXPECT_EQ(reply->drops(0).bytes(), 500U);
  EXPECT_EQ(reply->drops(1).owner_id(), "gone");
  EXPECT_EQ(reply->drops(1).network_id(), "");
  EXPECT_EQ(reply->drops(2).owner_name(), "web");
  EXPECT_EQ(reply->drops(2).network_name(), "blue");

  v1::ListDropsRequest request;
  request.set_port("web");
  reply = DropsReply(TestSnapshot(), entries, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->drops_size(), 1);
  EXPECT_EQ(reply->drops(0).packets(), 4U);
  request.set_port("nobody");
  EXPECT_THAT(Message(DropsReply(TestSnapshot(), entries, request).status()), HasSubstr("no local port"));
}

TEST(RepliesTest, TraceThroughTheTunnel) {
  v1::TraceRequest request;
  request.set_port("web");
  // fa:16:3e:00:00:06 <- fa:16:3e:00:00:05, an IPv4 packet's worth of zeros.
  const std::string macs("\xfa\x16\x3e\0\0\x06\xfa\x16\x3e\0\0\x05\x88\xb5", 14);
  request.set_frame(macs + std::string(46, '\0'));
  const absl::StatusOr<v1::TraceResponse> reply = TracedReply(TestSnapshot(), request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->verdicts_size(), 1);
  EXPECT_TRUE(reply->verdicts(0).delivered());
  EXPECT_EQ(reply->verdicts(0).remote_host(), "h2");
  EXPECT_EQ(reply->verdicts(0).vni(), 7);
  EXPECT_EQ(reply->verdicts(0).frame(), request.frame());
  EXPECT_EQ(reply->verdicts(0).host(), "h1");
  EXPECT_EQ(reply->verdicts(0).local_address(), "192.0.2.1");
  EXPECT_THAT(reply->verdicts(0).packet(), StartsWith("eth(type=0x88b5, "));
  ASSERT_GT(reply->steps_size(), 0);
  EXPECT_EQ(reply->steps(0).host(), "h1");
}

TEST(RepliesTest, TraceFromTheTunnel) {
  v1::TraceRequest request;
  request.set_outer_source("192.0.2.2");
  request.set_vni(7);
  request.set_frame(std::string("\xfa\x16\x3e\0\0\x05\xfa\x16\x3e\0\0\x06\x88\xb5", 14) +
                    std::string(46, '\0'));
  absl::StatusOr<v1::TraceResponse> reply = TracedReply(TestSnapshot(), request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->verdicts_size(), 1);
  EXPECT_EQ(reply->verdicts(0).port_name(), "web");
  request.set_outer_source("192.0.2.99");
  reply = TracedReply(TestSnapshot(), request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->verdicts(0).drop_reason(), "unknown_vtep");
  request.set_outer_source("192.0.2");
  EXPECT_THAT(Message(TracedReply(TestSnapshot(), request).status()), HasSubstr("outer_source: "));
  request.set_port("web");
  EXPECT_THAT(Message(TracedReply(TestSnapshot(), request).status()), HasSubstr("exactly one of them"));
}

TEST(RepliesTest, TraceDropAndBadRequests) {
  v1::TraceRequest request;
  request.set_port("web");
  EXPECT_THAT(Message(TracedReply(TestSnapshot(), request).status()), HasSubstr("frame: has 0 bytes"));
  request.set_frame(std::string("\xfa\x16\x3e\0\0\x99\xfa\x16\x3e\0\0\x05\x88\xb5", 14) +
                    std::string(46, '\0'));
  const absl::StatusOr<v1::TraceResponse> reply = TracedReply(TestSnapshot(), request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  // Flooded to the ports without port security, of which there is no other one.
  EXPECT_EQ(reply->verdicts_size(), 0);
  request.set_port("db");
  EXPECT_THAT(Message(TracedReply(TestSnapshot(), request).status()), HasSubstr("no local port"));
}

TEST(RepliesTest, TraceKnowsWhatIsPlugged) {
  AgentSnapshot snapshot = TestSnapshot();
  vswitch::HostView view = TestView();
  const MacAddress mac({0xfa, 0x16, 0x3e, 0, 0, 7});
  view.ports[PortId("port-new")] =
      vswitch::LocalPort{PortId("port-new"), "new", NetworkId("blue-0001"), mac, {}, true, true, {}};
  snapshot.view = std::make_shared<const vswitch::HostView>(view);
  v1::TraceRequest request;
  request.set_port("web");
  request.set_frame(std::string("\xfa\x16\x3e\0\0\x07\xfa\x16\x3e\0\0\x05\x88\xb5", 14) +
                    std::string(46, '\0'));
  absl::StatusOr<v1::TraceResponse> reply = TracedReply(snapshot, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->verdicts_size(), 0);

  request.set_port("new");
  reply = TracedReply(snapshot, request);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(reply.status()), HasSubstr("external_ids:iface-id=port-new"));

  auto facts = std::make_shared<vswitch::DatapathFacts>(*snapshot.facts);
  facts->attachments[PortId("port-new")] = {"tap-new", 6};
  snapshot.facts = facts;
  request.set_port("web");
  reply = TracedReply(snapshot, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->verdicts_size(), 1);
  EXPECT_EQ(reply->verdicts(0).port_name(), "new");
}

TEST(RepliesTest, ResolveFindsTheVmBeforeARouterWithItsAddress) {
  AgentSnapshot snapshot = TestSnapshot();
  vswitch::HostView view = TestView();
  view.ports[PortId("port-web")].ips = {*IpAddress::Parse("10.0.0.1")};
  snapshot.view = std::make_shared<const vswitch::HostView>(view);
  v1::ResolveRequest request;
  request.set_port("web");
  request.set_ip_address("10.0.0.1");
  EXPECT_EQ(ResolvedReply(snapshot, request)->kind(), "port");
}

TEST(RepliesTest, Resolve) {
  struct Case {
    const char* ip;
    const char* kind;  // Null: NOT_FOUND.
    const char* mac;
  };
  const Case cases[] = {
      {"10.0.0.6", "port", "fa:16:3e:00:00:06"},
      {"10.0.0.5", "port", "fa:16:3e:00:00:05"},
      {"10.0.0.1", "router", "fa:16:3e:00:00:01"},
      {"fe80::f816:3eff:fe00:1", "router", "fa:16:3e:00:00:01"},
      {"10.0.1.1", nullptr, ""},  // The router's address on another network.
      {"10.0.0.9", nullptr, ""},
  };
  for (const Case& c : cases) {
    v1::ResolveRequest request;
    request.set_port("web");
    request.set_ip_address(c.ip);
    const absl::StatusOr<v1::ResolveResponse> reply = ResolvedReply(TestSnapshot(), request);
    if (c.kind == nullptr) {
      EXPECT_EQ(reply.status().code(), absl::StatusCode::kNotFound) << c.ip;
      continue;
    }
    ASSERT_TRUE(reply.ok()) << c.ip << reply.status();
    EXPECT_EQ(reply->kind(), c.kind);
    EXPECT_EQ(reply->mac_address(), c.mac);
  }
}

}  // namespace
}  // namespace kasane::inspect
