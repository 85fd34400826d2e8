// One agent per bridge: a second one, with an admin socket of its own, would fight the first for every flow.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <utility>

#include "base/file_lock.h"
#include "vswitch/ovs/ovsdb/ovs_config.h"

namespace kasane::ovs {

// Holds RUN_DIR/kasaned.BRIDGE.lock. The kernel lets go of it when the process ends, however it ends; the
// file stays.
class BridgeLock {
 public:
  // ALREADY_EXISTS, naming its pid, if another agent holds the lock. Null if there is no run directory: then
  // Open vSwitch never ran, and there is nothing to fight for.
  static absl::StatusOr<std::unique_ptr<BridgeLock>> Take(const OvsConfig& config);

 private:
  explicit BridgeLock(FileLock lock) : lock_(std::move(lock)) {}

  FileLock lock_;
};

}  // namespace kasane::ovs
