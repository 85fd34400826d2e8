// The OVS datapath on a real Open vSwitch (userspace) in a network namespace of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/status.h"
#include "vswitch/ovs/ovs_datapath.h"
#include "vswitch/ovs/ovsdb/ovsdb_monitor.h"
#include "vswitch/ovs/testing_switch.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/ovs/tunnel_neighbours.h"

namespace kasane::ovs {
namespace {

FlowTable CompileView(const vswitch::HostView& view, const Bindings& bindings) {
  return Compile(tables::BuildForwardingTables(view, PluggedPorts(bindings)), bindings);
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const IpAddress kOwnVtep = *IpAddress::Parse("10.77.0.1");
const IpAddress kPeerVtep = *IpAddress::Parse("10.77.0.2");
const IpAddress kDeadVtep = *IpAddress::Parse("10.77.0.3");
const IpAddress kOwnVtep6 = *IpAddress::Parse("fd77::1");
const IpAddress kPeerVtep6 = *IpAddress::Parse("fd77::2");

class Namespace : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_TRUE(EnterNewNetworkNamespace()) << "needs root"; }
};
[[maybe_unused]] const auto* const kNamespace = ::testing::AddGlobalTestEnvironment(new Namespace);

// A datapath with a table of the test's instead of a compiler's, and its events.
class Agent {
 public:
  explicit Agent(const OvsConfig& config) {
    OvsDatapath::Parts parts;
    parts.compile = [this](const tables::ForwardingTables&, const Bindings&) { return desired; };
    parts.open_channel = [socket = config.OpenFlowSocket()] { return OpenOpenFlowChannel(socket); };
    parts.monitor = *NewOvsdbMonitor(config);
    parts.keeper = *underlay::NewNeighbourKeeper(NewTunnelNeighbours(config.run_dir));
    parts.watch_flows = true;
    datapath_ = std::make_unique<OvsDatapath>(std::move(parts), [this] {
      std::lock_guard lock(mutex_);
      ++events_;
      changed_.notify_all();
    });
  }

  // Until the facts are as `wanted` says.
  template <typename Predicate>
  bool WaitFor(const Predicate& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return wanted(*datapath_->Facts()); });
  }
  bool WaitReady() {
    return WaitFor([](const vswitch::DatapathFacts& facts) { return facts.ready; });
  }
  // The summary of an Apply that must succeed.
  std::string Apply() {
    const absl::StatusOr<vswitch::ApplyResult> result = datapath_->Apply(vswitch::HostView());
    if (!result.ok()) return Message(result.status());
    last = *result;
    return fmt::format("+{} ~{} -{}", result->added, result->modified, result->deleted);
  }
  OvsDatapath& operator*() { return *datapath_; }
  OvsDatapath* operator->() { return datapath_.get(); }

  FlowTable desired;
  vswitch::ApplyResult last;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int events_ = 0;
  std::unique_ptr<OvsDatapath> datapath_;
};

bool HasProblem(const vswitch::DatapathFacts& facts, const std::string& subject, const std::string& text) {
  for (const vswitch::Problem& problem : facts.problems) {
    if (problem.subject == subject && problem.message.find(text) != std::string::npos) return true;
  }
  return false;
}

void AddFlow(FlowTable& table, const std::string& owner, const std::string& match, const std::string& actions,
             Table stage = Table::kL2) {
  table.Add(
      {.table = stage, .priority = 100, .match = match},
      {.actions = actions, .owner = {.kind = vswitch::OwnerKind::kPort, .id = owner}, .drop = std::nullopt});
}

FlowTable ManyFlows(int count) {
  FlowTable table;
  for (int i = 0; i < count; ++i) {
    AddFlow(
        table, fmt::format("port-{}", i / 10),
        fmt::format("metadata=0x{:x},dl_dst=fa:16:3e:00:{:02x}:{:02x}", 1 + i / 1000, i / 256 % 256, i % 256),
        "set_field:10.77.0.2->tun_dst,set_field:0x7->tun_id,output:1");
  }
  return table;
}

