// The agent's messages of the state protocol from values.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "agent/sync/sync_client.h"
#include "agent/sync/sync_link.h"

namespace kasane::v1 {
class AddressClaim;
class Hello;
class Report;
}  // namespace kasane::v1

namespace kasane::agent {

v1::Hello EncodeHello(const SyncOptions& options, const std::string& instance_id,
                      const std::vector<model::HeldResource>& held);

// What waits to be reported, merged: the newest verdict on a resource, the newest applied and the newest claim
// on an address win.
struct PendingReport {
  std::map<model::ResourceKey, model::Verdict> verdicts;
  std::optional<AppliedReport> applied;
  std::map<AddressClaimId, model::AddressClaim> observed;

  bool empty() const { return verdicts.empty() && !applied && observed.empty(); }
};

v1::Report EncodeReport(const PendingReport& report);

// As it is kept on the disk.
v1::AddressClaim EncodeClaim(const model::AddressClaim& claim);

}  // namespace kasane::agent
