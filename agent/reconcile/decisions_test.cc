#include "agent/reconcile/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kasane::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const PortId kVmPort("p1");
const IpAddress kVtep2 = *IpAddress::Parse("192.0.2.2");
const IpAddress kVtep3 = *IpAddress::Parse("192.0.2.3");

// Port p1 on network n1, which floods to h2. h3 is reached through routers only.
vswitch::HostView View() {
  vswitch::HostView view;
  view.host = HostId("h1");
  view.tunnel_addresses.v4 = *IpAddress::Parse("192.0.2.1");
  vswitch::NetworkView network{NetworkId("n1"), "net", *Vni::From(7), 1450, true, {HostId("h2")}};
  view.networks.emplace(network.id, network);
  view.ports[kVmPort] = vswitch::LocalPort{kVmPort, "vm1", NetworkId("n1"), {}, {}, true, true, {}};
  view.hosts[HostId("h2")] = vswitch::RemoteHost{HostId("h2"), kVtep2, {kVtep2, {}}};
  view.hosts[HostId("h3")] = vswitch::RemoteHost{HostId("h3"), kVtep3, {kVtep3, {}}};
  return view;
}

vswitch::DatapathFacts Facts() {
  vswitch::DatapathFacts facts;
  facts.ready = true;
  facts.session = 1;
  facts.attachments[kVmPort] = {"tap1", 5};
  facts.binding_key = "external_ids:iface-id";
  facts.tunnels[kVtep2] = vswitch::TunnelState{kVtep2, true, {}, {}, ""};
  return facts;
}

Installed InstalledOf(const vswitch::HostView& view, const vswitch::DatapathFacts& facts) {
  return {std::make_shared<const vswitch::HostView>(view),
          {"t1", 4},
          facts.session,
          facts.generation,
          facts.disturbances,
          facts.attachments,
          {}};
}

std::string WhyNot(const vswitch::HostView& view, const std::optional<Installed>& installed,
                   const vswitch::DatapathFacts& facts) {
  const auto ports = AssessPorts(view, installed, facts);
  EXPECT_EQ(ports.at(kVmPort).active, ports.at(kVmPort).why_not.empty());
  return ports.at(kVmPort).why_not;
}

TEST(NeedsApplyTest, OnlyWhenSomethingItDependsOnDiffers) {
  const vswitch::HostView view = View();
  const vswitch::DatapathFacts facts = Facts();
  const Installed installed = InstalledOf(view, facts);
  EXPECT_TRUE(NeedsApply(view, std::nullopt, facts));
  EXPECT_FALSE(NeedsApply(view, installed, facts));
  EXPECT_FALSE(NeedsApply(*installed.view, installed, facts));

  vswitch::HostView other = view;
  other.ports[kVmPort].mac = MacAddress::Broadcast();
  EXPECT_TRUE(NeedsApply(other, installed, facts));

  vswitch::DatapathFacts changed = facts;
  changed.session = 2;
  EXPECT_TRUE(NeedsApply(view, installed, changed));
  changed = facts;
  changed.attachments[kVmPort].number = 6;
  EXPECT_TRUE(NeedsApply(view, installed, changed));
  changed = facts;
  changed.generation = 9;
  EXPECT_TRUE(NeedsApply(view, installed, changed));
  changed = facts;
  changed.disturbances = 1;
  EXPECT_TRUE(NeedsApply(view, installed, changed));
  changed = facts;
  changed.tunnels[kVtep2].ready = false;
  EXPECT_FALSE(NeedsApply(view, installed, changed));
  changed = facts;
  changed.session = 2;
  changed.ready = false;
  EXPECT_FALSE(NeedsApply(view, installed, changed));
}

TEST(JudgePortsTest, ActiveWhenAllIsThere) {
  EXPECT_EQ(WhyNot(View(), InstalledOf(View(), Facts()), Facts()), "");
}

TEST(JudgePortsTest, AdminState) {
  vswitch::HostView view = View();
  view.ports[kVmPort].admin_state_up = false;
  EXPECT_EQ(WhyNot(view, InstalledOf(view, Facts()), Facts()), "admin_state_up is false");
  view = View();
  view.networks.at(NetworkId("n1")).admin_state_up = false;
  EXPECT_EQ(WhyNot(view, InstalledOf(view, Facts()), Facts()), "admin_state_up of its network is false");
}

