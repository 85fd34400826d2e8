#include "vswitch/ovs/ovsdb/ovsdb_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vswitch/ovs/ovsdb/derive_state.h"

namespace kasane::ovs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using OpKind = OvsdbOp::Kind;

const IpAddress kVtep4 = *IpAddress::Parse("10.0.0.1");
const IpAddress kVtep6 = *IpAddress::Parse("fd00::1");

OvsConfig Config() {
  OvsConfig config;
  config.tunnel_addresses.v4 = kVtep4;
  return config;
}

OvsdbInterface Interface(const std::string& bridge, const std::string& name, const std::string& type = "",
                         std::optional<int64_t> ofport = 1) {
  OvsdbInterface interface;
  interface.bridge = bridge;
  interface.port = name;
  interface.name = name;
  interface.type = type;
  interface.ofport = ofport;
  return interface;
}

OvsdbInterface Vxlan4(const std::string& owner = kOwnerMark) {
  OvsdbInterface interface = Interface("br-int", kVxlanPort4, "vxlan", 5);
  interface.port_owner = owner;
  interface.options = {{"remote_ip", "flow"}, {"key", "flow"}, {"local_ip", "10.0.0.1"}};
  return interface;
}

OvsdbInterface VmPort(const std::string& name, const std::string& iface_id, std::optional<int64_t> ofport) {
  OvsdbInterface interface = Interface("br-int", name, "", ofport);
  interface.iface_id = iface_id;
  return interface;
}

// Everything in place, on the userspace datapath.
OvsdbSnapshot Healthy() {
  OvsdbSnapshot snapshot;
  snapshot.connected = true;
  snapshot.initialised = true;
  snapshot.ovs_version = "3.1.0";
  snapshot.datapath_types = {"netdev", "system"};
  snapshot.iface_types = {"internal", "vxlan"};
  snapshot.bridges["br-int"] = {.datapath_type = "netdev", .fail_mode = "secure", .protocols = {"OpenFlow15"}};
  snapshot.bridges["br-phy"] = {.datapath_type = "netdev", .fail_mode = "", .protocols = {}};
  snapshot.interfaces = {Interface("br-int", "br-int", "internal", 65534),
                         Interface("br-phy", "br-phy", "internal", 65534), Interface("br-phy", "eth0"),
                         Vxlan4()};
  return snapshot;
}

std::string Summary(const OvsdbPlan& plan) {
  std::string text;
  for (const OvsdbOp& op : plan.ops) {
    constexpr std::array kNames = {"add-bridge", "set-bridge", "add-port", "set-options", "delete-port"};
    text += kNames[static_cast<size_t>(op.kind)];
    for (const std::string& word : {op.port, op.datapath_type}) {
      if (!word.empty()) text += " " + word;
    }
    for (const auto& [key, value] : op.options) text += fmt::format(" {}={}", key, value);
    text += ";";
  }
  return text;
}

TEST(PlanOvsdbTest, LeavesAHealthySwitchAlone) {
  const OvsdbPlan plan = PlanOvsdb(Healthy(), Config(), false);
  EXPECT_EQ(Summary(plan), "");
  EXPECT_THAT(plan.problems, IsEmpty());
  EXPECT_EQ(plan.datapath_type, "netdev");
}

TEST(PlanOvsdbTest, MakesWhatIsMissingAndMendsWhatIsWrong) {
  struct Case {
    std::string name;
    std::function<void(OvsdbSnapshot&, OvsConfig&)> change;
    std::string ops;
  };
  const std::vector<Case> cases = {
      {"no bridge", [](OvsdbSnapshot& s, OvsConfig&) { s.bridges.erase("br-int"); }, "add-bridge system;"},
      {"not secure", [](OvsdbSnapshot& s, OvsConfig&) { s.bridges["br-int"].fail_mode = ""; },
       "set-bridge netdev;"},
      {"old protocols", [](OvsdbSnapshot& s, OvsConfig&) { s.bridges["br-int"].protocols = {"OpenFlow13"}; },
       "set-bridge netdev;"},
      {"type as configured", [](OvsdbSnapshot&, OvsConfig& c) { c.datapath_type = "system"; },
       "set-bridge system;"},
      {"no port", [](OvsdbSnapshot& s, OvsConfig&) { s.interfaces.pop_back(); },
       "add-port kas-vx4 key=flow local_ip=10.0.0.1 remote_ip=flow;"},
      {"another UDP port", [](OvsdbSnapshot&, OvsConfig& c) { c.vxlan_port = 8472; },
       "set-options kas-vx4 dst_port=8472 key=flow local_ip=10.0.0.1 remote_ip=flow;"},
      {"another address",
       [](OvsdbSnapshot&, OvsConfig& c) { c.tunnel_addresses.v4 = *IpAddress::Parse("10.0.0.9"); },
       "set-options kas-vx4 key=flow local_ip=10.0.0.9 remote_ip=flow;"},
      {"a second family", [](OvsdbSnapshot&, OvsConfig& c) { c.tunnel_addresses.v6 = kVtep6; },
       "add-port kas-vx6 key=flow local_ip=fd00::1 remote_ip=flow;"},
      {"no family", [](OvsdbSnapshot&, OvsConfig& c) { c.tunnel_addresses.v4.reset(); },
       "delete-port kas-vx4;"},
  };
  for (const Case& c : cases) {
    OvsdbSnapshot snapshot = Healthy();
    OvsConfig config = Config();
    c.change(snapshot, config);
    const OvsdbPlan plan = PlanOvsdb(snapshot, config, true);
    EXPECT_EQ(Summary(plan), c.ops) << c.name;
    EXPECT_FALSE(plan.blocked) << c.name;
  }
}