class OvsRealTest : public ::testing::Test {
 protected:
  OvsRealTest() {
    config_.run_dir = switch_.run_dir();
    config_.datapath_type = "netdev";
    config_.tunnel_addresses = {.v4 = kOwnVtep, .v6 = kOwnVtep6};
  }

  void Start() {
    switch_.StartDatabase();
    switch_.StartSwitch();
  }

  // The underlay as an operator makes it: br-phy owns the addresses and holds a NIC whose other end is a host
  // of its own that answers for kPeerVtep.
  void MakeUnderlay() {
    peer_ = ChildProcess({"unshare", "--net", "--", "sh", "-c", "echo up; exec sleep infinity"}, {},
                         switch_.run_dir() + "/peer.log");
    const std::string peer = std::to_string(peer_.pid());
    while (RunCommand({"cat", switch_.run_dir() + "/peer.log"}).empty()) {
    }
    RunCommand({"ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", peer});
    for (const auto& command :
         std::vector<std::vector<std::string>>{{"link", "set", "eth0", "up"},
                                               {"addr", "add", "10.77.0.2/24", "dev", "eth0"},
                                               {"addr", "add", "fd77::2/64", "dev", "eth0", "nodad"}}) {
      std::vector<std::string> argv = {"nsenter", "--target", peer, "--net", "ip"};
      argv.insert(argv.end(), command.begin(), command.end());
      RunCommand(argv);
    }
    RunCommand({"ip", "link", "set", "eth0", "up"});
    switch_.Vsctl({"add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev", "--",
                   "add-port", "br-phy", "eth0"});
    RunCommand({"ip", "link", "set", "br-phy", "up"});
    RunCommand({"ip", "addr", "add", "10.77.0.1/24", "dev", "br-phy"});
    RunCommand({"ip", "addr", "add", "fd77::1/64", "dev", "br-phy", "nodad"});
  }

  TestingSwitch switch_;
  ChildProcess peer_;
  OvsConfig config_;
};

TEST_F(OvsRealTest, NamesAMissingSwitchAndHealsWhenItComes) {
  Agent agent(config_);
  EXPECT_TRUE(agent.WaitFor([&](const vswitch::DatapathFacts& facts) {
    return HasProblem(facts, "ovs", "answers at unix:" + config_.run_dir + "/db.sock");
  }));
  Start();
  EXPECT_TRUE(agent.WaitReady());
  EXPECT_EQ(switch_.Vsctl({"get", "bridge", "br-int", "datapath_type", "fail_mode"}), "netdev\nsecure\n");
  EXPECT_EQ(switch_.Vsctl({"get", "interface", "kas-vx4", "type", "options"}),
            "vxlan\n{key=flow, local_ip=\"10.77.0.1\", remote_ip=flow}\n");
  EXPECT_THAT(switch_.Vsctl({"get", "interface", "kas-vx6", "options"}), HasSubstr("local_ip=\"fd77::1\""));
  EXPECT_EQ(switch_.Vsctl({"get", "port", "kas-vx4", "external_ids:kasane-owner"}), "kasaned\n");
}

