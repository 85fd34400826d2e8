// HostSync: what one agent has been sent, and what it must be sent next. Free of gRPC.
//
// After Start, the agent has exactly its scope at that snapshot; after each Next, at that one. A slow agent
// skips snapshots: Next takes the newest, as one transaction. Threads: one at a time.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "controller/store/snapshot.h"

namespace kasane::v1 {
class Batch;
}  // namespace kasane::v1

namespace kasane::controller {

class HostSync {
 public:
  // Batches of the first synchronisation, and parts of a transaction, are closed when they reach this many
  // bytes.
  static constexpr size_t kBatchBytes = 1024 * 1024;

  // `in_parts`: the agent takes a transaction in several batches. Else it is one, whatever its size.
  HostSync(HostId host, bool in_parts) : host_(std::move(host)), in_parts_(in_parts) {}

  // The difference between `held`, what the agent says it has, and its scope. May be empty.
  std::vector<v1::Batch> Start(const std::shared_ptr<const Snapshot>& snapshot,
                               const std::map<model::ResourceKey, model::Revision>& held);

  // The batches of one transaction: all but the last say that it goes on. None if the scope holds nothing new.
  // `touched` is what StateHub::TouchedSince says of the snapshot of the last call.
  std::vector<v1::Batch> Next(const std::shared_ptr<const Snapshot>& snapshot,
                              const std::optional<std::vector<model::ResourceKey>>& touched);

 private:
  using Sent = std::map<model::ResourceKey, std::shared_ptr<const v1::Resource>>;

  Sent Scope(const Snapshot& snapshot) const;
  bool MayConcern(const std::optional<std::vector<model::ResourceKey>>& touched) const;

  HostId host_;
  bool in_parts_;
  Sent sent_;
};

}  // namespace kasane::controller