TEST(PlanOvsdbTest, ChoosesTheDatapathType) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.bridges.erase("br-int");
  EXPECT_EQ(PlanOvsdb(snapshot, Config(), false).datapath_type, "netdev");
  EXPECT_EQ(PlanOvsdb(snapshot, Config(), true).datapath_type, "system");
  EXPECT_EQ(PlanOvsdb(Healthy(), Config(), true).datapath_type, "netdev")
      << "a bridge that is there keeps its type";
}

TEST(PlanOvsdbTest, NeverTouchesAForeignPort) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.back().port_owner = "somebody";
  OvsdbPlan plan = PlanOvsdb(snapshot, Config(), false);
  EXPECT_EQ(Summary(plan), "");
  ASSERT_THAT(plan.problems, SizeIs(1));
  EXPECT_THAT(plan.problems[0].message, HasSubstr("ovs-vsctl del-port kas-vx4"));

  OvsConfig without = Config();
  without.tunnel_addresses.v4.reset();
  plan = PlanOvsdb(snapshot, without, false);
  EXPECT_EQ(Summary(plan), "");
  EXPECT_THAT(plan.problems, IsEmpty());
}

TEST(PlanOvsdbTest, NamesWhatTheSwitchLacks) {
  struct Case {
    std::function<void(OvsdbSnapshot&, OvsConfig&)> change;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](OvsdbSnapshot& s, OvsConfig&) { s = OvsdbSnapshot(); },
       "answers at unix:/var/run/openvswitch/db.sock"},
      {[](OvsdbSnapshot& s, OvsConfig&) { s.initialised = false; }, "was never initialised"},
      {[](OvsdbSnapshot& s, OvsConfig&) { s.datapath_types.clear(); }, "has not run on this database yet"},
      {[](OvsdbSnapshot& s, OvsConfig&) { s.datapath_types = {"system"}; },
       "datapath types [system], not netdev"},
      {[](OvsdbSnapshot& s, OvsConfig&) { s.iface_types = {"internal"}; }, "no vxlan interfaces"},
      {[](OvsdbSnapshot&, OvsConfig& c) { c.datapath_type = "system"; }, "modprobe openvswitch"},
      {[](OvsdbSnapshot&, OvsConfig& c) { c.datapath_type = "dpdk"; }, "dpdk is not supported"},
  };
  for (const Case& c : cases) {
    OvsdbSnapshot snapshot = Healthy();
    OvsConfig config = Config();
    c.change(snapshot, config);
    const OvsdbPlan plan = PlanOvsdb(snapshot, config, false);
    EXPECT_TRUE(plan.blocked) << c.message;
    ASSERT_THAT(plan.problems, SizeIs(1)) << c.message;
    EXPECT_THAT(plan.problems[0].message, HasSubstr(c.message));
    EXPECT_THAT(plan.ops, IsEmpty());
  }
}

// ---- DeriveState ------------------------------------------------------------------------------------

const std::vector<underlay::LocalAddress> kAddresses = {{.address = kVtep4, .link = "br-phy", .mtu = 1500}};

SwitchLink Link() {
  return {.connected = true,
          .session = 3,
          .ports = {{"br-int", 65534}, {"kas-vx4", 5}, {"tap1", 7}},
          .meters = true,
          .error = ""};
}

SwitchState Derive(const OvsdbSnapshot& snapshot, const SwitchLink& link = Link(),
                   const std::vector<underlay::LocalAddress>& addresses = kAddresses,
                   const Attachments& held = {}) {
  return DeriveState(snapshot, PlanOvsdb(snapshot, Config(), false), link, addresses, Config(), held);
}

