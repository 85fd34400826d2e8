// StateStore: what this agent holds of the network state, resource by resource with its revision, and the
// snapshots made from it.
//
// A session is one stream to the controller, from Begin to End. Until SyncComplete its batches are a
// difference that is not whole yet: deletes are kept back and nothing is published, so that forwarding
// goes on with the last complete snapshot. From then on every batch is a whole transaction and becomes
// part of the next snapshot. A resource with a fault is rejected alone; its last good version stays.
//
// Kept in memory. Threads: one owner, the reconcile thread; the snapshots may be read anywhere.
#pragma once

#include <absl/status/status.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/state/decode.h"
#include "agent/state/network_state.h"

namespace kasane::v1 {
class Batch;
class Resource;
}  // namespace kasane::v1

namespace kasane {

struct HeldResource {
  ResourceKey key;
  Revision revision;

  bool operator==(const HeldResource&) const = default;
};

// What became of one version of a resource. No faults: accepted.
struct Verdict {
  ResourceKey key;
  Revision revision;
  std::vector<Fault> faults;

  bool operator==(const Verdict&) const = default;
};

struct BatchResult {
  std::vector<Verdict> verdicts;  // One for each upsert, in the batch's order.
  std::vector<Fault> unnamed;     // Upserts and deletes that do not even say which resource they are.
};

class StateStore {
 public:
  // Everything held, sorted by key.
  std::vector<HeldResource> Held() const;

  // Begins a session with a store that has these timelines. FAILED_PRECONDITION if something held is of
  // another: the controller's database is another or a restored one. Then feed it nothing of this session.
  absl::Status Begin(const std::vector<std::string>& timelines);
  BatchResult Apply(const v1::Batch& batch);
  // The session's scope is complete at `revision`: performs the deletes kept back, forgets rejections
  // that were not repeated.
  void SyncComplete(const Revision& revision);
  // The session ended. Deletes kept back are forgotten; the next session says them again.
  void End();

  // The last complete state. Null before the first SyncComplete. The same pointer while nothing changed,
  // and resources that did not change are the same pointers in the next one.
  std::shared_ptr<const NetworkState> Snapshot();
  // The revision that the last complete state was brought to.
  const Revision& revision() const { return revision_; }

  // Resources of which a newer version than the one held was refused, by key.
  const std::map<ResourceKey, Verdict>& rejected() const { return rejected_; }

 private:
  Verdict ApplyUpsert(const v1::Resource& resource, const ResourceKey& key);
  void ApplyDelete(const ResourceKey& key);

  NetworkState state_;
  std::map<ResourceKey, Revision> revisions_;  // Of everything in state_.
  std::map<ResourceKey, Verdict> rejected_;

  bool syncing_ = false;               // Between Begin and SyncComplete.
  bool complete_ = false;              // state_ is whole: from SyncComplete to the next session's first batch.
  std::set<ResourceKey> deletes_;      // Kept back until SyncComplete.
  std::set<ResourceKey> unconfirmed_;  // Rejections of earlier sessions, not repeated so far.

  bool changed_ = false;  // state_ differs from snapshot_.
  std::shared_ptr<const NetworkState> snapshot_;
  Revision revision_;
};

}  // namespace kasane