TEST_F(OvsRealTest, ANewAgentTouchesNothingThatIsRightAndRepairsTheRest) {
  Start();
  FlowTable desired;
  AddFlow(desired, "a", "metadata=0x1,dl_dst=fa:16:3e:00:00:01", "set_field:0x5->reg0,resubmit(,11)");
  AddFlow(desired, "a", "arp,metadata=0x1,arp_tpa=10.0.0.1,arp_op=1",
          "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:2->arp_op,in_port");
  AddFlow(desired, "b", "ipv6,metadata=0x2,ipv6_dst=fd00::/64",
          "dec_ttl,move:NXM_NX_IPV6_DST[]->NXM_NX_XXREG2[]", Table::kRoute);
  AddFlow(desired, "b", "tun_src=10.77.0.2,tun_id=0x7", "drop", Table::kInput);
  {
    Agent agent(config_);
    ASSERT_TRUE(agent.WaitReady());
    agent.desired = desired;
    EXPECT_EQ(agent.Apply(), "+4 ~0 -0");
    EXPECT_EQ(agent.Apply(), "+0 ~0 -0");
    const absl::StatusOr<std::vector<vswitch::InstalledEntry>> entries = agent->Dump();
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_THAT(*entries, SizeIs(4));
    EXPECT_EQ(entries->back().owner.id, "b");
    EXPECT_EQ(entries->back().stage, "route");
  }
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  agent.desired = desired;
  EXPECT_EQ(agent.Apply(), "+0 ~0 -0") << switch_.Ofctl("dump-flows");
  EXPECT_EQ(agent.last.installed, 4u);

  Agent third(config_);
  switch_.Ofctl("del-flows", {fmt::format("table={}", static_cast<int>(Table::kRoute))});
  switch_.Ofctl("add-flow", {"table=200,priority=7,ip,actions=drop"});
  switch_.Ofctl("mod-flows", {"table=0,tun_src=10.77.0.2,actions=NORMAL"});
  ASSERT_TRUE(third.WaitReady());
  third.desired = desired;
  EXPECT_EQ(third.Apply(), "+1 ~1 -1");
  EXPECT_THAT(switch_.Ofctl("dump-flows"), Not(HasSubstr("NORMAL")));
}

TEST_F(OvsRealTest, NoticesWhatOthersChangeAndRepairsIt) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  agent.desired = ManyFlows(1000);
  agent.desired.AddMeter(7, {{.rate = 100, .burst = 100}, {}, vswitch::DropReason::kReplicationRate});
  EXPECT_EQ(agent.Apply(), "+1000 ~0 -0");
  uint64_t seen = 0;
  const auto notices = [&](const std::string& what) {
    return agent.WaitFor([&](const vswitch::DatapathFacts& facts) {
      return facts.disturbances > seen && facts.last_disturbance.find(what) != std::string::npos;
    });
  };
  EXPECT_EQ(agent->Facts()->disturbances, 0u) << "what it does itself: " << agent->Facts()->last_disturbance;

  const auto begin = steady_clock::now();
  switch_.Ofctl("del-flows");
  EXPECT_TRUE(notices("1000 deleted")) << agent->Facts()->last_disturbance;
  EXPECT_EQ(agent.Apply(), "+1000 ~0 -0");
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(1));
  seen = agent->Facts()->disturbances;
  EXPECT_EQ(seen, 1u);

  switch_.Ofctl("add-flow", {"table=0,priority=60000,ip,actions=drop"});
  EXPECT_TRUE(notices("1 added, 0 deleted, 0 modified (first table=0,priority=60000,ip)"));
  EXPECT_EQ(agent.Apply(), "+0 ~0 -1");
  seen = agent->Facts()->disturbances;

  switch_.Ofctl("mod-meter", {"meter=7,pktps,bands=type=drop,rate=1"});
  EXPECT_TRUE(notices("meters of the switch"));
  EXPECT_EQ(agent.Apply(), "+0 ~0 -0");
  EXPECT_THAT(switch_.Ofctl("dump-meters"), HasSubstr("rate=100"));
  EXPECT_EQ(agent.Apply(), "+0 ~0 -0");
}

