#include "controller/store/transactions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "controller/api/messages.h"
#include "controller/stream/claims.h"
#include "controller/validate/validate.h"
#include "kasane/v1/controller.pb.h"
#include "model/not_enforced.h"
#include "model/resource_name.h"

namespace kasane::controller {
namespace {

// A decoded ApplyRequest.
struct ApplyPlan {
  std::vector<RequestItem> items;
  std::vector<std::shared_ptr<v1::Resource>> resources;  // One per item, as it is to be stored.
  std::vector<ItemFault> faults;
};

std::string PathOf(const v1::ApplyItem& item, const std::optional<model::ResourceKey>& key, int index) {
  if (!item.path().empty()) return item.path();
  return fmt::format("{}[{}]", key ? Label(key->kind) : "items", index);
}

// Leaves only what is stored: no revision, no output-only and no unknown fields.
std::shared_ptr<v1::Resource> Stored(const v1::Resource& resource) {
  auto stored = std::make_shared<v1::Resource>(resource);
  stored->clear_revision();
  if (stored->has_router()) stored->mutable_router()->clear_interfaces();
  stored->DiscardUnknownFields();
  return stored;
}

absl::StatusOr<ApplyPlan> DecodeRequest(const v1::ApplyRequest& request) {
  if (request.items_size() > kMaxItems) {
    return Invalid("{} items in one request; at most {} are taken", request.items_size(), kMaxItems);
  }
  ApplyPlan plan;
  for (int i = 0; i < request.items_size(); ++i) {
    const v1::ApplyItem& item = request.items(i);
    if (item.path().size() > kMaxPathBytes) {
      return Invalid("the path of item {} has {} bytes; at most {} are taken", i, item.path().size(),
                     kMaxPathBytes);
    }
    RequestItem decoded;
    decoded.key = model::DecodeKey(item.resource());
    decoded.path = PathOf(item, decoded.key, i);
    std::vector<model::Fault> faults;
    decoded.value = Decode(item.resource(), decoded.path, faults);
    if (decoded.key && decoded.key->kind == model::Kind::kAddressClaim) {
      faults.push_back({decoded.path, "is what hosts have observed; it can be deleted, but not applied"});
    }
    for (model::Fault& fault : faults) {
      plan.faults.push_back({static_cast<size_t>(i), decoded.key.value_or(model::ResourceKey{}),
                             std::move(fault.path), std::move(fault.message)});
    }
    plan.items.push_back(std::move(decoded));
    plan.resources.push_back(Stored(item.resource()));
  }
  return plan;
}

// A host entry that gives no addresses unpins them; those known stay until its agent announces others.
void KeepKnownAddresses(const Snapshot& before, ApplyPlan& plan) {
  for (size_t i = 0; i < plan.items.size(); ++i) {
    v1::Resource& resource = *plan.resources[i];
    if (!plan.items[i].value || !resource.has_host() || !resource.host().tunnel_addresses().empty()) continue;
    const auto known = before.resources.find(*plan.items[i].key);
    if (known == before.resources.end()) continue;
    *resource.mutable_host()->mutable_tunnel_addresses() = known->second->host().tunnel_addresses();
    std::vector<model::Fault> none;
    plan.items[i].value = Decode(resource, plan.items[i].path, none);
  }
}

bool SameSpec(const v1::Resource& stored, const v1::Resource& wanted) {
  v1::Resource without_revision = stored;
  without_revision.clear_revision();
  return without_revision.SerializeAsString() == wanted.SerializeAsString();
}

v1::Change ChangeOf(const Snapshot& before, const model::ResourceKey& key, const v1::Resource& wanted) {
  const auto it = before.resources.find(key);
  if (it == before.resources.end()) return v1::CHANGE_CREATED;
  return SameSpec(*it->second, wanted) ? v1::CHANGE_UNCHANGED : v1::CHANGE_UPDATED;
}

std::string NameOfAny(const model::AnyResource& resource) {
  return std::visit([](const auto& value) { return std::string(NameOf(*value)); }, resource);
}

void Report(const std::vector<ItemFault>& from, google::protobuf::RepeatedPtrField<v1::Fault>& to) {
  for (const ItemFault& fault : from) {
    *to.Add() =
        MakeFault(fault.key.id.empty() ? std::nullopt : std::optional(fault.key), fault.path, fault.message);
  }
}

// What the request's resources ask for in vain, judged beside the stored networks that they name.
void ReportNotEnforced(const Snapshot& before, const std::vector<RequestItem>& items,
                       v1::ApplyResponse& reply) {
  model::NetworkState state;
  std::set<model::ResourceKey> keys;
  state.networks = before.state.networks;
  for (const RequestItem& item : items) {
    Upsert(state, *item.value);
    keys.insert(*item.key);
  }
  for (const model::NotEnforcedItem& item : model::NotEnforced(state)) {
    if (keys.count(item.key) != 0) *reply.add_not_enforced() = MakeNotEnforced(item);
  }
}

std::vector<Change> ListChanges(const Snapshot& before, ApplyPlan& plan, v1::ApplyResponse& reply) {
  std::vector<Change> changes;
  for (size_t i = 0; i < plan.items.size(); ++i) {
    RequestItem& item = plan.items[i];
    const v1::Change change = ChangeOf(before, *item.key, *plan.resources[i]);
    v1::ChangedResource& listed = *reply.add_changes();
    *listed.mutable_key() = model::EncodeKey(*item.key);
    listed.set_name(NameOfAny(*item.value));
    listed.set_change(change);
    if (change != v1::CHANGE_UNCHANGED) changes.push_back({*item.key, plan.resources[i], item.value});
  }
  return changes;
}

// Faults of decoding and of references, together in the order of the items.
std::vector<ItemFault> Merged(std::vector<ItemFault> a, std::vector<ItemFault> b) {
  std::vector<ItemFault> all;
  std::merge(std::make_move_iterator(a.begin()), std::make_move_iterator(a.end()),
             std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()), std::back_inserter(all),
             [](const ItemFault& x, const ItemFault& y) { return x.item < y.item; });
  return all;
}

std::string NameOfStored(const v1::Resource& resource) {
  std::vector<model::Fault> none;
  const std::optional<model::AnyResource> value = Decode(resource, "", none);
  return value ? NameOfAny(*value) : std::string();
}

std::vector<RequestItem> DeletionsOf(const v1::DeleteRequest& request, std::vector<ItemFault>& faults) {
  std::vector<RequestItem> items;
  for (int i = 0; i < request.keys_size(); ++i) {
    RequestItem item;
    item.path = fmt::format("keys[{}]", i);
    item.key = model::DecodeKey(request.keys(i));
    item.deletion = true;
    if (!item.key)
      faults.push_back({static_cast<size_t>(i), {}, item.path, "names no kind or no id; give both"});
    items.push_back(std::move(item));
  }
  return items;
}

void RefuseConnectedHosts(absl::FunctionRef<bool(const HostId&)> is_connected,
                          const std::vector<RequestItem>& items, std::vector<ItemFault>& faults) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].key || items[i].key->kind != model::Kind::kHost || !is_connected(HostId(items[i].key->id)))
      continue;
    faults.push_back({i, *items[i].key, items[i].path,
                      fmt::format("the agent of host {} is connected; stop it first", items[i].key->id)});
  }
}

