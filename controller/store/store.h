// The controller's database: one SQLite file that holds every resource with its revision, the timelines of
// the runs on it, and the last known status of the ports.
//
// One process at a time: a lock file beside it ("<file>.lock") is held while it is open. Every change is one
// SQLite transaction, on disk when Commit returns. Calls from any thread; they take turns.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/network_state.h"

namespace kasane::v1 {
class Resource;
}  // namespace kasane::v1

namespace kasane::controller {

// A resource to be stored, or a key to be removed.
struct StoreChange {
  model::ResourceKey key;
  std::shared_ptr<const v1::Resource> resource;  // With its revision. Null: remove.
};

// What a host last said about a port that is bound to it.
struct PortFact {
  PortId port;
  HostId host;  // Empty: nothing is known any more; in a write, forgets what was.
  bool active = false;

  bool operator==(const PortFact&) const = default;
};

struct StoreContents {
  uint64_t counter = 0;                                        // Of the last transaction; 0: none yet.
  std::vector<std::shared_ptr<const v1::Resource>> resources;  // Each with its revision.
  std::vector<PortFact> port_facts;
};

class Store {
 public:
  // Opens the database, creating it and its directory as needed, and appends a new timeline. The file gets
  // mode 0600 if it is open to others.
  // FAILED_PRECONDITION: another controller has it, or its schema is of another version.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path);
  ~Store();

  const std::string& store_id() const;                // Random; stays with the database.
  const std::vector<std::string>& timelines() const;  // Oldest first; the last is this run's.

  // DATA_LOSS names a row that cannot be read.
  absl::StatusOr<StoreContents> Load();
  // All of it in one transaction, numbered `counter`, or none of it.
  absl::Status Commit(uint64_t counter, const std::vector<StoreChange>& changes);
  // Facts about ports that do not exist (any more) are left out.
  absl::Status WritePortFacts(const std::vector<PortFact>& facts);

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::controller
