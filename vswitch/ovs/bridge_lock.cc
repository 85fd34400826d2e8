#include "vswitch/ovs/bridge_lock.h"

#include <string>
#include <utility>

#include "base/status.h"

namespace kasane::ovs {

absl::StatusOr<std::unique_ptr<BridgeLock>> BridgeLock::Take(const OvsConfig& config) {
  absl::StatusOr<FileLock> lock =
      FileLock::Take(fmt::format("{}/kasaned.{}.lock", config.run_dir, config.bridge), 0644);
  if (lock.ok()) return std::unique_ptr<BridgeLock>(new BridgeLock(std::move(*lock)));
  if (lock.status().code() == absl::StatusCode::kNotFound) return nullptr;
  if (lock.status().code() != absl::StatusCode::kAlreadyExists) {
    return Annotate(lock.status(), "kasaned must be able to write to Open vSwitch's run directory");
  }
  return Error(absl::StatusCode::kAlreadyExists, "another kasaned ({}) works on bridge {} of {}: stop it first",
               Message(lock.status()), config.bridge, config.run_dir);
}

}  // namespace kasane::ovs
