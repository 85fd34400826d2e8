// A real Open vSwitch with kasane's OVS datapath on it, in a network namespace of this process's own: frames go
// in at its ports and from its NIC, and everything that it sends in answer is collected.
//
// There are no timers: a fence frame follows on the same path, is sent back by a flow of this harness, and what
// has not come out before the second fence is never coming.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/differential/guard.h"
#include "vswitch/datapath.h"
#include "vswitch/host_view.h"
#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/rate_limiter.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::differential {

struct TunnelFrame {
  IpAddress destination;  // Outer.
  IpAddress source;
  uint32_t vni = 0;
  frames::Bytes inner;

  auto operator<=>(const TunnelFrame&) const = default;
  bool operator==(const TunnelFrame&) const = default;
};

struct Observed {
  std::vector<std::pair<PortId, frames::Bytes>> local;
  std::vector<TunnelFrame> tunnel;
  std::vector<slowpath::Announcement> announcements;

  bool operator==(const Observed&) const = default;
};

struct SwitchConfig {
  std::vector<PortId> ports;
  vswitch::TunnelAddresses vteps;  // Own; of IPv4 at least.
  std::vector<IpAddress> peers;    // Their VTEPs, on the same link: a /24, a /64.
  slowpath::RateLimit slow_path_rate{1e9, 1e9};
};

class SwitchUnderTest {
 public:
  // Moves this process into a new network namespace and starts OVS there, in a temporary directory. Needs root.
  static absl::StatusOr<std::unique_ptr<SwitchUnderTest>> Start(const SwitchConfig& config);
  ~SwitchUnderTest();
  SwitchUnderTest(const SwitchUnderTest&) = delete;
  SwitchUnderTest& operator=(const SwitchUnderTest&) = delete;

  // Returns when the switch forwards as the view says.
  absl::Status Apply(const vswitch::HostView& view);

  absl::StatusOr<Observed> SendFromPort(const PortId& port, const frames::Bytes& frame);
  absl::StatusOr<Observed> SendFromTunnel(const IpAddress& outer_source, uint32_t vni,
                                          const frames::Bytes& inner);

  // What is installed and is not what a recompute of `view` from scratch gives, as text.
  absl::StatusOr<std::vector<std::string>> Differences(const vswitch::HostView& view);

  // Empties what the switch has learned.
  absl::Status ForgetLearned();
  // Returns once what the last frame taught holds for the next one.
  absl::Status AwaitLearned();

  // Takes what packets that waited became when the view changed: it is nobody's answer.
  absl::Status Settle();

  // Sends without waiting; what comes of it is what Collect() returns later.
  absl::Status Send(const PortId& port, const frames::Bytes& frame);
  absl::StatusOr<Observed> Collect(const PortId& port);  // All that came of what `port` sent, and of others'.

  // Packets dropped by reason since the flows that count them came in.
  absl::StatusOr<std::map<vswitch::DropReason, uint64_t>> Drops();

 private:
  struct Tap {
    int fd = -1;
    std::string name;
  };
  explicit SwitchUnderTest(SwitchConfig config) : config_(std::move(config)) {}

  absl::Status StartDaemons();
  absl::Status MakeUnderlay();
  absl::Status MakePorts();
  absl::Status StartDatapath();
  absl::Status WaitForFacts(const std::string& what,
                            const std::function<bool(const vswitch::DatapathFacts&)>& enough);
  absl::Status AddFences();
  absl::Status AwaitSlowPath();
  absl::Status Vsctl(const std::vector<std::string>& arguments);
  absl::StatusOr<Observed> Exchange(const Tap& tap, const frames::Bytes& frame);
  absl::StatusOr<Observed> AwaitFences(const Tap& tap);
  absl::Status AwaitFence(const Tap& tap, uint16_t type, Observed& observed);
  // Reads what is there. True if the fence with this number was among what came out of `fence_tap`.
  bool Drain(const Tap& fence_tap, const frames::Bytes& fence, Observed& observed);
  void Sort(const PortId* port, const frames::Bytes& frame, Observed& observed) const;

  SwitchConfig config_;
  std::string directory_;
  std::unique_ptr<Guard> guard_;
  std::vector<pid_t> daemons_;
  Tap nic_;
  MacAddress bridge_mac_;
  std::map<PortId, Tap> taps_;
  uint32_t fences_ = 0;
  bool slow_path_seen_ = false;

  std::mutex mutex_;
  std::condition_variable event_;
  uint64_t events_ = 0;
  std::vector<slowpath::Announcement> announcements_;  // Since the last fence.
  std::unique_ptr<vswitch::Datapath> datapath_;        // Last: ends before what its thread calls.
};

}  // namespace kasane::differential
