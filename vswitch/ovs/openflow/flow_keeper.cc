#include "vswitch/ovs/openflow/flow_keeper.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "vswitch/ovs/shim/ovs_shim.h"

namespace kasane::ovs {
namespace {

std::string DescribeFlows(const FlowDisturbance& flows) {
  return fmt::format("flows of the switch: {} added, {} deleted, {} modified (first {})", flows.added,
                     flows.deleted, flows.modified, flows.first);
}

}  // namespace

FlowDisturbance& FlowDisturbance::operator+=(const FlowDisturbance& later) {
  if (!any()) first = later.first;
  added += later.added;
  deleted += later.deleted;
  modified += later.modified;
  return *this;
}

absl::StatusOr<vswitch::ApplyResult> FlowKeeper::Apply(const FlowTable& desired, uint64_t session) {
  const std::lock_guard lock(mutex_);
  if (!installer_ || session_ != session) {
    installer_.reset();
    ASSIGN_OR_RETURN(std::unique_ptr<OpenFlowChannel> channel, connect_());
    installer_ = std::make_unique<FlowInstaller>(std::move(channel));
    session_ = session;
    flows_ = {};
    untold_.clear();
  }
  absl::StatusOr<vswitch::ApplyResult> result = installer_->Apply(desired);
  if (result.status().code() == absl::StatusCode::kUnavailable) installer_.reset();
  thread_.Wake();  // The connection may be another one.
  return result;
}

void FlowKeeper::Watch(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  thread_.Start([this] { Run(); });
}

void FlowKeeper::Stop() { thread_.Stop(); }

Disturbances FlowKeeper::Seen() const {
  const std::lock_guard lock(seen_mutex_);
  return seen_;
}

absl::Status FlowKeeper::Find(Clock::time_point now) {
  const bool quiet = !flows_.any() && untold_.empty();
  ASSIGN_OR_RETURN(const FlowDisturbance flows, installer_->FindDisturbance());
  flows_ += flows;
  if (now >= untold_at_) {
    untold_at_ = now + kUntoldCheck;
    ASSIGN_OR_RETURN(const std::string untold, installer_->FindUntoldDisturbance());
    if (!untold.empty()) untold_ = untold;
  }
  if (quiet) found_at_ = now;
  return absl::OkStatus();
}

// Slower and slower while they go on; the first one after a quiet time at once.
void FlowKeeper::Publish(Clock::time_point now) {
  pause_ = now > published_at_ + pause_ + 2 * kMaxPause ? kMinPause : std::min(2 * pause_, kMaxPause);
  published_at_ = now;
  const std::lock_guard lock(seen_mutex_);
  ++seen_.count;
  seen_.last = flows_.any() ? DescribeFlows(flows_) : untold_;
  flows_ = {};
  untold_.clear();
}

FlowKeeper::Clock::time_point FlowKeeper::Check(Clock::time_point now) {
  if (!installer_) return Clock::time_point::max();
  if (!Find(now).ok()) {  // The monitor sees the end of the session too, and the next Apply connects anew.
    installer_.reset();
    return Clock::time_point::max();
  }
  if (!flows_.any() && untold_.empty()) return untold_at_;
  const auto due = std::max<Clock::time_point>(found_at_ + kGather, published_at_ + pause_);
  if (now < due) return std::min(due, untold_at_);
  Publish(now);
  return untold_at_;
}

void FlowKeeper::Run() {
  while (!thread_.stopping()) {
    thread_.Drain();
    const Disturbances before = Seen();
    {
      const std::lock_guard lock(mutex_);
      const Clock::time_point now = Clock::now();
      const Clock::time_point next = Check(now);
      if (installer_) installer_->WakeOnInput();
      if (next != Clock::time_point::max()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
        kovs_poll_timer(static_cast<int>(std::max<int64_t>(0, left)));
      }
    }
    if (Seen() != before) {
      on_change_();
      kovs_poll_timer(0);  // There may be more.
    }
    kovs_poll_fd(thread_.wake_fd());
    kovs_poll_block();
  }
}

}  // namespace kasane::ovs