TEST_F(OvsRealTest, NoticesGroupsThatOthersChangeAndRepairsThem) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  // As replication has them.
  agent.desired.AddGroup(1,
                         "type=all,bucket=bucket_id=0,actions=set_field:0->reg13,resubmit(,25),"
                         "bucket=bucket_id=1,actions=set_field:1->reg13,resubmit(,25)");
  agent.desired.AddGroup(
      2, "type=select,selection_method=dp_hash,bucket=bucket_id=0,weight=1,actions=resubmit(,26)");
  AddFlow(agent.desired, "a", "metadata=0x1", "group:1", Table::kFlood);
  AddFlow(agent.desired, "a", "metadata=0x1", "group:2", Table::kPart);
  EXPECT_EQ(agent.Apply(), "+2 ~0 -0");
  const auto differences = [&] {
    const auto found = agent->Compare({});
    return found.ok() ? found->size() : 99;
  };
  uint64_t seen = 0;
  const auto notices = [&](const std::string& what) {
    const bool noticed = agent.WaitFor([&](const vswitch::DatapathFacts& facts) {
      return facts.disturbances > seen && facts.last_disturbance.find(what) != std::string::npos;
    });
    seen = agent->Facts()->disturbances;
    return noticed;
  };
  EXPECT_EQ(differences(), 0u) << "as we spell them, and as the switch does";
  const std::string before = switch_.Ofctl("dump-groups");

  switch_.Ofctl("mod-group", {"group_id=1,type=all"});
  EXPECT_TRUE(notices("groups of the switch: 1 was modified")) << agent->Facts()->last_disturbance;
  EXPECT_EQ(differences(), 1u);
  EXPECT_EQ(agent.Apply(), "+0 ~0 -0");
  EXPECT_EQ(differences(), 0u);

  // A group takes the flows that name it along.
  switch_.Ofctl("del-groups");
  EXPECT_TRUE(notices("2 deleted")) << agent->Facts()->last_disturbance;
  EXPECT_EQ(agent.Apply(), "+2 ~0 -0");
  EXPECT_EQ(differences(), 0u);
  EXPECT_THAT(switch_.Ofctl("dump-groups"), HasSubstr("dp_hash"));
  EXPECT_EQ(agent->Facts()->disturbances, seen) << "what it does itself: " << agent->Facts()->last_disturbance;
}

TEST_F(OvsRealTest, NoticesPortsAndSettingsThatOthersChange) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  EXPECT_EQ(agent->Facts()->disturbances, 0u) << agent->Facts()->last_disturbance;
  switch_.Ofctl("mod-port", {"kas-vx4", "no-forward"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return facts.last_disturbance.find("port kas-vx4 of bridge br-int") != std::string::npos;
  }));
  EXPECT_THAT(switch_.Ofctl("show"), Not(HasSubstr("NO_FWD")));
  switch_.Vsctl({"set-fail-mode", "br-int", "standalone"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return facts.ready && facts.last_disturbance.find("settings of bridge br-int") != std::string::npos;
  }));
  EXPECT_EQ(switch_.Vsctl({"get-fail-mode", "br-int"}), "secure\n");
}

TEST_F(OvsRealTest, LeavesOutTheOwnersOfBadFlowsAndNamesThem) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  AddFlow(agent.desired, "good", "metadata=0x1", "output:1");
  AddFlow(agent.desired, "refused", "metadata=0x2", "group:99");
  AddFlow(agent.desired, "refused", "metadata=0x3", "output:1");
  AddFlow(agent.desired, "unparsable", "metadata=0x4", "no_such_action");
  std::string many;
  for (int i = 0; i < 3000; ++i) many += fmt::format("set_field:{}->tun_dst,output:1,", IpAddress::V4(i + 1));
  AddFlow(agent.desired, "too-big", "metadata=0x5", many + "drop");
  EXPECT_EQ(agent.Apply(), "+1 ~0 -0");
  ASSERT_THAT(agent.last.failed_owners, SizeIs(3));
  const auto reason = [&agent](const std::string& id) {
    return agent.last.failed_owners[{.kind = vswitch::OwnerKind::kPort, .id = id}];
  };
  EXPECT_THAT(reason("refused"), HasSubstr("actions=group:99: OFPBAC_BAD_OUT_GROUP"));
  EXPECT_THAT(reason("unparsable"), HasSubstr("unknown action no_such_action"));
  EXPECT_THAT(reason("too-big").substr(0, 60), HasSubstr("metadata=0x5"));
}

