// The reconcile loop: events in, datapath calls and reports out.
//
//   events ─▶ StateStore ─▶ BuildHostView ─▶ Forwarder::Apply ─▶ judge ports ─▶ report, publish snapshot
//
// All events that wait are taken in before anything is computed, so a burst costs one Apply. Nothing is
// applied before the first complete snapshot: what an earlier agent left in the switch keeps forwarding.
// A failed Apply is repeated with growing back-off, or at once when the switch comes back.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/reconcile/claim_table.h"
#include "agent/reconcile/decisions.h"
#include "agent/reconcile/event_queue.h"
#include "agent/sync/state_disk.h"
#include "agent/sync/state_store.h"
#include "agent/sync/sync_link.h"
#include "base/backoff.h"
#include "inspect/agent_snapshot.h"
#include "vswitch/datapath.h"

namespace kasane::agent {

struct ReconcilerOptions {
  HostId host;
  vswitch::TunnelAddresses tunnel_addresses;
  std::string controller_address;  // For problems.
  BackoffOptions apply_backoff{std::chrono::milliseconds(200), std::chrono::milliseconds(10'000)};
};

// Threads: Step by one thread, the reconcile thread; Snapshot by any.
class Reconciler {
 public:
  using Clock = EventQueue::Clock;

  // All but `options` must outlive it. `disk` may be null: then nothing outlives the agent.
  Reconciler(ReconcilerOptions options, vswitch::Forwarder& forwarder, vswitch::TunnelKeeper& tunnels,
             SyncLink& link, StateSink* disk = nullptr);

  // Before the first Step: forwards what the disk held until the controller answers.
  void Restore(const DiskContent& content);

  // Takes in `events` and does all that is due at `now`. Returns when it wants to be called at the latest.
  std::optional<Clock::time_point> Step(const std::vector<Event>& events, Clock::time_point now);

  std::shared_ptr<const inspect::AgentSnapshot> Snapshot() const;

 private:
  void On(const StreamOpened& event);
  void On(const Welcomed& event);
  void On(const BatchArrived& event);
  void On(const SyncCompleted& event);
  void On(const StreamClosed& event);
  void On(const DatapathChanged& event);
  void On(const AddressAnnounced& event);
  void On(const StoreAccepted& event);

  void UpdateView();
  void Save();
  void ApplyIfDue(const vswitch::DatapathFacts& facts, Clock::time_point now);
  void Apply(const vswitch::DatapathFacts& facts, Clock::time_point now);
  void OnApplyFailed(const absl::Status& status, const vswitch::DatapathFacts& facts, Clock::time_point now);
  void Report();
  void Publish(std::shared_ptr<const vswitch::DatapathFacts> facts,
               std::map<PortId, inspect::PortActivity> ports);
  std::vector<vswitch::Problem> Problems(const vswitch::DatapathFacts& facts) const;

  const ReconcilerOptions options_;
  vswitch::Forwarder& forwarder_;
  vswitch::TunnelKeeper& tunnels_;
  SyncLink& link_;
  StateSink* const disk_;

  StateStore store_;
  ClaimTable claims_;

  // The stream to the controller. 0: none yet.
  uint64_t stream_ = 0;
  bool connected_ = false;  // Welcomed, and not refused by us.
  bool synced_ = false;
  std::optional<vswitch::Problem> controller_problem_;
  bool foreign_store_ = false;            // The controller's database is none that what is held came from.
  std::vector<std::string> disk_losses_;  // Until the controller has sent them again.
  std::optional<model::Revision> received_;
  std::vector<model::Verdict> verdicts_;   // To be reported in this step.
  std::optional<AppliedReport> reported_;  // Last on this stream.

  // Null before the first complete state.
  std::shared_ptr<const model::NetworkState> stored_;  // As the controller has it ...
  std::shared_ptr<const model::NetworkState> state_;   // ... and with the claims that were heard here.
  bool claims_changed_ = false;                        // state_ does not show claims_ yet.
  std::shared_ptr<const vswitch::HostView> wanted_;
  std::vector<IpAddress> wanted_tunnels_;

  std::optional<Installed> installed_;
  std::optional<AppliedReport> applied_;  // To be reported if it differs from reported_.

  // After a failed Apply.
  struct Failure {
    vswitch::Problem problem;
    uint64_t session = 0;
    Clock::time_point retry_at;
  };
  std::optional<Failure> failure_;
  int failures_ = 0;  // In a row.

  mutable std::mutex mutex_;
  std::shared_ptr<const inspect::AgentSnapshot> snapshot_;  // Guarded by mutex_. Never null.
};

// Runs the loop on the calling thread until the queue is closed.
void RunReconciler(Reconciler& reconciler, EventQueue& queue);

}  // namespace kasane::agent
