// StateDisk: the last good state on the host's disk. A host that reboots forwards without the controller, and
// an agent that restarts has its slow path and the claims that it heard at once.
//
// One SQLite database, STATE_DIR/agent.db (mode 0600): a row for each resource, as the controller sent it, and
// for each claim that was heard here, with a checksum of its own. A change costs the rows that it changes.
// Written behind: Write returns at once, and a thread writes all that has gathered in one transaction, which
// holds whole batches only. A process that is killed loses what gathered in the last milliseconds, a host that
// loses power what the kernel had not written; the database is whole after both, and the controller sends again
// what is missing.
//
// A damaged row is lost alone and named. The damaged file, and one of a newer kasaned, is kept beside under
// another name.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "model/network_state.h"

namespace kasane::agent {

// What the disk is to hold from now on, by key. No bytes: nothing.
struct DiskChanges {
  std::map<model::ResourceKey, std::optional<std::string>> resources;  // v1::Resource, serialized.
  std::map<AddressClaimId, std::optional<std::string>> claims;         // v1::AddressClaim, serialized.
  std::optional<std::string> revision;  // v1::Revision, serialized: that all of it was brought to.

  bool empty() const { return resources.empty() && claims.empty() && !revision; }
};

// What the disk held.
struct DiskContent {
  std::vector<std::string> resources;  // v1::Resource, serialized.
  std::vector<std::string> claims;     // v1::AddressClaim, serialized.
  std::string revision;                // v1::Revision, serialized. Empty: none.
  std::vector<std::string> losses;     // What could not be read, each naming the file and what becomes of it.
};

// Takes what changes; never blocks.
class StateSink {
 public:
  virtual ~StateSink() = default;
  virtual void Write(DiskChanges changes) = 0;
  // Why the last write failed; it is tried again. Empty: all is well.
  virtual std::string Problem() const = 0;
};

// Threads: Load by the opener, before the first Write; Write and Problem by any.
class StateDisk final : public StateSink {
 public:
  static constexpr BackoffOptions kRetry{std::chrono::milliseconds(1'000), std::chrono::milliseconds(30'000)};

  // Makes `folder` (0700) if it is missing; its parent must be there. UNAVAILABLE if it cannot be made or
  // written; ALREADY_EXISTS if another agent uses it.
  static absl::StatusOr<std::unique_ptr<StateDisk>> Open(const std::string& folder,
                                                         const BackoffOptions& retry = kRetry);
  // Writes what has gathered, once.
  ~StateDisk() override;

  DiskContent Load();
  void Write(DiskChanges changes) override;
  std::string Problem() const override;

 private:
  class Impl;
  explicit StateDisk(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::agent