TEST_F(OvsRealTest, NoticesThatTheSwitchWasKilledAndFillsItAgain) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  switch_.Vsctl({"add-port", "br-int", "tap1", "--", "set", "interface", "tap1", "type=internal",
                 "external_ids:iface-id=port-1"});
  AddFlow(agent.desired, "a", "metadata=0x1", "output:1");
  EXPECT_EQ(agent.Apply(), "+1 ~0 -0");
  const uint64_t session = agent->Facts()->session;

  switch_.KillSwitch();
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return !facts.ready && HasProblem(facts, "bridge br-int", "ovs-vswitchd does not answer");
  }));
  EXPECT_EQ(agent->Apply(vswitch::HostView()).status().code(), absl::StatusCode::kFailedPrecondition);
  switch_.StartSwitch();
  ASSERT_TRUE(agent.WaitFor(
      [session](const vswitch::DatapathFacts& facts) { return facts.ready && facts.session != session; }));
  EXPECT_EQ(agent->Facts()->attachments.count(PortId("port-1")), 1u) << "known from the start of a session";
  EXPECT_EQ(agent.Apply(), "+1 ~0 -0");
  EXPECT_THAT(switch_.Ofctl("dump-flows"), HasSubstr("metadata=0x1"));
}

TEST_F(OvsRealTest, WaitsForALostDatabaseAndFollowsItWhenItIsBack) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  AddFlow(agent.desired, "a", "metadata=0x1", "output:1");
  EXPECT_EQ(agent.Apply(), "+1 ~0 -0");
  switch_.KillDatabase();
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return !facts.ready && HasProblem(facts, "ovs", "went away");
  }));

  switch_.StartDatabase();
  switch_.Vsctl({"add-port", "br-int", "tap1", "--", "set", "interface", "tap1", "type=internal",
                 "external_ids:iface-id=port-1"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return facts.ready && facts.attachments.count(PortId("port-1")) == 1 &&
           !HasProblem(facts, "ovs", "went away");
  }));
  EXPECT_EQ(agent.Apply(), "+0 ~0 -0") << "the flows are still there";
}

TEST_F(OvsRealTest, BindsPortsByIfaceIdAndNamesThoseThatFail) {
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  switch_.Vsctl({"add-port", "br-int", "tap1", "--", "set", "interface", "tap1", "type=internal",
                 "external_ids:iface-id=port-1", "ofport_request=42"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    const auto found = facts.attachments.find(PortId("port-1"));
    return found != facts.attachments.end() &&
           found->second == vswitch::Attachment{.interface = "tap1", .number = 42};
  }));
  switch_.Vsctl({"--no-wait", "add-port", "br-int", "nosuch", "--", "set", "interface", "nosuch",
                 "external_ids:iface-id=port-2"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return HasProblem(facts, "interface nosuch", "port-2: could not open network device nosuch");
  }));
  switch_.Vsctl({"del-port", "tap1"});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) { return facts.attachments.empty(); }));
}

TEST_F(OvsRealTest, NamesTheMissingUnderlayAndResolvesNeighboursOnceItIsThere) {
  Start();
  Agent agent(config_);
  agent->WantTunnels({kPeerVtep, kPeerVtep6, kDeadVtep});
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return HasProblem(facts, "tunnel address 10.77.0.1", "ovs-vsctl add-br br-phy") &&
           facts.tunnels.count(kPeerVtep) > 0 && !facts.tunnels.at(kPeerVtep).problem.empty();
  }));
  MakeUnderlay();
  const auto resolved = [](const vswitch::DatapathFacts& facts) {
    return facts.tunnels.at(kPeerVtep).ready && facts.tunnels.at(kPeerVtep6).ready && facts.problems.empty();
  };
  ASSERT_TRUE(agent.WaitFor(resolved)) << agent->Facts()->tunnels.at(kPeerVtep).problem << "; "
                                       << agent->Facts()->tunnels.at(kPeerVtep6).problem;
  const underlay::CachedNeighbours neighbours = ParseTunnelNeighbours(switch_.Appctl({"tnl/neigh/show"}));
  EXPECT_EQ(neighbours.at({"br-phy", kPeerVtep}), agent->Facts()->tunnels.at(kPeerVtep).next_hop_mac);
  EXPECT_EQ(neighbours.count({"br-phy", kPeerVtep6}), 1u);
  EXPECT_TRUE(agent.WaitFor([](const vswitch::DatapathFacts& facts) {
    return facts.tunnels.at(kDeadVtep).problem == "10.77.0.3 does not answer ARP on br-phy";
  }));
  EXPECT_FALSE(agent->Facts()->tunnels.at(kDeadVtep).ready);

  const uint64_t session = agent->Facts()->session;
  switch_.KillSwitch();
  switch_.StartSwitch();
  ASSERT_TRUE(agent.WaitFor([&](const vswitch::DatapathFacts& facts) {
    return facts.session != session && facts.ready && resolved(facts);
  }));
  EXPECT_EQ(ParseTunnelNeighbours(switch_.Appctl({"tnl/neigh/show"})).count({"br-phy", kPeerVtep}), 1u)
      << "a restarted switch is told again";
}