TEST(DeriveStateTest, ReadyWhenAllIsInPlace) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap1", "port-1", 7));
  const SwitchState state = Derive(snapshot);
  EXPECT_TRUE(state.ready);
  EXPECT_EQ(state.session, 3u);
  EXPECT_EQ(state.vxlan_v4, 5u);
  EXPECT_EQ(state.vxlan_v6, 0u);
  EXPECT_EQ(state.underlay.at(IpFamily::kV4).link, "br-phy");
  EXPECT_THAT(state.problems, IsEmpty());
  EXPECT_THAT(state.attachments, ElementsAre(testing::Pair(
                                     PortId("port-1"), vswitch::Attachment{.interface = "tap1", .number = 7})));
}

TEST(DeriveStateTest, TakesPortNumbersFromTheSwitchNotFromTheDatabase) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap1", "port-1", 3));  // From before a restart.
  snapshot.interfaces.push_back(VmPort("tap2", "port-2", 7));  // Has lost its number to tap1.
  const SwitchState state = Derive(snapshot);
  ASSERT_THAT(state.attachments, SizeIs(1));
  EXPECT_EQ(state.attachments.at(PortId("port-1")).number, 7u);
}

TEST(DeriveStateTest, NotReadyWithoutBridgeConnectionOrPendingChange) {
  SwitchLink cut = Link();
  cut.connected = false;
  cut.error = "Connection refused";
  const SwitchState state = Derive(Healthy(), cut);
  EXPECT_FALSE(state.ready);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_THAT(state.problems[0].message, HasSubstr("ovs-vswitchd does not answer (Connection refused)"));

  OvsdbSnapshot insecure = Healthy();
  insecure.bridges["br-int"].fail_mode = "";
  EXPECT_FALSE(Derive(insecure).ready);

  SwitchLink without_vxlan = Link();
  without_vxlan.ports.erase("kas-vx4");
  EXPECT_FALSE(Derive(Healthy(), without_vxlan).ready) << "its number is about to come";
}

TEST(DeriveStateTest, NamesAnInterfaceThatTheSwitchCouldNotAdd) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap9", "port-9", -1));
  snapshot.interfaces.back().error = "could not open network device tap9 (No such device)";
  const SwitchState state = Derive(snapshot);
  EXPECT_TRUE(state.ready);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_EQ(state.problems[0].subject, "interface tap9");
  EXPECT_THAT(state.problems[0].message, HasSubstr("for port port-9: could not open network device"));
}

TEST(DeriveStateTest, NamesASwitchThatTakesNothingFromTheKernel) {
  SwitchLink link = Link();
  link.handlers = 2;
  EXPECT_THAT(Derive(Healthy(), link).problems, IsEmpty());
  link.handlers = 0;
  const SwitchState state = Derive(Healthy(), link);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_EQ(state.problems[0].subject, "ovs");
  EXPECT_THAT(state.problems[0].message, HasSubstr("no handler threads"));
  EXPECT_THAT(state.problems[0].message, HasSubstr("restart ovs-vswitchd"));
}

TEST(DeriveStateTest, ASwitchWithoutMetersLimitsNothing) {
  EXPECT_EQ(Derive(Healthy()).replication_limit, Config().replication_limit);
  SwitchLink link = Link();
  link.meters = false;
  const SwitchState state = Derive(Healthy(), link);
  EXPECT_FALSE(state.replication_limit);
  EXPECT_TRUE(state.ready);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_THAT(state.problems[0].message, HasSubstr("no meters"));
}

TEST(DeriveStateTest, NotReadyWithoutTheTunnelPort) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.back().ofport = -1;
  snapshot.interfaces.back().error = "could not add network device kas-vx4 (File exists)";
  SwitchLink link = Link();
  link.ports.erase("kas-vx4");
  SwitchState state = Derive(snapshot, link);
  EXPECT_FALSE(state.ready);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_EQ(state.problems[0].subject, "interface kas-vx4");
  EXPECT_THAT(state.problems[0].message,
              AllOf(HasSubstr("(File exists)"), HasSubstr("ovs-vsctl del-port kas-vx4")));

  snapshot = Healthy();
  snapshot.interfaces.back().port_owner = "somebody";
  state = Derive(snapshot);
  EXPECT_FALSE(state.ready);
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_EQ(state.problems[0].subject, "port kas-vx4");
}

TEST(DeriveStateTest, BindsNoInterfaceWhoseOpenFlowNameIsAmbiguous) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("vhu0123456789abc", "port-1", 7));
  snapshot.interfaces.push_back(VmPort("vhu0123456789abd", "port-2", 8));
  snapshot.interfaces.push_back(VmPort("vhu0123456789", "port-3", 9));
  SwitchLink link = Link();
  link.ports["vhu0123456789ab"] = 8;
  link.ports["vhu0123456789"] = 9;
  const SwitchState state = Derive(snapshot, link);
  EXPECT_THAT(state.attachments, ElementsAre(testing::Key(PortId("port-3"))));
  ASSERT_THAT(state.problems, SizeIs(2));
  EXPECT_EQ(state.problems[0].subject, "interface vhu0123456789abc");
  EXPECT_THAT(state.problems[0].message, HasSubstr("the same as interface vhu0123456789abd"));
  EXPECT_EQ(state.problems[1].subject, "interface vhu0123456789abd");
}

