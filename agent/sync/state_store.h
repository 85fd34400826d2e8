// StateStore: what this agent holds of the network state, resource by resource with its revision, and the
// snapshots made from it.
//
// A session is one stream to the controller, from Begin to End. Until SyncComplete its batches are a
// difference that is not whole yet: deletes are kept back and nothing is published, so that forwarding
// goes on with the last complete snapshot. From then on every batch is a whole transaction and becomes
// part of the next snapshot. A resource with a fault is rejected alone; its last good version stays.
//
// Kept in memory; what the disk (state_disk.h) is to hold of it is taken from here. Threads: one owner, the
// reconcile thread; the snapshots may be read anywhere.
#pragma once

#include <absl/status/status.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/sync/state_disk.h"
#include "model/decode.h"
#include "model/network_state.h"
#include "model/verdict.h"

namespace kasane::v1 {
class Batch;
class Resource;
}  // namespace kasane::v1

namespace kasane::agent {

struct BatchResult {
  std::vector<model::Verdict> verdicts;  // One for each upsert, in the batch's order.
  std::vector<model::Fault> unnamed;     // Upserts and deletes that do not even say which resource they are.
};

class StateStore {
 public:
  // Everything held, sorted by key.
  std::vector<model::HeldResource> Held() const;

  // Begins a session with a store that has these timelines. FAILED_PRECONDITION if something held is of
  // another: the controller's database is another or a restored one. Then feed it nothing of this session.
  absl::Status Begin(const std::vector<std::string>& timelines);
  BatchResult Apply(const v1::Batch& batch);
  // The session's scope is complete at `revision`: performs the deletes kept back, forgets rejections
  // that were not repeated.
  void SyncComplete(const model::Revision& revision);
  // The session ended. Deletes kept back are forgotten; the next session says them again.
  void End();

  // Before the first session: takes over what the disk held, complete. Returns what of it could not be decoded.
  std::vector<std::string> Restore(const DiskContent& content);
  // What the disk is to hold of the last complete state, since the last call. Nothing while the state is not
  // complete.
  DiskChanges TakeUnsaved();

  // What is held may come from another database than the next session's: nothing is said to be held, and what
  // that session does not send is gone when its scope is complete. Until then it goes on forwarding.
  void AcceptAnyStore();

  // The last complete state. Null before the first SyncComplete. The same pointer while nothing changed,
  // and resources that did not change are the same pointers in the next one.
  std::shared_ptr<const model::NetworkState> Snapshot();
  // The revision that the last complete state was brought to.
  const model::Revision& revision() const { return revision_; }

  // Resources of which a newer version than the one held was refused, by key.
  const std::map<model::ResourceKey, model::Verdict>& rejected() const { return rejected_; }

 private:
  model::Verdict ApplyUpsert(const v1::Resource& resource, const model::ResourceKey& key);
  void ApplyDelete(const model::ResourceKey& key);

  model::NetworkState state_;
  std::map<model::ResourceKey, model::Revision> revisions_;  // Of everything in state_.
  std::map<model::ResourceKey, model::Verdict> rejected_;

  bool syncing_ = false;   // Between Begin and SyncComplete.
  bool complete_ = false;  // state_ is whole: from SyncComplete to the next session's first batch.
  std::set<model::ResourceKey> deletes_;      // Kept back until SyncComplete.
  std::set<model::ResourceKey> unconfirmed_;  // Rejections of earlier sessions, not repeated so far.

  std::set<model::ResourceKey> foreign_;  // Held from before AcceptAnyStore, not sent since.

  DiskChanges unsaved_;
  bool changed_ = false;  // state_ differs from snapshot_.
  std::shared_ptr<const model::NetworkState> snapshot_;
  model::Revision revision_;
};

}  // namespace kasane::agent
