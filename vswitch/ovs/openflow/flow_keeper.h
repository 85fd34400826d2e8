// Keeps a switch's flows, meters and groups as they were applied last, over one OpenFlow connection: installs,
// and notices what others change. A change of flows is told by the switch (flow monitor); meters and groups, of
// which it tells nothing, are read once a second. What was found is a disturbance; who owns the keeper applies
// again, which repairs it.
//
// A repair reads all flows back. Who changes flows again and again costs no more than one such reading every
// kMaxPause.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/loop_thread.h"
#include "vswitch/ovs/openflow/disturbances.h"
#include "vswitch/ovs/openflow/flow_installer.h"

namespace kasane::ovs {

class FlowKeeper {
 public:
  using Clock = std::chrono::steady_clock;
  using Connect = std::function<absl::StatusOr<std::unique_ptr<OpenFlowChannel>>()>;

  static constexpr std::chrono::seconds kUntoldCheck{1};
  static constexpr std::chrono::milliseconds kGather{50};  // A command's changes come in several messages.
  static constexpr std::chrono::seconds kMinPause{1};  // Between two disturbances; doubled while they go on ...
  static constexpr std::chrono::seconds kMaxPause{8};  // ... up to this.

  explicit FlowKeeper(Connect connect) : connect_(std::move(connect)) {}
  ~FlowKeeper() { Stop(); }
  FlowKeeper(const FlowKeeper&) = delete;
  FlowKeeper& operator=(const FlowKeeper&) = delete;

  // As FlowInstaller's, over a connection of this session of the switch: a new one starts from what the switch
  // really holds. One thread.
  absl::StatusOr<vswitch::ApplyResult> Apply(const FlowTable& desired, uint64_t session);

  // Starts a thread that calls Check() when there is something to find, and `on_change` when Seen() changed.
  void Watch(std::function<void()> on_change);
  void Stop();  // No callback is running or comes after it returns.

  // Looks for what others changed. Returns when it wants to be called again at the latest.
  Clock::time_point Check(Clock::time_point now);
  Disturbances Seen() const;  // Any thread.

 private:
  void Run();
  absl::Status Find(Clock::time_point now);
  void Publish(Clock::time_point now);

  const Connect connect_;
  std::function<void()> on_change_;

  mutable std::mutex seen_mutex_;  // Guards seen_. Taken last.
  Disturbances seen_;

  std::mutex mutex_;  // Guards all below: the connection is used by one thread at a time.
  std::unique_ptr<FlowInstaller> installer_;
  uint64_t session_ = 0;
  Clock::time_point untold_at_;
  FlowDisturbance flows_;  // Found, and not published yet ...
  std::string untold_;     // ... likewise: of meters and groups.
  Clock::time_point found_at_;
  Clock::time_point published_at_;  // The last one.
  std::chrono::seconds pause_ = kMinPause;

  LoopThread thread_;
};

}  // namespace kasane::ovs
