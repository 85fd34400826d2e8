#include "tests/differential/switch_under_test.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "tests/differential/fenced_slow_path.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"
#include "vswitch/ovs/ovs_datapath.h"
#include "vswitch/ovs/translate/pipeline.h"

namespace kasane::differential {
namespace {

constexpr uint16_t kFenceType = 0x88b5;  // IEEE 802 local experimental, both.
constexpr uint16_t kSlowFenceType = 0x88b6;
constexpr uint32_t kFencePriority = 65000;  // Above all of the agent's.
constexpr std::chrono::seconds kPatience{20};
constexpr char kSchema[] = "/usr/share/openvswitch/vswitch.ovsschema";
const MacAddress kNicPeer({0x02, 0, 0, 0, 0, 0xfe});

absl::StatusOr<int> OpenTap(const std::string& name) {
  const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return FromErrno("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (ioctl(fd, TUNSETIFF, &request) < 0) {
    close(fd);
    return FromErrno("TUNSETIFF " + name);
  }
  return fd;
}

absl::Status RunTool(const std::string& tool, std::vector<std::string> arguments,
                     const std::vector<std::string>& environment = {}) {
  ASSIGN_OR_RETURN(const std::string program, lab::FindProgram(tool));
  lab::Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), program);
  command.environment = environment;
  return lab::Run(command).status();
}

absl::Status Ip(const std::vector<std::string>& arguments) { return RunTool("ip", arguments); }

frames::Bytes Fence(uint16_t type, uint32_t number) {
  const std::array<uint8_t, 4> payload = {static_cast<uint8_t>(number >> 24),
                                          static_cast<uint8_t>(number >> 16), static_cast<uint8_t>(number >> 8),
                                          static_cast<uint8_t>(number)};
  return frames::Raw({MacAddress({0x02, 0xfe, 0, 0, 0, 1}), MacAddress({0x02, 0xfe, 0, 0, 0, 2})}, type,
                     payload);
}

bool IsFence(const frames::Bytes& frame) {
  return frame.size() >= 14 && frame[12] == kFenceType >> 8 &&
         (frame[13] == (kFenceType & 0xff) || frame[13] == (kSlowFenceType & 0xff));
}

// A VXLAN packet as the switch sends it: no IP options or extension headers, UDP to 4789.
std::optional<TunnelFrame> ParseVxlan(const frames::Bytes& frame) {
  constexpr size_t kUdpAndVxlan = 8 + 8;
  if (frame.size() < 14 + 20) return {};
  const bool v4 = frame[12] == 0x08 && frame[13] == 0 && frame[14] == 0x45 && frame[23] == 17;
  const bool v6 = frame[12] == 0x86 && frame[13] == 0xdd && frame[20] == 17;
  const size_t udp = 14 + (v4 ? 20 : 40);
  if ((!v4 && !v6) || frame.size() < udp + kUdpAndVxlan) return {};
  if (frame[udp + 2] != 0x12 || frame[udp + 3] != 0xb5) return {};
  const std::span<const uint8_t> bytes(frame);
  TunnelFrame out;
  out.source = v4 ? IpAddress::V4(bytes.subspan<26, 4>()) : IpAddress::V6(bytes.subspan<22, 16>());
  out.destination = v4 ? IpAddress::V4(bytes.subspan<30, 4>()) : IpAddress::V6(bytes.subspan<38, 16>());
  out.vni = static_cast<uint32_t>(frame[udp + 12] << 16 | frame[udp + 13] << 8 | frame[udp + 14]);
  out.inner.assign(frame.begin() + static_cast<std::ptrdiff_t>(udp + kUdpAndVxlan), frame.end());
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SwitchUnderTest>> SwitchUnderTest::Start(const SwitchConfig& config) {
  std::unique_ptr<SwitchUnderTest> out(new SwitchUnderTest(config));
  if (unshare(CLONE_NEWNET) != 0) return FromErrno("a network namespace of its own (root is needed)");
  char pattern[] = "/tmp/kasane-differential.XXXXXX";
  if (mkdtemp(pattern) == nullptr) return FromErrno("mkdtemp");
  out->directory_ = pattern;
  ASSIGN_OR_RETURN(out->guard_, Guard::Start(out->directory_));
  // Quiet interfaces: nothing but what the test sends.
  RETURN_IF_ERROR(lab::SetSysctl("ipv6/conf/default/disable_ipv6", "1"));
  RETURN_IF_ERROR(Ip({"link", "set", "lo", "up"}));
  RETURN_IF_ERROR(out->StartDaemons());
  RETURN_IF_ERROR(out->MakeUnderlay());
  RETURN_IF_ERROR(out->MakePorts());
  RETURN_IF_ERROR(out->StartDatapath());
  return out;
}

SwitchUnderTest::~SwitchUnderTest() {
  datapath_.reset();
  lab::EndProcesses(daemons_, 2000);
  for (const auto& [id, tap] : taps_) close(tap.fd);
  if (nic_.fd >= 0) close(nic_.fd);
}

absl::Status SwitchUnderTest::StartDaemons() {
  const std::string database = directory_ + "/conf.db";
  const std::string socket = directory_ + "/db.sock";
  const std::vector<std::string> environment = {"OVS_RUNDIR=" + directory_, "OVS_LOGDIR=" + directory_,
                                                "OVS_DBDIR=" + directory_};
  RETURN_IF_ERROR(RunTool("ovsdb-tool", {"create", database, kSchema}));
  const auto daemon = [&](const std::string& name, std::vector<std::string> arguments) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string program, lab::FindProgram(name));
    arguments.insert(arguments.begin(), program);
    for (const char* option : {"--pidfile", "--detach", "--no-chdir", "-vconsole:off"})
      arguments.emplace_back(option);
    RETURN_IF_ERROR(lab::Run({arguments, "", environment, "", "", -1}).status());
    ASSIGN_OR_RETURN(const std::string pid, lab::ReadFile(directory_ + "/" + name + ".pid"));
    daemons_.push_back(std::stoi(pid));
    return guard_->Watch(daemons_.back());
  };
  RETURN_IF_ERROR(daemon("ovsdb-server", {database, "--remote=punix:" + socket}));
  RETURN_IF_ERROR(Vsctl({"--no-wait", "init"}));
  return daemon("ovs-vswitchd", {"unix:" + socket, "--disable-system"});
}