std::vector<Change> ListDeletions(const Snapshot& before, const std::vector<RequestItem>& items,
                                  v1::DeleteResponse& reply) {
  std::vector<Change> changes;
  for (const RequestItem& item : items) {
    v1::ChangedResource& listed = *reply.add_changes();
    *listed.mutable_key() = model::EncodeKey(*item.key);
    listed.set_name(NameOfStored(*before.resources.at(*item.key)));
    listed.set_change(v1::CHANGE_DELETED);
    changes.push_back({*item.key, nullptr, std::nullopt});
  }
  return changes;
}

std::string AddressesText(const model::Host& host) {
  std::vector<std::string> texts;
  if (host.tunnel_v4) texts.push_back(host.tunnel_v4->ToString());
  if (host.tunnel_v6) texts.push_back(host.tunnel_v6->ToString());
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " and "));
}

absl::Status CheckOtherHosts(const model::NetworkState& state, const model::Host& announced) {
  for (const auto& [id, host] : state.hosts) {
    if (id == announced.id) continue;
    const bool same_v4 = announced.tunnel_v4 && announced.tunnel_v4 == host->tunnel_v4;
    const bool same_v6 = announced.tunnel_v6 && announced.tunnel_v6 == host->tunnel_v6;
    if (!same_v4 && !same_v6) continue;
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "host {} announces the tunnel address {}, which belongs to host {}; give it another, or delete host {} "
        "if that is gone",
        announced.id, same_v4 ? *announced.tunnel_v4 : *announced.tunnel_v6, id, id);
  }
  return absl::OkStatus();
}

