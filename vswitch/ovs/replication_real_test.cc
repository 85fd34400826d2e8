// Copies to thousands of hosts and ports on a real Open vSwitch, with real packets.
//
// The hosts are addresses behind one router on the underlay, counted where their copies leave; the ports are
// taps of the switch, counted by the switch. A frame is proved to have made no copy too many when all copies of
// the next one have come: they take the same way.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "vswitch/ovs/openflow/flow_installer.h"
#include "vswitch/ovs/openflow/openflow_channel.h"
#include "vswitch/ovs/testing_switch.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/packet/testing/frames.h"

namespace kasane::ovs {
namespace {

using std::chrono::steady_clock;

// The second kernel (tests/lab/uml) has the kernel's datapath, and makes ports slowly.
bool InKernel() { return std::getenv("KASANE_SECOND_KERNEL") != nullptr; }

constexpr size_t kHosts = 3000;
const size_t kPorts = 2000;
const size_t kAtOnce = InKernel() ? 2000 : 200;  // Ports that one command adds.
constexpr uint64_t kRounds = 2;
constexpr uint32_t kVxlanPort = 9000;
constexpr uint32_t kVni = 7;
const std::chrono::seconds kPatience{InKernel() ? 300 : 20};
constexpr char kOwnVtep[] = "10.77.0.1";
constexpr char kRouter[] = "10.77.0.254";
const MacAddress kUnderlayMac({0x02, 0, 0, 0, 0, 1});
const MacAddress kRouterMac({0x02, 0, 0, 0, 0, 0xfe});
const MacAddress kBroadcast({0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
const MacAddress kNobody({0x02, 0xaa, 0, 0, 0, 1});

IpAddress VtepOf(size_t host) { return IpAddress::V4(0x0a800000 + static_cast<uint32_t>(host)); }
std::string PortName(size_t port) { return fmt::format("vm{}", port); }
uint32_t NumberOf(size_t port) { return static_cast<uint32_t>(1 + port); }
MacAddress MacOf(size_t port) {
  return MacAddress({0xfa, 0x16, 0x3e, 0, static_cast<uint8_t>(port >> 8), static_cast<uint8_t>(port)});
}

void WriteFile(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// One network whose ports have port security off, so that unknown unicast goes to all of them.
vswitch::HostView Network(size_t hosts, size_t ports) {
  vswitch::HostView view;
  view.host = HostId("here");
  vswitch::NetworkView network{NetworkId("n"), "n", *Vni::From(kVni), 1450, true, {}};
  for (size_t i = 0; i < hosts; ++i) {
    const HostId id(fmt::format("h{:04}", i));
    view.hosts.emplace(id, vswitch::RemoteHost{id, VtepOf(i), {VtepOf(i), std::nullopt}});
    network.flood_hosts.push_back(id);
    const PortId port(fmt::format("far{:04}", i));
    view.endpoints[port] = {.id = port, .name = "", .network = network.id, .host = id, .mac = {}, .ips = {}};
    view.endpoints[port].mac =
        MacAddress({0xfa, 0x16, 0x3e, 1, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)});
    view.endpoints[port].port_security_enabled = false;
  }
  for (size_t i = 0; i < ports; ++i) {
    const PortId id(PortName(i));
    view.ports[id] = {.id = id, .name = "", .network = network.id, .mac = MacOf(i), .ips = {}};
    view.ports[id].port_security_enabled = false;
    view.ports[id].admin_state_up = true;
  }
  view.networks.emplace(network.id, network);
  return view;
}

// A packet socket on an interface: frames of the experimental type and VXLAN packets that come in, and any that
// go out.
class Wire {
 public:
  explicit Wire(const std::string& interface) {
    fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << interface;
    const int bytes = 256 << 20;
    EXPECT_EQ(setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes), 0);
  }
  ~Wire() { close(fd_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void Send(const frames::Bytes& frame) const {
    EXPECT_EQ(send(fd_, frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  }

  // Counts VXLAN packets by the mark at the end of what they carry and their outer destination, until there are
  // `enough` hosts for `mark`.
  void Collect(uint8_t mark, size_t enough) {
    const auto deadline = steady_clock::now() + kPatience;
    while (copies[mark].size() < enough && steady_clock::now() < deadline) {
      pollfd waiting = {fd_, POLLIN, 0};
      poll(&waiting, 1, 100);
      Read();
    }
  }

  std::map<uint8_t, std::map<IpAddress, int>> copies;

 private:
  void Read() {
    std::vector<uint8_t> buffer(4096);
    sockaddr_ll from{};
    socklen_t length = sizeof from;
    ssize_t n = 0;
    while ((n = recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length)) >
           0) {
      constexpr ssize_t kHeaders = 14 + 20 + 8 + 8 + 14;
      if (from.sll_pkttype == PACKET_OUTGOING || n <= kHeaders || buffer[12] != 0x08 || buffer[23] != 17)
        continue;
      const IpAddress destination = IpAddress::V4(std::span<const uint8_t, 4>(&buffer[30], 4));
      ++copies[buffer[static_cast<size_t>(n) - 1]][destination];
    }
  }

  int fd_ = -1;
};

// A switch with kPorts ports and the way to kHosts hosts. In the second kernel (tests/lab/uml) it is the
// kernel's.
class BigSwitch {
 public:
  BigSwitch() {
    ovs_.StartDatabase();
    ovs_.Vsctl({"--no-wait", "set", "open_vswitch", ".", "other_config:max-revalidator=50"});
    ovs_.StartSwitch();
    RunCommand({"ip", "link", "add", "phy0", "type", "veth", "peer", "name", "phy1"});
    for (const char* name : {"phy0", "phy1"}) RunCommand({"ip", "link", "set", name, "mtu", "9000", "up"});
    MakeUnderlay();
    MakePorts();
    absl::StatusOr<std::unique_ptr<OpenFlowChannel>> channel = absl::UnavailableError("not tried");
    for (const auto end = steady_clock::now() + kPatience; !channel.ok() && steady_clock::now() < end;)
      channel = OpenOpenFlowChannel(ovs_.run_dir() + "/br-int.mgmt");
    EXPECT_TRUE(channel.ok()) << channel.status();
    installer_ = std::make_unique<FlowInstaller>(*std::move(channel));
  }

  const TestingSwitch& ovs() const { return ovs_; }
  FlowInstaller& installer() { return *installer_; }

 private:
  void MakeUnderlay() {
    const std::string out = InKernel() ? "phy0" : "br-phy";
    if (InKernel()) {
      RunCommand({"ip", "link", "set", out, "address", kUnderlayMac.ToString()});
    } else {
      ovs_.Vsctl({"add-br", out, "--", "set", "bridge", out, "datapath_type=netdev",
                  "other_config:hwaddr=" + kUnderlayMac.ToString(), "--", "add-port", out, "phy0"});
      RunCommand({"ip", "link", "set", out, "up"});
    }
    RunCommand({"ip", "addr", "add", fmt::format("{}/24", kOwnVtep), "dev", out});
    RunCommand({"ip", "route", "add", "10.128.0.0/16", "via", kRouter, "dev", out});
    RunCommand(
        {"ip", "neigh", "add", kRouter, "lladdr", kRouterMac.ToString(), "dev", out, "nud", "permanent"});
    if (!InKernel()) ovs_.Appctl({"tnl/neigh/set", out, kRouter, kRouterMac.ToString()});
  }

  void MakePorts() {
    const std::string type = fmt::format("datapath_type={}", InKernel() ? "system" : "netdev");
    const std::string number = fmt::format("ofport_request={}", kVxlanPort);
    const std::string local = fmt::format("options:local_ip={}", kOwnVtep);
    ovs_.Vsctl({"add-br", "br-int", "--", "set", "bridge", "br-int", type, "fail_mode=secure"});
    ovs_.Vsctl({"add-port", "br-int", "vx0", "--", "set", "interface", "vx0", "type=vxlan", number,
                "options:remote_ip=flow", "options:key=flow", local});
    std::string up;
    std::vector<std::string> arguments;
    for (size_t i = 0; i < kPorts; ++i) {
      const std::vector<std::string> add = {
          "--",  "add-port",  "br-int",    PortName(i),     "--",
          "set", "interface", PortName(i), "type=internal", fmt::format("ofport_request={}", NumberOf(i))};
      arguments.insert(arguments.end(), add.begin() + (arguments.empty() ? 1 : 0), add.end());
      up += fmt::format("link set {} up\n", PortName(i));
      if (i % kAtOnce != kAtOnce - 1 && i + 1 != kPorts) continue;
      if (InKernel()) arguments.insert(arguments.begin(), "--no-wait");
      ovs_.Vsctl(std::exchange(arguments, {}));
    }
    if (InKernel()) WaitForPorts();
    WriteFile(ovs_.run_dir() + "/up", up);
    RunCommand({"ip", "-batch", ovs_.run_dir() + "/up"});
  }

  // The second kernel makes some six a second, in any order. A question may wait for as long as a port takes,
  // so that few are asked before the end.
  static void WaitForPorts() {
    const auto start = steady_clock::now();
    for (size_t step = 100; step != 0 && steady_clock::now() < start + std::chrono::minutes(40);) {
      size_t missing = 0;
      for (size_t i = 0; i < kPorts; i += step) missing += if_nametoindex(PortName(i).c_str()) == 0 ? 1 : 0;
      fmt::print("of {} ports {} are missing after {} s\n", kPorts / step, missing,
                 std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - start).count());
      std::fflush(stdout);
      if (missing == 0) step = step == 100 ? 1 : 0;
      if (step != 0) poll(nullptr, 0, 10'000);
    }
  }

  TestingSwitch ovs_;
  std::unique_ptr<FlowInstaller> installer_;
};

// One switch for all tests: its ports take seconds.
class ReplicationRealTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // The kernel queues copies to interfaces of its own up to here, and drops the others.
    if (InKernel()) WriteFile("/proc/sys/net/core/netdev_max_backlog", "10000");
    ASSERT_TRUE(EnterNewNetworkNamespace()) << "needs root";
    // Quiet interfaces: nothing but what the test sends.
    WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    // The switch holds files for each port.
    const rlim_t wanted = 2 * kPorts + 500;
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files = {.rlim_cur = std::max(files.rlim_max, wanted), .rlim_max = std::max(files.rlim_max, wanted)};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0) << "raise the limit of open files: ulimit -n " << wanted;
    switch_ = std::make_unique<BigSwitch>();
  }
  static void TearDownTestSuite() { switch_.reset(); }

  void Apply(size_t hosts, size_t ports) {
    const vswitch::HostView view = Network(hosts, ports);
    Bindings bindings{.ports = {}, .vxlan_v4 = kVxlanPort};
    for (size_t i = 0; i < ports; ++i) bindings.ports[PortId(PortName(i))] = NumberOf(i);
    const absl::StatusOr<vswitch::ApplyResult> result = switch_->installer().Apply(
        Compile(tables::BuildForwardingTables(view, PluggedPorts(bindings)), bindings));
    ASSERT_TRUE(result.ok()) << result.status();
    for (const auto& [owner, reason] : result->failed_owners) FAIL() << owner.id << ": " << reason;
    // Cached flows follow when the revalidators have been round; the first round may be under way already.
    for (int i = 0; i < 2; ++i) switch_->ovs().Appctl({"revalidator/wait"});
  }

  frames::Bytes Frame(size_t from, const MacAddress& to, uint8_t mark) const {
    constexpr uint8_t kExperimental = 253;  // RFC 3692.
    frames::Bytes payload(46, 0);
    payload.back() = mark;
    return frames::Packet({to, MacOf(from)}, {*IpAddress::Parse("10.0.0.1"), *IpAddress::Parse("10.0.0.2")},
                          kExperimental, payload);
  }

  // Packets that the switch has sent to each local port, by number.
  std::map<uint32_t, uint64_t> SentToPorts() const {
    std::map<uint32_t, uint64_t> sent;
    std::istringstream lines(switch_->ovs().Ofctl("dump-ports"));
    // The kernel counts a port of its own from the port's side.
    const std::string counter = InKernel() ? "rx pkts" : "tx pkts";
    uint32_t port = 0;
    for (std::string line; std::getline(lines, line);) {
      unsigned number = 0;
      unsigned long long packets = 0;
      if (sscanf(line.c_str(), " port %u:", &number) == 1) port = number;
      if (line.find(" port LOCAL") != std::string::npos) port = 0;
      if (sscanf(line.c_str() + std::min(line.find(counter), line.size()), "%*cx pkts=%llu", &packets) != 1)
        continue;
      if (port != 0 && port <= kPorts) sent[port] = packets;
    }
    return sent;
  }

  // Waits until `ports` of them have `more` than `before`, but for the one that sends; checks that none has
  // more.
  void ExpectPorts(const std::map<uint32_t, uint64_t>& before, size_t ports, std::optional<size_t> sender,
                   uint64_t more) {
    const auto deadline = steady_clock::now() + kPatience;
    size_t missing = 0;
    do {
      const std::map<uint32_t, uint64_t> now = SentToPorts();
      ASSERT_EQ(now.size(), kPorts);
      missing = 0;
      for (size_t i = 0; i < kPorts; ++i) {
        const uint64_t expected = i < ports && i != sender ? more : 0;
        const uint64_t got = now.at(NumberOf(i)) - before.at(NumberOf(i));
        ASSERT_LE(got, expected) << PortName(i);
        missing += got < expected ? 1 : 0;
      }
    } while (missing != 0 && steady_clock::now() < deadline);
    EXPECT_EQ(missing, 0U) << "ports without a copy";
  }

  static inline std::unique_ptr<BigSwitch> switch_;
};

TEST_F(ReplicationRealTest, EveryHostAndPortGetsOneCopy) {
  Wire nic("phy1");
  const Wire vm(PortName(0));
  uint8_t mark = 0;
  // Inline; where actions nested in one attribute pass 64 KB; where a translation ends early; everything.
  for (const auto& [hosts, ports] :
       std::vector<std::pair<size_t, size_t>>{{60, 40}, {790, 3}, {1300, 2}, {kHosts, kPorts}}) {
    ASSERT_NO_FATAL_FAILURE(Apply(hosts, ports));
    for (const MacAddress& destination : {kBroadcast, kNobody}) {
      SCOPED_TRACE(fmt::format("{} hosts, {} ports, to {}", hosts, ports, destination));
      const std::map<uint32_t, uint64_t> before = SentToPorts();
      for (uint64_t round = 1; round <= kRounds; ++round) {
        const steady_clock::time_point start = steady_clock::now();
        vm.Send(Frame(0, destination, ++mark));
        nic.Collect(mark, hosts);
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start);
        ASSERT_EQ(nic.copies[mark].size(), hosts) << "round " << round;
        for (const auto& [host, count] : nic.copies[mark - 1]) EXPECT_EQ(count, 1) << host.ToString();
        ASSERT_NO_FATAL_FAILURE(ExpectPorts(before, ports, 0, round));
        fmt::print("{} hosts, {} ports, to {}: the last host's copy after {:.1f} ms\n", hosts, ports,
                   destination, static_cast<double>(took.count()) / 1000);
      }
    }
  }
}

TEST_F(ReplicationRealTest, WhatComesThroughATunnelReachesEveryPortAndNoHost) {
  Wire nic("phy1");
  uint8_t mark = 0;
  ASSERT_NO_FATAL_FAILURE(Apply(kHosts, kPorts));
  for (const MacAddress& destination : {kBroadcast, kNobody}) {
    SCOPED_TRACE(destination.ToString());
    const std::map<uint32_t, uint64_t> before = SentToPorts();
    for (uint64_t round = 1; round <= kRounds; ++round) {
      nic.Send(frames::Vxlan({kUnderlayMac, kRouterMac}, {VtepOf(5), *IpAddress::Parse(kOwnVtep), 64}, kVni,
                             Frame(kPorts + 1, destination, ++mark)));
      ASSERT_NO_FATAL_FAILURE(ExpectPorts(before, kPorts, std::nullopt, round));
    }
  }
  nic.Collect(mark, 0);
  EXPECT_THAT(nic.copies,
              testing::Each(testing::Field(&std::pair<const uint8_t, std::map<IpAddress, int>>::second,
                                           testing::IsEmpty())));
}

}  // namespace
}  // namespace kasane::ovs