// Two networks with a router between, both families, and an endpoint of each on another host.
vswitch::HostView RoutedView() {
  vswitch::HostView view;
  view.host = HostId("h1");
  view.tunnel_addresses = {.v4 = kOwnVtep, .v6 = kOwnVtep6};
  view.hosts[HostId("h2")] = {
      .id = HostId("h2"), .vtep = kPeerVtep, .addresses = {.v4 = kPeerVtep, .v6 = kPeerVtep6}};
  vswitch::RouterView router{
      .id = RouterId("r"), .name = "r", .admin_state_up = true, .ports = {}, .routes = {}};
  for (uint8_t n = 1; n <= 2; ++n) {
    const NetworkId network(fmt::format("n{}", n));
    view.networks.emplace(network, vswitch::NetworkView{.id = network,
                                                        .name = network.str(),
                                                        .vni = *Vni::From(n),
                                                        .mtu = 1450,
                                                        .admin_state_up = true,
                                                        .flood_hosts = {HostId("h2")}});
    const IpAddress v4 = *IpAddress::Parse(fmt::format("10.0.{}.1", n));
    const IpAddress v6 = *IpAddress::Parse(fmt::format("fd00:{}::1", n));
    const MacAddress mac({0xfa, 0x16, 0x3e, 0, n, 1});
    const PortId port(fmt::format("r{}", n));
    router.ports.push_back({.id = port,
                            .network = network,
                            .mac = mac,
                            .addresses = {IpPrefix(v4, 24), IpPrefix(v6, 64)},
                            .link_local = IpAddress::LinkLocal(mac)});
    for (const IpPrefix& prefix : router.ports.back().addresses) {
      router.routes.push_back({.destination = prefix.Network(),
                               .origin = vswitch::RouteOrigin::kConnected,
                               .next_hops = {{.out_port = port, .gateway = std::nullopt}}});
    }
    const auto ips = [n](int host) {
      return std::vector<IpAddress>{*IpAddress::Parse(fmt::format("10.0.{}.{}", n, host)),
                                    *IpAddress::Parse(fmt::format("fd00:{}::{}", n, host))};
    };
    const PortId local(fmt::format("local{}", n));
    view.ports[local] = {.id = local,
                         .name = "",
                         .network = network,
                         .mac = MacAddress({0xfa, 0x16, 0x3e, 0, n, 2}),
                         .ips = ips(2)};
    const PortId remote(fmt::format("remote{}", n));
    view.endpoints[remote] = {.id = remote,
                              .name = "",
                              .network = network,
                              .host = HostId("h2"),
                              .mac = MacAddress({0xfa, 0x16, 0x3e, 0, n, 3}),
                              .ips = ips(3)};
  }
  router.routes.push_back(
      {.destination = *IpPrefix::Parse("192.168.0.0/16"),
       .origin = vswitch::RouteOrigin::kExtra,
       .next_hops = {{.out_port = PortId("r1"), .gateway = *IpAddress::Parse("10.0.1.2")},
                     {.out_port = PortId("r1"), .gateway = *IpAddress::Parse("10.0.1.3")}}});
  view.routers[router.id] = std::move(router);
  return view;
}