TEST(JudgePortsTest, PluggedAndAcknowledgedInThisSession) {
  const vswitch::HostView view = View();
  vswitch::DatapathFacts facts = Facts();
  const Installed installed = InstalledOf(view, facts);

  facts.attachments.clear();
  EXPECT_THAT(WhyNot(view, installed, facts), HasSubstr("external_ids:iface-id=p1"));
  facts = Facts();
  facts.attachments[kVmPort].number = 6;
  EXPECT_THAT(WhyNot(view, installed, facts), HasSubstr("not in the switch yet"));
  facts = Facts();
  facts.session = 2;
  EXPECT_THAT(WhyNot(view, installed, facts), HasSubstr("not in the switch yet"));
  facts = Facts();
  facts.ready = false;
  EXPECT_EQ(WhyNot(view, installed, facts), "the switch is not ready");
  EXPECT_THAT(WhyNot(view, std::nullopt, Facts()), HasSubstr("not in the switch yet"));
  EXPECT_THAT(WhyNot(view, InstalledOf(vswitch::HostView{}, Facts()), Facts()),
              HasSubstr("not in the switch yet"));
}

TEST(JudgePortsTest, RefusedOwners) {
  struct Case {
    vswitch::Owner owner;
    const char* why;
  };
  const Case cases[] = {
      {{vswitch::OwnerKind::kPort, "p1"}, "the switch refused its flows: bad action"},
      {{vswitch::OwnerKind::kNetwork, "n1"}, "the switch refused flows of its network: bad action"},
      {{vswitch::OwnerKind::kPipeline, ""}, "the switch refused flows of the pipeline: bad action"},
      {{vswitch::OwnerKind::kPort, "other"}, ""},
      {{vswitch::OwnerKind::kRouter, "r1"}, ""},
  };
  for (const Case& c : cases) {
    Installed installed = InstalledOf(View(), Facts());
    installed.result.failed_owners[c.owner] = "bad action";
    EXPECT_EQ(WhyNot(View(), installed, Facts()), c.why);
  }
}

TEST(JudgePortsTest, TunnelsOfTheNetworkAreReadyOrHaveAStatedProblem) {
  const vswitch::HostView view = View();
  const Installed installed = InstalledOf(view, Facts());
  vswitch::DatapathFacts facts = Facts();
  facts.tunnels.clear();
  EXPECT_EQ(WhyNot(view, installed, facts), "waiting for the tunnel to 192.0.2.2 (host h2)");
  facts.tunnels[kVtep2] = vswitch::TunnelState{kVtep2, false, {}, {}, ""};
  EXPECT_EQ(WhyNot(view, installed, facts), "waiting for the tunnel to 192.0.2.2 (host h2)");
  facts.tunnels[kVtep2].problem = "no answer from 192.0.2.2";
  EXPECT_EQ(WhyNot(view, installed, facts), "") << "a dead peer must not keep a port down for ever";

  vswitch::HostView unknown = view;
  unknown.hosts[HostId("h2")].vtep.reset();
  EXPECT_EQ(WhyNot(unknown, InstalledOf(unknown, Facts()), Facts()), "") << "nothing to wait for";
}

TEST(JudgePortsTest, TunnelsBehindRoutersCountToo) {
  vswitch::HostView view = View();
  vswitch::NetworkView far{NetworkId("n2"), "far", *Vni::From(8), 1450, true, {HostId("h3")}};
  view.networks.emplace(far.id, far);
  vswitch::RouterView router;
  router.id = RouterId("r1");
  for (const char* network : {"n1", "n2"}) {
    vswitch::RouterPort port;
    port.network = NetworkId(network);
    router.ports.push_back(port);
  }
  view.routers[router.id] = router;
  EXPECT_EQ(WhyNot(view, InstalledOf(view, Facts()), Facts()), "waiting for the tunnel to 192.0.2.3 (host h3)");

  vswitch::DatapathFacts facts = Facts();
  facts.tunnels[kVtep3] = vswitch::TunnelState{kVtep3, true, {}, {}, ""};
  EXPECT_EQ(WhyNot(view, InstalledOf(view, facts), facts), "");

  view.routers[router.id].admin_state_up = false;
  EXPECT_EQ(WhyNot(view, InstalledOf(view, Facts()), Facts()), "");
}

