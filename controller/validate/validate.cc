#include "controller/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/validate/validate_context.h"

namespace kasane::controller {
namespace validation {
namespace {

void SortByItem(std::vector<ItemFault>& faults) {
  std::stable_sort(faults.begin(), faults.end(),
                   [](const ItemFault& a, const ItemFault& b) { return a.item < b.item; });
}

}  // namespace

bool Exists(const model::NetworkState& state, model::Kind kind, const std::string& id) {
  switch (kind) {
    case model::Kind::kHost:
      return state.hosts.count(HostId(id)) != 0;
    case model::Kind::kNetwork:
      return state.networks.count(NetworkId(id)) != 0;
    case model::Kind::kSubnet:
      return state.subnets.count(SubnetId(id)) != 0;
    case model::Kind::kPort:
      return state.ports.count(PortId(id)) != 0;
    case model::Kind::kRouter:
      return state.routers.count(RouterId(id)) != 0;
    case model::Kind::kFloatingIp:
      return state.floating_ips.count(FloatingIpId(id)) != 0;
    case model::Kind::kSecurityGroup:
      return state.security_groups.count(SecurityGroupId(id)) != 0;
    case model::Kind::kAddressClaim:
      return state.address_claims.count(AddressClaimId(id)) != 0;
  }
  return false;
}

bool ItemIndex::Add(const model::ResourceKey& key, size_t item) {
  return by_kind_[static_cast<size_t>(key.kind)].emplace(key.id, item).second;
}

std::optional<size_t> ItemIndex::Find(model::Kind kind, const std::string& id) const {
  const auto& ids = by_kind_[static_cast<size_t>(kind)];
  const auto it = ids.find(id);
  return it == ids.end() ? std::nullopt : std::optional<size_t>(it->second);
}

bool ItemIndex::Any(model::Kind kind) const { return !by_kind_[static_cast<size_t>(kind)].empty(); }

std::optional<size_t> Later(std::optional<size_t> a, std::optional<size_t> b) { return std::max(a, b); }

Context::Context(const model::NetworkState& before, const std::vector<RequestItem>& items)
    : before_(before), items_(items), after_(before) {
  for (size_t i = 0; i < items.size(); ++i) {
    const RequestItem& item = items[i];
    if (!item.key) continue;
    if (!touched_.Add(*item.key, i)) {
      const RequestItem& first = items[*touched_.Find(item.key->kind, item.key->id)];
      FailItem(i, *item.key,
               fmt::format("{} is already given at {}; keep one", ToString(*item.key), first.path));
    } else if (item.deletion) {
      if (!Exists(before, item.key->kind, item.key->id))
        FailItem(i, *item.key, fmt::format("there is no {}", ToString(*item.key)));
      Erase(after_, *item.key);
    } else if (item.value) {
      Upsert(after_, *item.value);
    } else {
      unreadable_.Add(*item.key, i);
      Erase(after_, *item.key);
    }
  }
}

bool Context::IsDeleted(model::Kind kind, const std::string& id) const {
  const std::optional<size_t> item = touched_.Find(kind, id);
  return item && items_[*item].deletion;
}

void Context::Fail(const model::ResourceKey& key, std::string_view name, std::optional<size_t> cause,
                   std::string_view field, std::string message) {
  if (const std::optional<size_t> own = Touching(key.kind, key.id)) {
    judgement_.faults.push_back(
        {*own, key, fmt::format("{}.{}", items_[*own].path, field), std::move(message)});
  } else if (cause) {
    judgement_.faults.push_back(
        {*cause, key, items_[*cause].path,
         fmt::format("would break the stored {}: {}: {}", Describe(key.kind, key.id, name), field, message)});
  }
}

void Context::Warn(size_t item, const model::ResourceKey& key, std::string_view field, std::string message) {
  judgement_.warnings.push_back(
      {item, key, fmt::format("{}.{}", items_[item].path, field), std::move(message)});
}

void Context::FailItem(size_t item, const model::ResourceKey& key, std::string message) {
  judgement_.faults.push_back({item, key, items_[item].path, std::move(message)});
}

std::string Context::Describe(model::Kind kind, const std::string& id, std::string_view name) const {
  std::string notes(name);
  if (const std::optional<size_t> item = Touching(kind, id)) {
    notes += notes.empty() ? items_[*item].path : ", " + items_[*item].path;
  }
  return notes.empty() ? fmt::format("{} {}", Label(kind), id)
                       : fmt::format("{} {} ({})", Label(kind), id, notes);
}

Judgement Context::Take() {
  SortByItem(judgement_.faults);
  SortByItem(judgement_.warnings);
  return std::move(judgement_);
}

}  // namespace validation

Judgement Validate(const model::NetworkState& before, const std::vector<RequestItem>& items) {
  validation::Context context(before, items);
  validation::CheckReferences(context);
  validation::CheckAddresses(context);
  validation::CheckUniqueness(context);
  validation::CheckRouters(context);
  return context.Take();
}

}  // namespace kasane::controller
