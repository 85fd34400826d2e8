#include "vswitch/ovs/openflow/flow_installer.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "vswitch/ovs/translate/stage_name.h"

namespace kasane::ovs {
namespace {

// Each owner that is refused costs a bundle: more than this at once is no fault of single resources.
constexpr size_t kMaxRefusedOwners = 64;

std::string Describe(const FlowChange& change, const std::string& reason) {
  return fmt::format("table={}({}),priority={},{} actions={}: {}", static_cast<int>(change.key.table),
                     StageName(change.key.table), change.key.priority, change.key.match, change.actions,
                     reason);
}

void Count(const std::vector<FlowChange>& changes, vswitch::ApplyResult& result) {
  for (const FlowChange& change : changes) {
    switch (change.kind) {
      case FlowChange::Kind::kAdd:
        ++result.added;
        break;
      case FlowChange::Kind::kModify:
        ++result.modified;
        break;
      case FlowChange::Kind::kDelete:
        ++result.deleted;
        break;
    }
  }
}

}  // namespace

absl::StatusOr<InstalledFlows> ReadInstalled(OpenFlowChannel& channel, const FlowTable& desired) {
  ASSIGN_OR_RETURN(std::vector<DumpedFlow> dump, channel.Dump());
  // What the switch learned is its own.
  std::erase_if(dump, [](const DumpedFlow& flow) { return flow.key.table == Table::kLearned; });
  return ReadBack(desired, dump, [&channel](const FlowKey& key, const std::string& actions) {
    return channel.Canonical(key, actions);
  });
}

absl::StatusOr<vswitch::ApplyResult> FlowInstaller::Apply(const FlowTable& desired) {
  if (!watching_) RETURN_IF_ERROR(channel_->WatchFlows());  // Before what is there is read.
  watching_ = true;
  if (!installed_) {
    ASSIGN_OR_RETURN(InstalledFlows flows, ReadInstalled(*channel_, desired));
    ASSIGN_OR_RETURN(meters_, channel_->Meters());
    installed_ = std::move(flows);
  }
  std::map<vswitch::Owner, std::string> failed;
  RETURN_IF_ERROR(SetGroups(desired));
  RETURN_IF_ERROR(SetMeters(desired, failed));
  ASSIGN_OR_RETURN(vswitch::ApplyResult result, Commit(PlanChanges(desired, *installed_), std::move(failed)));
  // A refused owner keeps its flows, which may name a meter that it does not want any more: deleting that one
  // would delete them too.
  if (result.failed_owners.empty()) RETURN_IF_ERROR(DeleteMeters(desired));
  for (const auto& [owner, text] : desired.shortfalls()) result.failed_owners.try_emplace(owner, text);
  return result;
}

// A group that is refused is missed by the flows that name it, whose owners are then named.
absl::Status FlowInstaller::SetGroups(const FlowTable& desired) {
  for (const auto& [id, group] : desired.groups()) {
    if (const auto have = groups_.find(id); have != groups_.end() && have->second.text == group) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> refusal, channel_->SetGroup(id, group));
    if (refusal) continue;
    ASSIGN_OR_RETURN(std::string native, channel_->CanonicalGroup(id, group));
    groups_[id] = {group, std::move(native)};
  }
  return absl::OkStatus();
}

absl::StatusOr<FlowDisturbance> FlowInstaller::FindDisturbance() {
  ASSIGN_OR_RETURN(FlowDisturbance found, channel_->TakeDisturbance());
  if (found.any()) Forget();
  return found;
}

absl::StatusOr<std::string> FlowInstaller::FindUntoldDisturbance() {
  if (!installed_) return "";
  ASSIGN_OR_RETURN(const InstalledMeters now, channel_->Meters());
  if (now != meters_) {
    const size_t set = meters_.size();
    Forget();
    return fmt::format("meters of the switch: there are {}, and {} were set", now.size(), set);
  }
  ASSIGN_OR_RETURN(std::string groups, FindGroupDisturbance());
  if (!groups.empty()) Forget();
  return groups;
}

absl::StatusOr<std::string> FlowInstaller::FindGroupDisturbance() {
  if (groups_.empty()) return "";
  ASSIGN_OR_RETURN(const auto now, channel_->Groups());
  for (const auto& [id, group] : groups_) {
    const auto there = now.find(id);
    if (there == now.end()) return fmt::format("groups of the switch: {} was deleted", id);
    if (there->second != group.native) return fmt::format("groups of the switch: {} was modified", id);
  }
  return "";
}

// Who deletes a group deletes the flows that name it, so groups are set anew with the flows.
void FlowInstaller::Forget() {
  installed_.reset();
  groups_.clear();
}

absl::Status FlowInstaller::SetMeters(const FlowTable& desired, std::map<vswitch::Owner, std::string>& failed) {
  for (const MeterChange& change : PlanMeters(desired, meters_)) {
    ASSIGN_OR_RETURN(const std::optional<std::string> refusal, channel_->ChangeMeter(change));
    if (refusal) {
      failed[change.owner] =
          fmt::format("meter {} of {} packets/s: {}", change.id, change.limit.rate, *refusal);
    } else {
      meters_[change.id] = change.limit;
    }
  }
  return absl::OkStatus();
}

absl::Status FlowInstaller::DeleteMeters(const FlowTable& desired) {
  for (const MeterChange& change : PlanMeterDeletions(desired, meters_)) {
    ASSIGN_OR_RETURN(const std::optional<std::string> refusal, channel_->ChangeMeter(change));
    if (!refusal) meters_.erase(change.id);
  }
  return absl::OkStatus();
}

absl::StatusOr<vswitch::ApplyResult> FlowInstaller::Commit(std::vector<FlowChange> changes,
                                                           std::map<vswitch::Owner, std::string> failed) {
  vswitch::ApplyResult result;
  std::erase_if(changes, [&](const FlowChange& change) { return failed.count(change.owner) != 0; });
  result.failed_owners = std::move(failed);
  size_t refused_owners = 0;
  while (!changes.empty()) {
    ASSIGN_OR_RETURN(const std::optional<Refusal> refusal, channel_->Commit(changes));
    if (!refusal) break;
    const FlowChange& refused = changes[refusal->index];
    const vswitch::Owner owner = refused.owner;
    result.failed_owners[owner] = Describe(refused, refusal->reason);
    if (++refused_owners > kMaxRefusedOwners) {
      return Error(absl::StatusCode::kInternal, "the switch refused the flows of more than {} owners, last {}",
                   kMaxRefusedOwners, result.failed_owners[owner]);
    }
    std::erase_if(changes, [&owner](const FlowChange& change) { return change.owner == owner; });
  }
  Acknowledge(changes, *installed_);
  Count(changes, result);
  result.installed = installed_->size();
  return result;
}

}  // namespace kasane::ovs
