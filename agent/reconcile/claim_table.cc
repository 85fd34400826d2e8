#include "agent/reconcile/claim_table.h"

#include <algorithm>
#include <utility>

#include "model/claim_end.h"
#include "vswitch/claims.h"

namespace kasane::agent {
namespace {

std::pair<uint64_t, PortId> Age(const model::AddressClaim& claim) { return {claim.sequence, claim.port}; }

const model::AddressClaim* Find(const model::NetworkState* state, const AddressClaimId& id) {
  if (state == nullptr) return nullptr;
  const auto found = state->address_claims.find(id);
  return found == state->address_claims.end() ? nullptr : found->second.get();
}

template <typename Port>
bool Has(const std::map<PortId, Port>& ports, const PortId& id, const MacAddress& mac, const IpAddress& ip) {
  const auto port = ports.find(id);
  return port != ports.end() && port->second.mac == mac &&
         std::find(port->second.ips.begin(), port->second.ips.end(), ip) != port->second.ips.end();
}

}  // namespace

bool ClaimTable::Observe(const slowpath::Announcement& heard, const vswitch::HostView& view) {
  const vswitch::ClaimKey key(heard.network, heard.ip);
  if (!MayClaim(view, key, heard.mac, heard.port)) return false;
  const AddressClaimId id = model::MakeClaimId(heard.network, heard.ip);
  if (const auto known = Known(id, key, view)) {
    if (known->mac == heard.mac && known->port == heard.port && known->router == heard.router) return false;
  } else if (!heard.router && (Has(view.ports, heard.port, heard.mac, heard.ip) ||
                               Has(view.endpoints, heard.port, heard.mac, heard.ip))) {
    return false;
  }
  if (TooMany(heard.port, key)) return false;
  unsaved_.insert(id);
  heard_[id] = {
      {id, heard.network, heard.ip, heard.mac, heard.port, NextSequence(key, heard.mac, view), heard.router},
      view.ports.count(heard.port) != 0,
      false};
  return true;
}

// The last claim on the address: `view` may be older than what was heard.
std::optional<vswitch::AddressClaim> ClaimTable::Known(const AddressClaimId& id, const vswitch::ClaimKey& key,
                                                       const vswitch::HostView& view) const {
  if (const auto own = heard_.find(id); own != heard_.end()) {
    const model::AddressClaim& claim = own->second.claim;
    return vswitch::AddressClaim{claim.mac, claim.port, claim.sequence, claim.router};
  }
  const auto stored = view.claims.find(key);
  return stored == view.claims.end() ? std::nullopt : std::optional(stored->second);
}

// After the last claim on the address, and on the MAC, which may be shared by several addresses that move
// together.
uint64_t ClaimTable::NextSequence(const vswitch::ClaimKey& key, const MacAddress& mac,
                                  const vswitch::HostView& view) const {
  uint64_t last = 0;
  for (const auto& [known, claim] : view.claims) {
    if (known == key || (known.first == key.first && claim.mac == mac)) last = std::max(last, claim.sequence);
  }
  for (const auto& [id, own] : heard_) {
    const model::AddressClaim& claim = own.claim;
    if (claim.network != key.first) continue;
    if (claim.address == key.second || claim.mac == mac) last = std::max(last, claim.sequence);
  }
  return last + 1;
}

bool ClaimTable::TooMany(const PortId& port, const vswitch::ClaimKey& key) const {
  const auto others = std::count_if(heard_.begin(), heard_.end(), [&](const auto& entry) {
    const model::AddressClaim& claim = entry.second.claim;
    return claim.port == port && (claim.network != key.first || claim.address != key.second);
  });
  return static_cast<size_t>(others) >= kMaxClaimsPerPort;
}

bool ClaimTable::Reconcile(const model::NetworkState* before, const model::NetworkState& after) {
  const auto is_settled = [&](const AddressClaimId& id, const Entry& own) {
    if (after.ports.count(own.claim.port) == 0) return true;
    if (before != nullptr && model::EndsClaim(own.claim, *before, after)) return true;
    const model::AddressClaim* stored = Find(&after, id);
    if (stored != nullptr && Age(*stored) >= Age(own.claim)) return true;
    if (stored == Find(before, id)) return false;
    return stored == nullptr || !own.local;
  };
  return std::erase_if(heard_, [&](const auto& entry) {
           const bool settled = is_settled(entry.first, entry.second);
           if (settled) unsaved_.insert(entry.first);
           return settled;
         }) != 0;
}

void ClaimTable::Restore(std::vector<model::AddressClaim> heard, const vswitch::HostView& view) {
  for (model::AddressClaim& claim : heard) {
    if (!MayClaim(view, {claim.network, claim.address}, claim.mac, claim.port)) {
      unsaved_.insert(claim.id);
      continue;
    }
    const bool local = view.ports.count(claim.port) != 0;
    const AddressClaimId id = claim.id;
    heard_.emplace(id, Entry{std::move(claim), local, false});
  }
}

std::map<AddressClaimId, std::optional<model::AddressClaim>> ClaimTable::TakeUnsaved() {
  std::map<AddressClaimId, std::optional<model::AddressClaim>> changes;
  for (const AddressClaimId& id : unsaved_) {
    const auto own = heard_.find(id);
    changes.emplace(id, own == heard_.end() ? std::nullopt : std::optional(own->second.claim));
  }
  unsaved_.clear();
  return changes;
}

std::shared_ptr<const model::NetworkState> ClaimTable::Overlay(
    std::shared_ptr<const model::NetworkState> state) const {
  if (state == nullptr || heard_.empty()) return state;
  auto out = std::make_shared<model::NetworkState>(*state);
  for (const auto& [id, entry] : heard_) {
    out->address_claims[id] = std::make_shared<const model::AddressClaim>(entry.claim);
  }
  return out;
}

std::vector<model::AddressClaim> ClaimTable::TakeUnreported() {
  std::vector<model::AddressClaim> claims;
  for (auto& [id, entry] : heard_) {
    if (entry.local && !std::exchange(entry.reported, true)) claims.push_back(entry.claim);
  }
  return claims;
}

void ClaimTable::ReportAgain() {
  for (auto& [id, entry] : heard_) entry.reported = false;
}

}  // namespace kasane::agent