absl::Status SwitchUnderTest::Vsctl(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"--timeout=20", "--db=unix:" + directory_ + "/db.sock"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return RunTool("ovs-vsctl", all);
}

absl::Status SwitchUnderTest::MakeUnderlay() {
  nic_.name = "phy0";
  ASSIGN_OR_RETURN(nic_.fd, OpenTap(nic_.name));
  bridge_mac_ = MacAddress({0x02, 0, 0, 0, 0, 1});
  RETURN_IF_ERROR(Ip({"link", "set", nic_.name, "mtu", "9000", "up"}));
  RETURN_IF_ERROR(
      Vsctl({"add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev",
             "other_config:hwaddr=" + bridge_mac_.ToString(), "--", "add-port", "br-phy", nic_.name}));
  RETURN_IF_ERROR(Ip({"addr", "add", config_.vteps.v4->ToString() + "/24", "dev", "br-phy"}));
  if (config_.vteps.v6) {
    RETURN_IF_ERROR(lab::SetSysctl("ipv6/conf/br-phy/disable_ipv6", "0"));
    RETURN_IF_ERROR(Ip({"addr", "add", config_.vteps.v6->ToString() + "/64", "dev", "br-phy", "nodad"}));
  }
  RETURN_IF_ERROR(Ip({"link", "set", "br-phy", "up"}));
  for (const IpAddress& peer : config_.peers) {
    RETURN_IF_ERROR(Ip(
        {"neigh", "add", peer.ToString(), "lladdr", kNicPeer.ToString(), "dev", "br-phy", "nud", "permanent"}));
  }
  return absl::OkStatus();
}

absl::Status SwitchUnderTest::MakePorts() {
  std::vector<std::string> arguments = {
      "add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=netdev", "fail_mode=secure"};
  for (const PortId& port : config_.ports) {
    Tap tap;
    tap.name = fmt::format("vm{}", taps_.size());
    ASSIGN_OR_RETURN(tap.fd, OpenTap(tap.name));
    taps_[port] = tap;
    RETURN_IF_ERROR(Ip({"link", "set", tap.name, "mtu", "9000", "up"}));
    for (const std::string& word :
         {std::string("--"), std::string("add-port"), std::string("br-int"), tap.name, std::string("--"),
          std::string("set"), std::string("interface"), tap.name, "external_ids:iface-id=" + port.str()}) {
      arguments.push_back(word);
    }
  }
  return Vsctl(arguments);
}

