// A Datapath for tests: records what it is told, fails as it is told, and lets the test write the facts.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/datapath.h"

namespace kasane::agent {

// Thread-safe.
class FakeDatapath final : public vswitch::Datapath {
 public:
  explicit FakeDatapath(std::function<void()> on_event = [] {}) : on_event_(std::move(on_event)) {}

  // ---- for the test ----

  // Changes the facts and tells so.
  void Change(const std::function<void(vswitch::DatapathFacts&)>& change) {
    {
      const std::lock_guard lock(mutex_);
      vswitch::DatapathFacts next = *facts_;
      change(next);
      facts_ = std::make_shared<const vswitch::DatapathFacts>(std::move(next));
    }
    on_event_();
  }

  // The next calls of Apply that no outcome was given for yet return these, in order; later ones succeed.
  void NextApply(absl::StatusOr<vswitch::ApplyResult> outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(std::move(outcome));
  }

  void SetDump(std::vector<vswitch::InstalledEntry> entries) {
    const std::lock_guard lock(mutex_);
    dump_ = std::move(entries);
  }

  // The views that Apply was called with, failed calls included.
  std::vector<vswitch::HostView> applied() const {
    const std::lock_guard lock(mutex_);
    return applied_;
  }

  std::vector<IpAddress> wanted_tunnels() const {
    const std::lock_guard lock(mutex_);
    return wanted_tunnels_;
  }

  // ---- Datapath ----

  std::string Name() const override { return "fake"; }

  std::shared_ptr<const vswitch::DatapathFacts> Facts() const override {
    const std::lock_guard lock(mutex_);
    return facts_;
  }

  absl::StatusOr<vswitch::ApplyResult> Apply(const vswitch::HostView& view) override {
    const std::lock_guard lock(mutex_);
    applied_.push_back(view);
    if (outcomes_.empty()) return vswitch::ApplyResult{};
    absl::StatusOr<vswitch::ApplyResult> outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }

  void WantTunnels(std::vector<IpAddress> remotes) override {
    const std::lock_guard lock(mutex_);
    wanted_tunnels_ = std::move(remotes);
  }

  absl::StatusOr<std::vector<vswitch::InstalledEntry>> Dump() override {
    const std::lock_guard lock(mutex_);
    return dump_;
  }

  void SetDiscrepancies(std::vector<vswitch::Discrepancy> discrepancies) {
    const std::lock_guard lock(mutex_);
    discrepancies_ = std::move(discrepancies);
  }

  absl::StatusOr<std::vector<vswitch::Discrepancy>> Compare(const vswitch::HostView& /*view*/) override {
    const std::lock_guard lock(mutex_);
    return discrepancies_;
  }

 private:
  const std::function<void()> on_event_;
  mutable std::mutex mutex_;
  std::shared_ptr<const vswitch::DatapathFacts> facts_ = std::make_shared<const vswitch::DatapathFacts>();
  std::deque<absl::StatusOr<vswitch::ApplyResult>> outcomes_;
  std::vector<vswitch::HostView> applied_;
  std::vector<IpAddress> wanted_tunnels_;
  std::vector<vswitch::InstalledEntry> dump_;
  std::vector<vswitch::Discrepancy> discrepancies_;
};

}  // namespace kasane::agent
