// The agent's messages of the state protocol from values.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "agent/sync/sync_client.h"
#include "agent/sync/sync_link.h"

namespace kasane::v1 {
class Hello;
class Report;
}  // namespace kasane::v1

namespace kasane {

inline constexpr uint32_t kProtocolVersion = 1;

v1::Hello EncodeHello(const SyncOptions& options, const std::string& instance_id,
                      const std::vector<HeldResource>& held);

// What waits to be reported, merged: the newest verdict on a resource and the newest applied win.
struct PendingReport {
  std::map<ResourceKey, Verdict> verdicts;
  std::optional<AppliedReport> applied;

  bool empty() const { return verdicts.empty() && !applied; }
};

v1::Report EncodeReport(const PendingReport& report);

}  // namespace kasane