TEST_F(OvsRealTest, TakesWhatTheCompilerMakesAndReadsItBackAsEqual) {
  Start();
  const FlowTable compiled = CompileView(RoutedView(), {.ports = {{PortId("local1"), 3}, {PortId("local2"), 4}},
                                                        .vxlan_v4 = 1,
                                                        .vxlan_v6 = 2,
                                                        .replication_limit = MeterRate{1000, 1000}});
  ASSERT_THAT(compiled.meters(), testing::SizeIs(2));
  for (const std::string& expected :
       {fmt::format("+{} ~0 -0", compiled.flows().size()), std::string("+0 ~0 -0")}) {
    Agent agent(config_);
    ASSERT_TRUE(agent.WaitReady());
    agent.desired = compiled;
    EXPECT_EQ(agent.Apply(), expected);
    for (const auto& [owner, reason] : agent.last.failed_owners) ADD_FAILURE() << owner.id << ": " << reason;
    EXPECT_THAT(*agent->Compare(vswitch::HostView()), testing::IsEmpty());
  }
  // What is not wanted any more is deleted, and another rate is a change.
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  agent.desired.AddMeter(
      3, {{2000, 2000}, {vswitch::OwnerKind::kPort, "local1"}, vswitch::DropReason::kReplicationRate});
  EXPECT_EQ(agent.Apply(), fmt::format("+0 ~0 -{}", compiled.flows().size()));
  EXPECT_THAT(*agent->Compare(vswitch::HostView()), testing::IsEmpty());
}

TEST_F(OvsRealTest, FiftyThousandFlows) {
  Start();
  const auto timed = [](const auto& action) {
    const steady_clock::time_point start = steady_clock::now();
    action();
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  };
  const FlowTable desired = ManyFlows(50'000);
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  agent.desired = desired;
  const milliseconds fill = timed([&] { EXPECT_EQ(agent.Apply(), "+50000 ~0 -0"); });
  const milliseconds same = timed([&] { EXPECT_EQ(agent.Apply(), "+0 ~0 -0"); });

  Agent restarted(config_);
  ASSERT_TRUE(restarted.WaitReady());
  restarted.desired = desired;
  const milliseconds readback = timed([&] { EXPECT_EQ(restarted.Apply(), "+0 ~0 -0"); });
  fmt::print("50,000 flows: filled in {} ms, unchanged in {} ms, read back in {} ms\n", fill.count(),
             same.count(), readback.count());
}

// 1,500 VTEPs in one flow are more than OpenFlow's 64 KB.
TEST_F(OvsRealTest, TakesAReplicationToThousandsOfHosts) {
  vswitch::HostView view;
  view.host = HostId("h");
  vswitch::NetworkView network{NetworkId("n"), "n", *Vni::From(7), 1450, true, {}};
  for (int i = 0; i < 3000; ++i) {
    const HostId id(fmt::format("h{:04}", i));
    const IpAddress vtep = *IpAddress::Parse(fmt::format("fd77::{:x}", 16 + i));
    view.hosts.emplace(id, vswitch::RemoteHost{id, vtep, {std::nullopt, vtep}});
    network.flood_hosts.push_back(id);
  }
  view.networks.emplace(network.id, network);
  Start();
  Agent agent(config_);
  ASSERT_TRUE(agent.WaitReady());
  agent.desired = CompileView(view, {{}, 1, 2});
  EXPECT_EQ(agent.Apply(), fmt::format("+{} ~0 -0", agent.desired.flows().size()));
  EXPECT_TRUE(agent.last.failed_owners.empty());
  Agent restarted(config_);
  ASSERT_TRUE(restarted.WaitReady());
  restarted.desired = agent.desired;
  EXPECT_EQ(restarted.Apply(), "+0 ~0 -0") << "read back in another spelling";
}

}  // namespace
}  // namespace kasane::ovs