TEST(DeriveStateTest, OfTwoInterfacesWithTheSameIdTheOneThatHasThePortKeepsIt) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap0", "port-1", 9));
  snapshot.interfaces.push_back(VmPort("tap1", "port-1", 7));
  SwitchLink link = Link();
  link.ports["tap0"] = 9;
  const Attachments held = {{PortId("port-1"), {.interface = "tap1", .number = 7}}};
  const SwitchState state = Derive(snapshot, link, kAddresses, held);
  EXPECT_EQ(state.attachments.at(PortId("port-1")).interface, "tap1") << "whatever comes first in the alphabet";
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_EQ(state.problems[0].subject, "interface tap0");
  EXPECT_THAT(state.problems[0].message, HasSubstr("as interface tap1, which keeps the port"));

  EXPECT_EQ(Derive(snapshot, link).attachments.at(PortId("port-1")).interface, "tap1")
      << "the one that the switch numbered first, for an agent that has just started";

  link.ports.erase("tap1");
  EXPECT_EQ(Derive(snapshot, link, kAddresses, held).attachments.at(PortId("port-1")).interface, "tap0")
      << "once the first one is gone";
}

TEST(PortsToEnableTest, OursThatSettingsKeepFromForwarding) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap1", "port-1", 7));
  const SwitchPort tunnel{"kas-vx4", 5, true, false};
  const SwitchPort down_vm{"tap1", 7, true, false};
  SwitchPort muted_vm{"tap1", 7, true, true};
  const SwitchPort others{"eth9", 8, true, true};
  EXPECT_THAT(PortsToEnable({tunnel, down_vm, others}, snapshot, Config()), ElementsAre(tunnel))
      << "a VM's device may be down for good reason, and others' ports are theirs";
  const SwitchPort unmuted{"tap1", 7, false, true};
  EXPECT_THAT(PortsToEnable({muted_vm}, snapshot, Config()), ElementsAre(unmuted));
}

TEST(DeriveStateTest, NamesWhatIsMissingOfTheUnderlay) {
  struct Case {
    std::function<void(OvsdbSnapshot&, std::vector<underlay::LocalAddress>&)> change;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](OvsdbSnapshot&, std::vector<underlay::LocalAddress>& a) { a.clear(); },
       "is on no interface of this host"},
      {[](OvsdbSnapshot&, std::vector<underlay::LocalAddress>& a) { a[0].link = "eth0"; },
       "is on eth0, which is no bridge"},
      {[](OvsdbSnapshot&, std::vector<underlay::LocalAddress>& a) { a[0].link = "br-int"; },
       "the integration bridge"},
      {[](OvsdbSnapshot& s, std::vector<underlay::LocalAddress>&) { s.bridges["br-phy"].datapath_type = ""; },
       "ovs-vsctl set bridge br-phy datapath_type=netdev"},
      {[](OvsdbSnapshot& s, std::vector<underlay::LocalAddress>&) {
         s.interfaces.erase(s.interfaces.begin() + 2);
       },
       "ovs-vsctl add-port br-phy NIC"},
  };
  for (const Case& c : cases) {
    OvsdbSnapshot snapshot = Healthy();
    std::vector<underlay::LocalAddress> addresses = kAddresses;
    c.change(snapshot, addresses);
    const SwitchState state = Derive(snapshot, Link(), addresses);
    EXPECT_TRUE(state.ready) << "packets within the host still flow";
    EXPECT_FALSE(state.underlay.at(IpFamily::kV4).usable) << c.message;
    ASSERT_THAT(state.problems, SizeIs(1)) << c.message;
    EXPECT_EQ(state.problems[0].subject, "tunnel address 10.0.0.1");
    EXPECT_THAT(state.problems[0].message, HasSubstr(c.message));
  }
}

TEST(DeriveStateTest, WithoutTheDatabaseNothingCanChangeAndNothingIsUnplugged) {
  OvsdbSnapshot snapshot = Healthy();
  snapshot.interfaces.push_back(VmPort("tap1", "port-1", 7));
  snapshot.connected = false;
  const SwitchState state = Derive(snapshot);
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(state.session, 3u);
  EXPECT_THAT(state.attachments, SizeIs(1));
  ASSERT_THAT(state.problems, SizeIs(1));
  EXPECT_THAT(state.problems[0].message, HasSubstr("went away"));
}

}  // namespace
}  // namespace kasane::ovs