TEST(MakeAppliedTest, ReportsThePortsOfTheInstalledViewOnly) {
  vswitch::HostView wanted = View();
  wanted.ports[PortId("p0")] = vswitch::LocalPort{PortId("p0"), "", NetworkId("n1"), {}, {}, true, true, {}};
  const Installed before = InstalledOf(View(), Facts());
  EXPECT_EQ(MakeApplied(before, AssessPorts(wanted, before, Facts())),
            (AppliedReport{{"t1", 4}, {kVmPort}, {}}));
  const Installed after = InstalledOf(wanted, Facts());
  EXPECT_EQ(MakeApplied(after, AssessPorts(wanted, after, Facts())),
            (AppliedReport{{"t1", 4}, {kVmPort}, {PortId("p0")}}));
}

TEST(WantedTunnelsTest, AllHostsOfTheView) { EXPECT_THAT(WantedTunnels(View()), ElementsAre(kVtep2, kVtep3)); }

TEST(DatapathProblemsTest, AnUnderlayThatIsTooSmallForANetwork) {
  const vswitch::HostView view = View();
  vswitch::DatapathFacts facts = Facts();
  facts.tunnel_mtu = {{IpFamily::kV4, 1450}};
  EXPECT_THAT(DatapathProblems(&view, InstalledOf(view, facts), facts), IsEmpty());
  facts.tunnel_mtu = {{IpFamily::kV4, 1430}, {IpFamily::kV6, 9000}};
  const std::vector<vswitch::Problem> problems = DatapathProblems(&view, InstalledOf(view, facts), facts);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].message, HasSubstr("its MTU is 1450, and a tunnel carries 1430 here"));
  EXPECT_THAT(problems[0].message, HasSubstr("by 20 on all hosts"));
}

TEST(DatapathProblemsTest, MoreCopiesOfABroadcastThanTheKernelQueues) {
  vswitch::HostView view = View();
  vswitch::DatapathFacts facts = Facts();
  for (uint32_t i = 0; i < 5; ++i) {
    const PortId id(fmt::format("q{}", i));
    view.ports[id] = vswitch::LocalPort{id, "", NetworkId("n1"), {}, {}, true, true, {}};
    if (i != 4) facts.attachments[id] = {fmt::format("veth{}", i), 10 + i};  // The last one is not plugged.
  }
  for (const uint32_t enough : {0, 5}) {
    facts.local_copies = enough;
    EXPECT_THAT(DatapathProblems(&view, InstalledOf(view, facts), facts), IsEmpty());
  }
  facts.local_copies = 4;
  const std::vector<vswitch::Problem> problems = DatapathProblems(&view, InstalledOf(view, facts), facts);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].subject, "network n1 (net)");
  EXPECT_THAT(problems[0].message, HasSubstr("has 5 copies here, and beyond 4"));
  EXPECT_THAT(problems[0].message, HasSubstr("netdev_max_backlog=10"));
}

TEST(DatapathProblemsTest, NamesWhatIsWrongAndWhatToDo) {
  vswitch::HostView view = View();
  EXPECT_THAT(DatapathProblems(&view, InstalledOf(view, Facts()), Facts()), IsEmpty());

  view.hosts[HostId("h3")].vtep.reset();
  view.hosts[HostId("h3")].addresses = {{}, *IpAddress::Parse("2001:db8::3")};
  view.hosts[HostId("h4")] = vswitch::RemoteHost{HostId("h4"), {}, {}};
  vswitch::DatapathFacts facts = Facts();
  facts.problems = {{"bridge br-phy", "missing"}};
  facts.tunnels[kVtep2] = vswitch::TunnelState{kVtep2, false, {}, {}, "no answer"};
  Installed installed = InstalledOf(view, facts);
  installed.result.failed_owners[{vswitch::OwnerKind::kPort, "p1"}] = "bad action";

  const std::vector<vswitch::Problem> problems = DatapathProblems(&view, installed, facts);
  ASSERT_EQ(problems.size(), 5);
  EXPECT_EQ(problems[0].subject, "bridge br-phy");
  EXPECT_EQ(problems[1], (vswitch::Problem{"port p1 (vm1)", "the switch refused its flows: bad action"}));
  EXPECT_EQ(problems[2], (vswitch::Problem{"tunnel 192.0.2.2 (host h2)", "no answer"}));
  EXPECT_EQ(problems[3].subject, "host h3");
  EXPECT_THAT(problems[3].message, HasSubstr("over IPv6 only, this host over IPv4 only"));
  EXPECT_EQ(problems[4].subject, "host h4");
  EXPECT_THAT(problems[4].message, HasSubstr("start kasaned there"));
}

}  // namespace
}  // namespace kasane::agent
