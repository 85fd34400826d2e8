#include "controller/store/apply.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "controller/store/claims.h"
#include "controller/store/fault_report.h"
#include "controller/store/messages.h"
#include "kasane/v1/controller.pb.h"
#include "model/defaults.h"
#include "model/not_enforced.h"
#include "model/resource_name.h"

namespace kasane::controller {
namespace {

// Leaving an item out may put another at fault that refers to it. Such chains are short: floating IP, port,
// subnet, network.
constexpr int kMaxRounds = 32;

std::string PathOf(std::string path, const std::optional<model::ResourceKey>& key, size_t index) {
  if (!path.empty()) return path;
  return fmt::format("{}[{}]", key ? Label(key->kind) : "items", index);
}

// Leaves only what is stored: no revision, no output-only and no unknown fields.
std::shared_ptr<v1::Resource> Stored(v1::Resource&& resource) {
  auto stored = std::make_shared<v1::Resource>(std::move(resource));
  stored->clear_revision();
  stored->clear_source();
  if (stored->has_router()) stored->mutable_router()->clear_interfaces();
  stored->DiscardUnknownFields();
  return stored;
}

// Equal but for the revision, which `wanted` takes over: it gets its own when it is committed.
bool SameSpec(const v1::Resource& stored, v1::Resource& wanted) {
  *wanted.mutable_revision() = stored.revision();
  return stored.SerializeAsString() == wanted.SerializeAsString();
}

std::string NameOfAny(const model::AnyResource& resource) {
  return std::visit([](const auto& value) { return std::string(NameOf(*value)); }, resource);
}

void AddChange(const model::ResourceKey& key, std::string name, v1::Change change,
               v1::ApplyResponse& response) {
  v1::ChangedResource& listed = *response.add_changes();
  *listed.mutable_key() = model::EncodeKey(key);
  listed.set_name(std::move(name));
  listed.set_change(change);
}

}  // namespace

absl::Status ApplyInput::Add(v1::ApplyItem&& item) {
  const size_t index = items_.size();
  if (item.path().size() > kMaxPathBytes) {
    return Invalid("the path of item {} has {} bytes; at most {} are taken", index, item.path().size(),
                   kMaxPathBytes);
  }
  RequestItem decoded;
  decoded.key = model::DecodeKey(item.resource());
  decoded.path = PathOf(std::move(*item.mutable_path()), decoded.key, index);
  std::vector<model::Fault> faults;
  decoded.value = Decode(item.resource(), decoded.path, faults);
  if (decoded.key && decoded.key->kind == model::Kind::kAddressClaim) {
    faults.push_back({decoded.path, "is what hosts have observed; it can be deleted, but not applied"});
  }
  for (model::Fault& fault : faults) {
    faults_.push_back(
        {index, decoded.key.value_or(model::ResourceKey{}), std::move(fault.path), std::move(fault.message)});
  }
  if (item.has_expected_revision()) expected_[index] = model::DecodeRevision(item.expected_revision());
  items_.push_back(std::move(decoded));
  resources_.push_back(Stored(std::move(*item.mutable_resource())));
  return absl::OkStatus();
}

// One run of Apply beside one snapshot. Items that are left out stay in the lists, so that an index means one
// item throughout; what is pruned comes behind them.
class ApplyTransaction {
 public:
  ApplyTransaction(const Snapshot& before, ApplyInput& input, const v1::ApplyOptions& options)
      : before_(before), input_(input), options_(options), left_out_(input.size(), false) {}

  absl::StatusOr<std::vector<Change>> Run(const ListedLimits& limits, v1::ApplyResponse& response) {
    KeepKnownAddresses();
    FillAbsent();
    faults_.invalid = std::move(input_.faults_);
    CheckRevisions();
    if (options_.prune()) AddPruned();
    RETURN_IF_ERROR(options_.best_effort() ? LeaveOutFaulty() : ValidateAll());
    if (!faults_.empty() && !options_.best_effort() && !options_.dry_run())
      return FaultStatus(faults_, "nothing was stored");
    const bool applies = faults_.empty() || options_.best_effort();
    response.set_faults_omitted(
        AppendFaults(InOrder(std::move(faults_)), limits.faults, *response.mutable_faults()));
    if (!applies) return std::vector<Change>();
    response.set_warnings_omitted(AppendFaults(warnings_, limits.faults, *response.mutable_warnings()));
    ReportNotEnforced(limits.not_enforced, response);
    std::vector<Change> changes = ListChanges(response);
    DropStaleClaims(before_, changes);
    return options_.dry_run() ? std::vector<Change>() : std::move(changes);
  }

