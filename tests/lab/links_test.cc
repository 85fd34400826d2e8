#include "tests/lab/links.h"

#include <gtest/gtest.h>

namespace kasane::lab {
namespace {

LabPlan OneHostOneVm() {
  LabPlan plan;
  plan.hosts.push_back({"hv1", IpPrefix(*IpAddress::Parse("198.18.0.1"), 16),
                        *MacAddress::Parse("02:6b:6c:00:00:01"),
                        IpPrefix(*IpAddress::Parse("198.19.1.1"), 16)});
  Vm vm;
  vm.node = "web";
  vm.interface = "tap00000000-00";
  vm.mac = *MacAddress::Parse("fa:16:3e:00:00:01");
  vm.mtu = 1400;
  vm.addresses = {IpPrefix(*IpAddress::Parse("10.0.0.5"), 24), IpPrefix(*IpAddress::Parse("2001:db8::5"), 64)};
  vm.routes = {{*IpPrefix::Parse("0.0.0.0/0"), *IpAddress::Parse("10.0.0.1")},
               {*IpPrefix::Parse("::/0"), *IpAddress::Parse("fe80::1")}};
  vm.behind = {*IpAddress::Parse("192.0.2.1")};
  plan.vms.push_back(vm);
  return plan;
}

TEST(BatchesTest, MakeNamespacesThenLinksBetweenThem) {
  const Layout layout("x");
  EXPECT_EQ(NamespaceBatch(layout, OneHostOneVm()),
            "netns add kl-x-fabric\n"
            "netns add kl-x-hv1\n"
            "netns add kl-x-web\n");
  EXPECT_EQ(LinkBatch(layout, OneHostOneVm()),
            "link add name eth0 netns kl-x-hv1 mtu 1500 type veth peer name under1 netns kl-x-fabric mtu 1500\n"
            "link add name mgmt0 netns kl-x-hv1 type veth peer name mgmt1 netns kl-x-fabric\n"
            "link add name eth0 netns kl-x-web address fa:16:3e:00:00:01 mtu 1400 type veth peer name "
            "tap00000000-00 netns kl-x-hv1 mtu 9000\n");
}

TEST(BatchesTest, WithTheKernelsDatapathTheNicIsTheVtep) {
  LabPlan plan = OneHostOneVm();
  plan.hosts[0].datapath_type = "system";
  EXPECT_EQ(
      LinkBatch(Layout("x"), plan).rfind("link add name eth0 netns kl-x-hv1 address 02:6b:6c:00:00:01 ", 0),
      0U);
  EXPECT_EQ(VtepBatch(plan.hosts[0]), "addr add 198.18.0.1/16 dev eth0\nlink set eth0 up\n");
}

TEST(BatchesTest, ConfigureAVm) {
  EXPECT_EQ(VmBatch(OneHostOneVm().vms[0]),
            "link set lo up\n"
            "addr add 192.0.2.1/32 dev lo\n"
            "addr add 10.0.0.5/24 dev eth0\n"
            "addr add 2001:db8::5/64 dev eth0 nodad\n"
            "link set eth0 up\n"
            "route append 0.0.0.0/0 via 10.0.0.1 dev eth0 onlink\n"
            "route append ::/0 via fe80::1 dev eth0\n");
}

TEST(BatchesTest, AVmWithoutAGatewaySendsAllTheSame) {
  Vm vm = OneHostOneVm().vms[0];
  vm.behind.clear();
  vm.routes.clear();
  EXPECT_EQ(VmBatch(vm),
            "link set lo up\n"
            "addr add 10.0.0.5/24 dev eth0\n"
            "addr add 2001:db8::5/64 dev eth0 nodad\n"
            "link set eth0 up\n"
            "route append 0.0.0.0/0 dev eth0\n"
            "route append ::/0 dev eth0\n");
  vm.addresses.pop_back();
  EXPECT_EQ(VmBatch(vm),
            "link set lo up\n"
            "addr add 10.0.0.5/24 dev eth0\n"
            "link set eth0 up\n"
            "route append 0.0.0.0/0 dev eth0\n")
      << "without an IPv6 address it cannot reach anything by IPv6";
}

TEST(LayoutTest, NamesOfLabsCannotRunIntoEachOther) {
  EXPECT_TRUE(CheckLabName("ci_2").ok());
  for (const char* name : {"", "a-b", "../x", "a b", "12345678901234567"})
    EXPECT_FALSE(CheckLabName(name).ok()) << name;
}

// A VM that becomes the next hop of an extra route: its interface keeps what a case gave it.
TEST(BatchesTest, OfAChangeSayWhatDiffersAlone) {
  const Vm before = OneHostOneVm().vms[0];
  EXPECT_EQ(ChangeVmBatch(before, before), "");
  Vm vm = before;
  vm.behind.push_back(*IpAddress::Parse("192.0.2.9"));
  EXPECT_EQ(ChangeVmBatch(before, vm), "addr add 192.0.2.9/32 dev lo\n");
  EXPECT_EQ(ChangeVmBatch(vm, before), "addr del 192.0.2.9/32 dev lo\n");
}

TEST(BatchesTest, OfANewAddressMakeTheRoutesAnew) {
  const Vm before = OneHostOneVm().vms[0];
  Vm vm = before;
  vm.addresses[0] = IpPrefix(*IpAddress::Parse("10.0.0.6"), 24);
  EXPECT_EQ(ChangeVmBatch(before, vm),
            "route del 0.0.0.0/0 via 10.0.0.1 dev eth0 onlink\n"
            "route del ::/0 via fe80::1 dev eth0\n"
            "addr del 10.0.0.5/24 dev eth0\n"
            "addr add 10.0.0.6/24 dev eth0\n"
            "route append 0.0.0.0/0 via 10.0.0.1 dev eth0 onlink\n"
            "route append ::/0 via fe80::1 dev eth0\n");
}

}  // namespace
}  // namespace kasane::lab