Change MakeHostChange(const model::Host& host) {
  auto resource = std::make_shared<v1::Resource>();
  resource->mutable_host()->set_id(host.id.str());
  if (host.tunnel_v4) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v4->ToString());
  if (host.tunnel_v6) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v6->ToString());
  return {{model::Kind::kHost, host.id.str()}, std::move(resource), std::make_shared<const model::Host>(host)};
}

}  // namespace

absl::Status Apply(StateHub& hub, const v1::ApplyRequest& request, v1::ApplyResponse& reply) {
  ASSIGN_OR_RETURN(ApplyPlan plan, DecodeRequest(request));
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    KeepKnownAddresses(before, plan);
    Judgement judgement = Validate(before.state, plan.items);
    const std::vector<ItemFault> faults = Merged(std::move(plan.faults), std::move(judgement.faults));
    Report(faults, *reply.mutable_faults());
    if (!faults.empty()) return std::vector<Change>();
    Report(judgement.warnings, *reply.mutable_warnings());
    ReportNotEnforced(before, plan.items, reply);
    std::vector<Change> changes = ListChanges(before, plan, reply);
    DropStaleClaims(before, changes);
    return request.dry_run() ? std::vector<Change>() : std::move(changes);
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<const Snapshot> after, hub.Transact(commit));
  *reply.mutable_revision() = model::EncodeRevision(after->revision);
  return absl::OkStatus();
}

absl::Status Delete(StateHub& hub, absl::FunctionRef<bool(const HostId&)> is_connected,
                    const v1::DeleteRequest& request, v1::DeleteResponse& reply) {
  if (request.keys_size() > kMaxItems) {
    return Invalid("{} keys in one request; at most {} are taken", request.keys_size(), kMaxItems);
  }
  std::vector<ItemFault> key_faults;
  const std::vector<RequestItem> items = DeletionsOf(request, key_faults);
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    RefuseConnectedHosts(is_connected, items, key_faults);
    std::vector<ItemFault> faults = Merged(std::move(key_faults), Validate(before.state, items).faults);
    Report(faults, *reply.mutable_faults());
    if (!faults.empty()) return std::vector<Change>();
    std::vector<Change> changes = ListDeletions(before, items, reply);
    DropStaleClaims(before, changes);
    return request.dry_run() ? std::vector<Change>() : std::move(changes);
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<const Snapshot> after, hub.Transact(commit));
  *reply.mutable_revision() = model::EncodeRevision(after->revision);
  return absl::OkStatus();
}

absl::Status AdmitHost(StateHub& hub, const model::Host& announced) {
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    RETURN_IF_ERROR(CheckOtherHosts(before.state, announced));
    const auto it = before.state.hosts.find(announced.id);
    const model::Host* known = it == before.state.hosts.end() ? nullptr : it->second.get();
    const bool same =
        known != nullptr && known->tunnel_v4 == announced.tunnel_v4 && known->tunnel_v6 == announced.tunnel_v6;
    if (same) return std::vector<Change>();
    if (known != nullptr && known->pinned) {
      return Error(
          absl::StatusCode::kFailedPrecondition,
          "host {} announces the tunnel address {}, but it is pinned to {}; fix the agent's configuration or "
          "the hosts entry that pins it",
          announced.id, AddressesText(announced), AddressesText(*known));
    }
    std::vector<Change> changes;
    changes.push_back(MakeHostChange(announced));
    return changes;
  };
  return hub.Transact(commit).status();
}

}  // namespace kasane::controller