absl::Status SwitchUnderTest::StartDatapath() {
  ovs::OvsConfig config;
  config.run_dir = directory_;
  config.datapath_type = "netdev";
  config.tunnel_addresses = config_.vteps;
  config.slow_path_rate = config_.slow_path_rate;
  // What is told a second later would come among the answers to other frames; cases show it.
  config.slow_path_timeouts = {std::chrono::hours(1), std::chrono::hours(1)};
  const auto on_event = [this] {
    const std::lock_guard lock(mutex_);
    ++events_;
    event_.notify_all();
  };
  const auto on_announcement = [this](const slowpath::Announcement& announcement) {
    const std::lock_guard lock(mutex_);
    announcements_.push_back(announcement);
  };
  ASSIGN_OR_RETURN(ovs::OvsDatapath::Parts parts, ovs::OvsDatapath::RealParts(config));
  parts.slow_path = std::make_unique<ovs::SlowPathThread>(
      config.OpenFlowSocket(),
      std::make_unique<FencedSlowPath>(config.slow_path_rate, on_announcement, config.slow_path_timeouts));
  datapath_ = std::make_unique<ovs::OvsDatapath>(std::move(parts), on_event);
  datapath_->WantTunnels(config_.peers);
  return WaitForFacts("the switch with its ports and tunnels", [this](const vswitch::DatapathFacts& facts) {
    const bool tunnels = std::all_of(config_.peers.begin(), config_.peers.end(), [&](const IpAddress& peer) {
      const auto tunnel = facts.tunnels.find(peer);
      return tunnel != facts.tunnels.end() && tunnel->second.ready;
    });
    return facts.ready && tunnels && facts.attachments.size() == config_.ports.size();
  });
}

absl::Status SwitchUnderTest::WaitForFacts(const std::string& what,
                                           const std::function<bool(const vswitch::DatapathFacts&)>& enough) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto facts = datapath_->Facts();
    if (enough(*facts)) return absl::OkStatus();
    const uint64_t seen = events_;
    if (!event_.wait_until(lock, deadline, [&] { return events_ != seen; })) {
      std::string problems;
      for (const vswitch::Problem& problem : facts->problems)
        problems += "\n  " + problem.subject + ": " + problem.message;
      return Error(absl::StatusCode::kDeadlineExceeded, "{} did not come up{}", what, problems);
    }
  }
}

absl::Status SwitchUnderTest::Apply(const vswitch::HostView& view) {
  const auto result = datapath_->Apply(view);
  if (!result.ok()) return result.status();
  for (const auto& [owner, reason] : result->failed_owners) {
    return Error(absl::StatusCode::kInternal, "the switch refused {} {}: {}", Label(owner.kind), owner.id,
                 reason);
  }
  return AddFences();
}

absl::Status SwitchUnderTest::AddFences() {
  const std::vector<std::string> environment = {"OVS_RUNDIR=" + directory_};
  const auto add = [&](const std::string& bridge, uint16_t type, const std::string& actions) {
    return RunTool("ovs-ofctl",
                   {"-O", "OpenFlow15", "add-flow", fmt::format("unix:{}/{}.mgmt", directory_, bridge),
                    fmt::format("priority={},dl_type={:#x},actions={}", kFencePriority, type, actions)},
                   environment);
  };
  RETURN_IF_ERROR(add("br-int", kFenceType, "in_port"));
  RETURN_IF_ERROR(add("br-phy", kFenceType, "in_port"));
  RETURN_IF_ERROR(add("br-int", kSlowFenceType, std::string(kToTheFence)));
  return AwaitSlowPath();
}