 private:
  // A host entry that gives no addresses unpins them; those known stay until its agent announces others.
  void KeepKnownAddresses() {
    for (size_t i = 0; i < input_.size(); ++i) {
      v1::Resource& resource = *input_.resources_[i];
      if (!input_.items_[i].value || !resource.has_host() || !resource.host().tunnel_addresses().empty())
        continue;
      const auto known = before_.resources.find(*input_.items_[i].key);
      if (known == before_.resources.end()) continue;
      *resource.mutable_host()->mutable_tunnel_addresses() = known->second->host().tunnel_addresses();
      DecodeAgain(i);
    }
  }

  void DecodeAgain(size_t item) {
    std::vector<model::Fault> none;
    input_.items_[item].value = Decode(*input_.resources_[item], input_.items_[item].path, none);
  }

  // Sets the source, and what the resources leave out.
  void FillAbsent() {
    absl::flat_hash_map<std::string, bool> networks;  // Of the request, with their port security.
    for (const auto& resource : input_.resources_) {
      if (!resource->has_network()) continue;
      const v1::Network& network = resource->network();
      networks[network.id()] = !network.has_port_security_enabled() || network.port_security_enabled();
    }
    for (size_t i = 0; i < input_.size(); ++i) {
      v1::Resource& resource = *input_.resources_[i];
      resource.set_source(options_.source());
      const bool inherits = resource.has_port() && !resource.port().has_port_security_enabled();
      const bool network_security = !inherits || NetworkSecurity(networks, resource.port().network_id());
      model::FillDefaults(resource, network_security);
      if (!network_security && input_.items_[i].value) DecodeAgain(i);
    }
  }

  bool NetworkSecurity(const absl::flat_hash_map<std::string, bool>& networks, const std::string& id) const {
    if (const auto given = networks.find(id); given != networks.end()) return given->second;
    const auto stored = before_.state.networks.find(NetworkId(id));
    return stored == before_.state.networks.end() || stored->second->port_security_enabled;
  }

  void CheckRevisions() {
    for (size_t i = 0; i < input_.size(); ++i) {
      const RequestItem& item = input_.items_[i];
      if (!item.key) continue;
      const auto it = before_.resources.find(*item.key);
      const v1::Resource* stored = it == before_.resources.end() ? nullptr : it->second.get();
      std::string mismatch;
      if (const auto expected = input_.expected_.find(i); expected != input_.expected_.end())
        mismatch = RevisionMismatch(expected->second, stored);
      if (mismatch.empty() && stored != nullptr) mismatch = OlderThanStored(*input_.resources_[i], *stored);
      if (!mismatch.empty()) faults_.mismatched.push_back({i, *item.key, item.path, std::move(mismatch)});
    }
  }

  static std::string OlderThanStored(const v1::Resource& wanted, const v1::Resource& stored) {
    const bool older = wanted.source_revision() != 0 && wanted.source_revision() < stored.source_revision();
    if (!older || wanted.source().empty() || wanted.source() != stored.source()) return "";
    return fmt::format("is revision {} of the source {}, which has stored revision {} already",
                       wanted.source_revision(), wanted.source(), stored.source_revision());
  }

  void AddPruned() {
    absl::flat_hash_set<std::string> given[std::size(model::kAllKinds) + 1];
    for (const RequestItem& item : input_.items_) {
      if (item.key) given[static_cast<size_t>(item.key->kind)].insert(item.key->id);
    }
    for (const auto& [key, resource] : before_.resources) {
      if (resource->source() != options_.source() || key.kind == model::Kind::kHost ||
          key.kind == model::Kind::kAddressClaim || given[static_cast<size_t>(key.kind)].contains(key.id))
        continue;
      input_.items_.push_back({fmt::format("pruned {}", ToString(key)), key, std::nullopt, true});
      input_.resources_.push_back(nullptr);
      left_out_.push_back(false);
    }
  }

  absl::Status ValidateAll() {
    Judgement judgement = Validate(before_.state, input_.items_);
    faults_.invalid = Merged(std::move(faults_.invalid), std::move(judgement.faults));
    warnings_ = std::move(judgement.warnings);
    return absl::OkStatus();
  }

