// StateHub: the single writer of the store and of the snapshot made from it. Everybody else reads
// snapshots.
//
// Threads: any. Transactions take turns; readers wait for none of them.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "controller/store/snapshot.h"
#include "controller/store/store.h"

namespace kasane::controller {

// One resource of a transaction: created or replaced, or (both null) deleted. The hub sets the revision.
struct Change {
  model::ResourceKey key;
  std::shared_ptr<v1::Resource> resource;
  std::optional<model::AnyResource> value;  // The same, decoded.
};

// What a transaction did.
struct Committed {
  std::shared_ptr<const Snapshot> before;
  std::shared_ptr<const Snapshot> after;
  std::vector<model::ResourceKey> changed;  // Sorted.
};

class StateHub {
 public:
  // Told of each transaction, in order, after it is on disk and published. Must not block nor call
  // Transact.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnCommit(const Committed& committed) = 0;
  };

  // Begins with what `store` holds: `resources`, after transaction `counter`. DATA_LOSS names a resource
  // that cannot be read. `store` must outlive the hub.
  static absl::StatusOr<std::unique_ptr<StateHub>> Load(
      Store& store, uint64_t counter, std::vector<std::shared_ptr<const v1::Resource>> resources);

  std::shared_ptr<const Snapshot> snapshot() const;
  Store& store() { return store_; }

  // In the order of their calls. Only before the first transaction; the observers must outlive the hub's use.
  void AddObserver(Observer* observer) { observers_.push_back(observer); }

  // Calls `plan` with the present snapshot, no other transaction being under way, and commits what it
  // returns. No changes: no transaction. Returns the snapshot after it, or the error of `plan` or the store.
  using Plan = absl::FunctionRef<absl::StatusOr<std::vector<Change>>(const Snapshot&)>;
  absl::StatusOr<std::shared_ptr<const Snapshot>> Transact(Plan plan);

  // Waits for a snapshot with a counter greater than `counter`. Null when stop is requested.
  std::shared_ptr<const Snapshot> WaitNewer(uint64_t counter, std::stop_token stop);

  // Keys that the transactions after `counter` changed, and those that the changed resources refer or
  // referred to. Nothing if that is not known any more or is too much to go through.
  std::optional<std::vector<model::ResourceKey>> TouchedSince(uint64_t counter) const;

 private:
  struct Touched {
    uint64_t counter;
    std::shared_ptr<const std::vector<model::ResourceKey>> keys;  // Null: too many.
  };

  StateHub(Store& store, std::shared_ptr<const Snapshot> snapshot);
  absl::StatusOr<Committed> Commit(std::shared_ptr<const Snapshot> before, std::vector<Change> changes);
  void Publish(const Committed& committed);

  Store& store_;
  std::vector<Observer*> observers_;
  std::mutex transaction_mutex_;  // Held by the one transaction; before mutex_.

  mutable std::mutex mutex_;
  std::condition_variable_any newer_;
  std::shared_ptr<const Snapshot> snapshot_;  // Guarded by mutex_, as the next one.
  std::deque<Touched> touched_;               // The last transactions, oldest first, without gaps.
};

}  // namespace kasane::controller