// The agent connects for packets beside all else: what comes first is lost, so the fence is sent until it
// returns.
absl::Status SwitchUnderTest::AwaitSlowPath() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const Tap& tap = taps_.begin()->second;
  while (!slow_path_seen_) {
    const frames::Bytes fence = Fence(kSlowFenceType, ++fences_);
    if (write(tap.fd, fence.data(), fence.size()) < 0) return FromErrno("write to " + tap.name);
    pollfd waiting = {tap.fd, POLLIN, 0};
    poll(&waiting, 1, 100);
    Observed ignored;
    slow_path_seen_ = Drain(tap, fence, ignored);
    if (std::chrono::steady_clock::now() > deadline) {
      return Error(absl::StatusCode::kDeadlineExceeded, "packets do not come through the agent's slow path");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Observed> SwitchUnderTest::SendFromPort(const PortId& port, const frames::Bytes& frame) {
  return Exchange(taps_.at(port), frame);
}

absl::StatusOr<Observed> SwitchUnderTest::SendFromTunnel(const IpAddress& outer_source, uint32_t vni,
                                                         const frames::Bytes& inner) {
  const IpAddress& own = outer_source.is_v4() ? *config_.vteps.v4 : *config_.vteps.v6;
  return Exchange(nic_, frames::Vxlan({bridge_mac_, kNicPeer}, {outer_source, own, 64}, vni, inner));
}

absl::StatusOr<Observed> SwitchUnderTest::Exchange(const Tap& tap, const frames::Bytes& frame) {
  if (write(tap.fd, frame.data(), frame.size()) < 0) return FromErrno("write to " + tap.name);
  return AwaitFences(tap);
}

absl::Status SwitchUnderTest::Send(const PortId& port, const frames::Bytes& frame) {
  const Tap& tap = taps_.at(port);
  if (write(tap.fd, frame.data(), frame.size()) < 0) return FromErrno("write to " + tap.name);
  return absl::OkStatus();
}

absl::StatusOr<Observed> SwitchUnderTest::Collect(const PortId& port) { return AwaitFences(taps_.at(port)); }

absl::StatusOr<Observed> SwitchUnderTest::AwaitFences(const Tap& tap) {
  Observed observed;
  // The first fence may share the frame's batch, whose outputs leave port by port; the second one cannot.
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(AwaitFence(tap, kFenceType, observed));
  // Whatever the agent was asked, it has answered before this one, whose port is as good as any; and the second
  // one is behind what an answer of its own had it asked: for the next hop of an ICMP error.
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(AwaitFence(taps_.begin()->second, kSlowFenceType, observed));
  {
    const std::lock_guard lock(mutex_);
    observed.announcements = std::exchange(announcements_, {});
  }
  std::sort(observed.local.begin(), observed.local.end());
  std::sort(observed.tunnel.begin(), observed.tunnel.end());
  std::sort(observed.announcements.begin(), observed.announcements.end());
  return observed;
}

absl::Status SwitchUnderTest::Settle() { return AwaitFences(taps_.begin()->second).status(); }

absl::Status SwitchUnderTest::AwaitFence(const Tap& tap, uint16_t type, Observed& observed) {
  const frames::Bytes fence = Fence(type, ++fences_);
  if (write(tap.fd, fence.data(), fence.size()) < 0) return FromErrno("write to " + tap.name);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!Drain(tap, fence, observed)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting = {tap.fd, POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      return Error(absl::StatusCode::kDeadlineExceeded, "the fence behind a frame to {} did not come back",
                   tap.name);
    }
  }
  return absl::OkStatus();
}

bool SwitchUnderTest::Drain(const Tap& fence_tap, const frames::Bytes& fence, Observed& observed) {
  bool seen = false;
  const auto drain = [&](const PortId* port, const Tap& tap) {
    frames::Bytes buffer(16384);
    while (true) {
      const ssize_t length = read(tap.fd, buffer.data(), buffer.size());
      if (length <= 0) return;
      const frames::Bytes frame(buffer.begin(), buffer.begin() + length);
      if (!IsFence(frame)) {
        Sort(port, frame, observed);
      } else if (&tap == &fence_tap && frame == fence) {
        seen = true;
      }
    }
  };
  for (const auto& [id, tap] : taps_) drain(&id, tap);
  drain(nullptr, nic_);
  return seen;
}

void SwitchUnderTest::Sort(const PortId* port, const frames::Bytes& frame, Observed& observed) const {
  if (port != nullptr) {
    observed.local.emplace_back(*port, frame);
  } else if (auto tunnel = ParseVxlan(frame)) {
    observed.tunnel.push_back(std::move(*tunnel));
  }
}

absl::StatusOr<std::vector<std::string>> SwitchUnderTest::Differences(const vswitch::HostView& view) {
  ASSIGN_OR_RETURN(const auto discrepancies, datapath_->Compare(view));
  std::vector<std::string> texts;
  for (const vswitch::Discrepancy& one : discrepancies) {
    if (one.entry.native.find(fmt::format("priority={}", kFencePriority)) != std::string::npos) continue;
    texts.push_back(
        fmt::format("{} {} {} {}", Label(one.kind), one.entry.stage, one.entry.key, one.entry.action));
  }
  return texts;
}

absl::Status SwitchUnderTest::ForgetLearned() {
  RETURN_IF_ERROR(RunTool("ovs-ofctl",
                          {"-O", "OpenFlow15", "del-flows", fmt::format("unix:{}/br-int.mgmt", directory_),
                           fmt::format("table={}", static_cast<int>(ovs::Table::kLearned))},
                          {"OVS_RUNDIR=" + directory_}));
  return AwaitLearned();
}

absl::Status SwitchUnderTest::AwaitLearned() {
  // A cached flow teaches, and counts, when it is thrown out; the next frame is judged by the tables.
  return RunTool("ovs-appctl", {"revalidator/purge"}, {"OVS_RUNDIR=" + directory_});
}

absl::StatusOr<std::map<vswitch::DropReason, uint64_t>> SwitchUnderTest::Drops() {
  // Counters of cached flows reach the flow tables as what they teach does.
  RETURN_IF_ERROR(AwaitLearned());
  ASSIGN_OR_RETURN(const std::vector<vswitch::InstalledEntry> entries, datapath_->Dump());
  std::map<vswitch::DropReason, uint64_t> drops;
  for (const vswitch::InstalledEntry& entry : entries) {
    if (entry.drop_reason && entry.packets != 0) drops[*entry.drop_reason] += entry.packets;
  }
  return drops;
}

}  // namespace kasane::differential