  absl::Status LeaveOutFaulty() {
    for (const ItemFault& fault : faults_.invalid) left_out_[fault.item] = true;
    for (const ItemFault& fault : faults_.mismatched) left_out_[fault.item] = true;
    for (int round = 0; round < kMaxRounds; ++round) {
      std::vector<RequestItem> items;
      std::vector<size_t> index;  // In input_, of each.
      for (size_t i = 0; i < input_.items_.size(); ++i) {
        if (left_out_[i]) continue;
        items.push_back(input_.items_[i]);
        index.push_back(i);
      }
      Judgement judgement = Validate(before_.state, items);
      for (ItemFault& fault : judgement.faults) {
        fault.item = index[fault.item];
        left_out_[fault.item] = true;
      }
      if (judgement.faults.empty()) {
        for (ItemFault& warning : judgement.warnings) warning.item = index[warning.item];
        warnings_ = std::move(judgement.warnings);
        return absl::OkStatus();
      }
      faults_.invalid = Merged(std::move(faults_.invalid), std::move(judgement.faults));
    }
    return Invalid("{} rounds of leaving out what is at fault left new faults; apply less at once", kMaxRounds);
  }

  // What the items ask for in vain, beside the stored networks that they name.
  void ReportNotEnforced(size_t max_listed, v1::ApplyResponse& response) const {
    model::NetworkState state;
    state.networks = before_.state.networks;
    std::set<model::ResourceKey> stored_networks;
    for (const auto& [id, network] : state.networks) stored_networks.insert({model::Kind::kNetwork, id.str()});
    for (size_t i = 0; i < input_.items_.size(); ++i) {
      if (left_out_[i] || input_.items_[i].deletion) continue;
      Upsert(state, *input_.items_[i].value);
      if (input_.items_[i].key->kind == model::Kind::kNetwork) stored_networks.erase(*input_.items_[i].key);
    }
    uint32_t omitted = 0;
    for (const model::NotEnforcedItem& item : model::NotEnforced(state)) {
      if (stored_networks.count(item.key) != 0) continue;
      if (static_cast<size_t>(response.not_enforced_size()) < max_listed) {
        *response.add_not_enforced() = MakeNotEnforced(item);
      } else {
        ++omitted;
      }
    }
    response.set_not_enforced_omitted(omitted);
  }

  std::vector<Change> ListChanges(v1::ApplyResponse& response) {
    std::vector<Change> changes;
    for (size_t i = 0; i < input_.items_.size(); ++i) {
      if (left_out_[i]) continue;
      RequestItem& item = input_.items_[i];
      const auto stored = before_.resources.find(*item.key);
      if (item.deletion) {
        AddChange(*item.key, NameOfStored(*stored->second), v1::CHANGE_DELETED, response);
        changes.push_back({*item.key, nullptr, std::nullopt});
        continue;
      }
      const v1::Change change = stored == before_.resources.end()                  ? v1::CHANGE_CREATED
                                : SameSpec(*stored->second, *input_.resources_[i]) ? v1::CHANGE_UNCHANGED
                                                                                   : v1::CHANGE_UPDATED;
      AddChange(*item.key, NameOfAny(*item.value), change, response);
      if (change != v1::CHANGE_UNCHANGED)
        changes.push_back({std::move(*item.key), std::move(input_.resources_[i]), std::move(item.value)});
    }
    return changes;
  }

  const Snapshot& before_;
  ApplyInput& input_;
  const v1::ApplyOptions& options_;
  std::vector<bool> left_out_;  // By item.
  RequestFaults faults_;
  std::vector<ItemFault> warnings_;
};

absl::Status Apply(StateHub& hub, ApplyInput input, const v1::ApplyOptions& options, const ListedLimits& limits,
                   v1::ApplyResponse& response) {
  if (options.source().size() > kMaxSourceBytes)
    return Invalid("options.source: {} bytes; at most {} are taken", options.source().size(), kMaxSourceBytes);
  if (options.prune() && options.source().empty())
    return Invalid("options.prune: needs options.source: what that source stored earlier is pruned");
  const auto commit = [&](const Snapshot& before) {
    return ApplyTransaction(before, input, options).Run(limits, response);
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<const Snapshot> after, hub.Transact(commit));
  *response.mutable_revision() = model::EncodeRevision(after->revision);
  return absl::OkStatus();
}

std::string RevisionMismatch(const model::Revision& expected, const v1::Resource* stored) {
  if (stored == nullptr) {
    return expected.counter == 0 ? ""
                                 : fmt::format("is not there, but revision {} is expected", expected.counter);
  }
  if (expected.counter == 0) {
    return fmt::format("is there already, at revision {}, but is expected not to be",
                       stored->revision().counter());
  }
  const model::Revision present = model::DecodeRevision(stored->revision());
  if (present == expected) return "";
  return fmt::format("is at revision {}, but {} is expected; read it again", present.counter, expected.counter);
}

std::string NameOfStored(const v1::Resource& resource) {
  std::vector<model::Fault> none;
  const std::optional<model::AnyResource> value = Decode(resource, "", none);
  return value ? NameOfAny(*value) : std::string();
}

}  // namespace kasane::controller
