#include "controller/store/state_hub.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "kasane/v1/resources.pb.h"
#include "model/references.h"

namespace kasane::controller {
namespace {

constexpr size_t kRememberedTransactions = 64;
constexpr size_t kMaxTouchedKeys = 1000;

absl::Status Add(Snapshot& snapshot, std::shared_ptr<const v1::Resource> resource) {
  std::vector<model::Fault> faults;
  const std::optional<model::ResourceKey> key = model::DecodeKey(*resource);
  const std::string name = key ? ToString(*key) : "a resource without id";
  const std::optional<model::AnyResource> value = Decode(*resource, name, faults);
  if (!value) {
    return Error(
        absl::StatusCode::kDataLoss,
        "the stored {} cannot be read ({}); restore the database from a backup, or use the controller that "
        "wrote it",
        name, faults.empty() ? "no fault named" : ToString(faults.front()));
  }
  Upsert(snapshot.state, *value);
  snapshot.resources[*key] = std::move(resource);
  return absl::OkStatus();
}

void AddReferences(const model::NetworkState& state, const model::ResourceKey& key,
                   std::vector<model::ResourceKey>& touched) {
  const auto note = [&](const model::Reference& reference) {
    touched.push_back({reference.kind, reference.id});
  };
  const auto visit = [&](const auto& map, const auto& id) {
    if (const auto it = map.find(id); it != map.end()) ForEachReference(*it->second, note);
  };
  switch (key.kind) {
    case model::Kind::kHost:
      return;
    case model::Kind::kNetwork:
      return;
    case model::Kind::kSubnet:
      return visit(state.subnets, SubnetId(key.id));
    case model::Kind::kPort:
      return visit(state.ports, PortId(key.id));
    case model::Kind::kRouter:
      return visit(state.routers, RouterId(key.id));
    case model::Kind::kFloatingIp:
      return visit(state.floating_ips, FloatingIpId(key.id));
    case model::Kind::kSecurityGroup:
      return visit(state.security_groups, SecurityGroupId(key.id));
    case model::Kind::kAddressClaim:
      return visit(state.address_claims, AddressClaimId(key.id));
  }
}

// Null if it is too much, or if it cannot be told: a host that comes into being enters the scope of all
// that know ports bound to it, without any of these being changed.
std::shared_ptr<const std::vector<model::ResourceKey>> TouchedBy(const Committed& committed) {
  std::vector<model::ResourceKey> touched = committed.changed;
  for (const model::ResourceKey& key : committed.changed) {
    const bool is_new = committed.before->resources.count(key) == 0;
    if (touched.size() > kMaxTouchedKeys || (key.kind == model::Kind::kHost && is_new)) return nullptr;
    AddReferences(committed.before->state, key, touched);
    AddReferences(committed.after->state, key, touched);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return std::make_shared<const std::vector<model::ResourceKey>>(std::move(touched));
}

}  // namespace

StateHub::StateHub(Store& store, std::shared_ptr<const Snapshot> snapshot)
    : store_(store), snapshot_(std::move(snapshot)) {}

absl::StatusOr<std::unique_ptr<StateHub>> StateHub::Load(
    Store& store, uint64_t counter, std::vector<std::shared_ptr<const v1::Resource>> resources) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = {store.timelines().back(), counter};
  for (auto& resource : resources) RETURN_IF_ERROR(Add(*snapshot, std::move(resource)));
  return std::unique_ptr<StateHub>(new StateHub(store, std::move(snapshot)));
}

std::shared_ptr<const Snapshot> StateHub::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

absl::StatusOr<std::shared_ptr<const Snapshot>> StateHub::Transact(Plan plan) {
  const std::lock_guard transaction(transaction_mutex_);
  std::shared_ptr<const Snapshot> before = snapshot();
  ASSIGN_OR_RETURN(std::vector<Change> changes, plan(*before));
  if (changes.empty()) return before;
  ASSIGN_OR_RETURN(const Committed committed, Commit(std::move(before), std::move(changes)));
  Publish(committed);
  for (Observer* observer : observers_) observer->OnCommit(committed);
  return committed.after;
}

absl::StatusOr<Committed> StateHub::Commit(std::shared_ptr<const Snapshot> before,
                                           std::vector<Change> changes) {
  auto after = std::make_shared<Snapshot>(*before);
  after->revision = {store_.timelines().back(), before->revision.counter + 1};
  Committed committed;
  std::vector<StoreChange> stored;
  for (Change& change : changes) {
    committed.changed.push_back(change.key);
    if (change.value) {
      *change.resource->mutable_revision() = model::EncodeRevision(after->revision);
      Upsert(after->state, *change.value);
      after->resources[change.key] = change.resource;
    } else {
      Erase(after->state, change.key);
      after->resources.erase(change.key);
    }
    stored.push_back({std::move(change.key), std::move(change.resource)});
  }
  RETURN_IF_ERROR(store_.Commit(after->revision.counter, stored));
  std::sort(committed.changed.begin(), committed.changed.end());
  committed.before = std::move(before);
  committed.after = std::move(after);
  return committed;
}

void StateHub::Publish(const Committed& committed) {
  auto keys = TouchedBy(committed);
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = committed.after;
    touched_.push_back({committed.after->revision.counter, std::move(keys)});
    if (touched_.size() > kRememberedTransactions) touched_.pop_front();
  }
  newer_.notify_all();
}

std::shared_ptr<const Snapshot> StateHub::WaitNewer(uint64_t counter, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const bool newer = newer_.wait(lock, std::move(stop), [&] { return snapshot_->revision.counter > counter; });
  return newer ? snapshot_ : nullptr;
}

std::optional<std::vector<model::ResourceKey>> StateHub::TouchedSince(uint64_t counter) const {
  const std::lock_guard lock(mutex_);
  if (touched_.empty() || touched_.front().counter > counter + 1) return std::nullopt;
  std::vector<model::ResourceKey> all;
  for (const Touched& touched : touched_) {
    if (touched.counter <= counter) continue;
    if (touched.keys == nullptr || all.size() > kMaxTouchedKeys) return std::nullopt;
    all.insert(all.end(), touched.keys->begin(), touched.keys->end());
  }
  return all;
}

}  // namespace kasane::controller
