#include "agent/sync/state_store.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "kasane/v1/state.pb.h"

namespace kasane::agent {
namespace {

template <typename Map, typename T>
bool Holds(const Map& map, const T& value) {
  auto held = map.find(value.id);
  return held != map.end() && *held->second == value;
}

bool HoldsEqual(const model::NetworkState& state, const model::Host& value) {
  return Holds(state.hosts, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::Network& value) {
  return Holds(state.networks, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::Subnet& value) {
  return Holds(state.subnets, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::Port& value) {
  return Holds(state.ports, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::Router& value) {
  return Holds(state.routers, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::FloatingIp& value) {
  return Holds(state.floating_ips, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::SecurityGroup& value) {
  return Holds(state.security_groups, value);
}
bool HoldsEqual(const model::NetworkState& state, const model::AddressClaim& value) {
  return Holds(state.address_claims, value);
}

bool HoldsEqual(const model::NetworkState& state, const model::AnyResource& resource) {
  return std::visit([&state](const auto& value) { return HoldsEqual(state, *value); }, resource);
}

}  // namespace

std::vector<model::HeldResource> StateStore::Held() const {
  std::vector<model::HeldResource> held;
  held.reserve(revisions_.size());
  for (const auto& [key, revision] : revisions_) held.push_back({key, revision});
  return held;
}

absl::Status StateStore::Begin(const std::vector<std::string>& timelines) {
  const std::set<std::string> known(timelines.begin(), timelines.end());
  for (const auto& [key, revision] : revisions_) {
    if (known.contains(revision.timeline)) continue;
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the controller's database does not know timeline {}, which {} came from: it is another "
                 "database, or was restored from before that time",
                 revision.timeline, ToString(key));
  }
  syncing_ = true;
  deletes_.clear();
  unconfirmed_.clear();
  for (const auto& entry : rejected_) unconfirmed_.insert(entry.first);
  return absl::OkStatus();
}

BatchResult StateStore::Apply(const v1::Batch& batch) {
  BatchResult result;
  if (syncing_) {
    Snapshot();  // The last complete state is kept before it is changed into something that is not.
    complete_ = false;
  } else {
    revision_ = model::DecodeRevision(batch.revision());
  }
  for (int i = 0; i < batch.upserts_size(); ++i) {
    const v1::Resource& resource = batch.upserts(i);
    if (const std::optional<model::ResourceKey> key = model::DecodeKey(resource)) {
      result.verdicts.push_back(ApplyUpsert(resource, *key));
    } else {
      result.unnamed.push_back({fmt::format("upserts[{}]", i), "has no kind that is known, or no id"});
    }
  }
  for (int i = 0; i < batch.deletes_size(); ++i) {
    const std::optional<model::ResourceKey> key = model::DecodeKey(batch.deletes(i));
    if (!key) {
      result.unnamed.push_back({fmt::format("deletes[{}]", i), "has no kind that is known, or no id"});
    } else if (syncing_) {
      deletes_.insert(*key);
    } else {
      ApplyDelete(*key);
    }
  }
  return result;
}

model::Verdict StateStore::ApplyUpsert(const v1::Resource& resource, const model::ResourceKey& key) {
  model::Verdict verdict{key, model::DecodeRevision(resource.revision()), {}};
  deletes_.erase(key);
  unconfirmed_.erase(key);
  const std::string path(Label(key.kind));
  if (verdict.revision.timeline.empty()) {
    verdict.faults.push_back({path + ".revision", "is missing: the controller must give each resource one"});
  }
  std::optional<model::AnyResource> decoded = Decode(resource, path, verdict.faults);
  if (!verdict.faults.empty()) {
    rejected_[key] = verdict;
    return verdict;
  }
  rejected_.erase(key);
  foreign_.erase(key);
  revisions_[key] = verdict.revision;
  unsaved_.resources[key] = resource.SerializeAsString();
  if (!HoldsEqual(state_, *decoded)) {
    Upsert(state_, *decoded);
    changed_ = true;
  }
  return verdict;
}

void StateStore::ApplyDelete(const model::ResourceKey& key) {
  rejected_.erase(key);
  if (revisions_.erase(key) + foreign_.erase(key) == 0) return;
  unsaved_.resources[key] = std::nullopt;
  Erase(state_, key);
  changed_ = true;
}

void StateStore::SyncComplete(const model::Revision& revision) {
  for (const model::ResourceKey& key : deletes_) ApplyDelete(key);
  for (const model::ResourceKey& key : unconfirmed_) rejected_.erase(key);
  for (const model::ResourceKey& key : std::set<model::ResourceKey>(foreign_)) ApplyDelete(key);
  deletes_.clear();
  unconfirmed_.clear();
  syncing_ = false;
  complete_ = true;
  revision_ = revision;
}

void StateStore::End() {
  syncing_ = false;
  deletes_.clear();
  unconfirmed_.clear();
}

std::vector<std::string> StateStore::Restore(const DiskContent& content) {
  std::vector<std::string> losses;
  for (const std::string& bytes : content.resources) {
    v1::Resource resource;
    std::optional<model::ResourceKey> key;
    if (resource.ParseFromString(bytes)) key = model::DecodeKey(resource);
    if (!key) {
      losses.emplace_back("a resource on the disk is no resource; the controller sends it again");
      continue;
    }
    const model::Verdict verdict = ApplyUpsert(resource, *key);
    for (const model::Fault& fault : verdict.faults) {
      losses.push_back(
          fmt::format("{} on the disk: {}; the controller sends it again", ToString(*key), ToString(fault)));
    }
  }
  rejected_.clear();
  unsaved_ = {};
  v1::Revision revision;
  if (content.revision.empty() || !revision.ParseFromString(content.revision)) return losses;
  revision_ = model::DecodeRevision(revision);
  complete_ = true;
  return losses;
}

DiskChanges StateStore::TakeUnsaved() {
  if (!complete_ || unsaved_.empty()) return {};
  unsaved_.revision = model::EncodeRevision(revision_).SerializeAsString();
  return std::exchange(unsaved_, {});
}

void StateStore::AcceptAnyStore() {
  for (const auto& entry : revisions_) foreign_.insert(entry.first);
  revisions_.clear();
}

std::shared_ptr<const model::NetworkState> StateStore::Snapshot() {
  if (complete_ && (changed_ || snapshot_ == nullptr)) {
    snapshot_ = std::make_shared<const model::NetworkState>(state_);
    changed_ = false;
  }
  return snapshot_;
}

}  // namespace kasane::agent
