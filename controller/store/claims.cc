#include "controller/store/claims.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "kasane/v1/state.pb.h"
#include "model/claim_end.h"
#include "view/host_view_builder.h"

namespace kasane::controller {
namespace {

using ClaimPointer = std::shared_ptr<const model::AddressClaim>;

bool MayMake(const model::Port& port, const model::AddressClaim& claim) {
  if (port.network != claim.network) return false;
  if (!model::IsPlugged(port)) return false;
  if (!port.port_security_enabled) return true;
  const std::vector<vswitch::AllowedAddress> allowed = view::AllowedOf(port);
  return std::any_of(allowed.begin(), allowed.end(), [&](const vswitch::AllowedAddress& entry) {
    return entry.mac == claim.mac && entry.prefix.Contains(claim.address);
  });
}

// The resource, and its value; nothing if the report's text is no claim.
std::optional<Change> Decoded(const v1::AddressClaim& observed) {
  auto resource = std::make_shared<v1::Resource>();
  v1::AddressClaim& claim = *resource->mutable_address_claim();
  claim = observed;
  claim.DiscardUnknownFields();
  const auto ip = IpAddress::Parse(claim.ip_address());
  if (!ip.ok()) return std::nullopt;
  claim.set_ip_address(ip->ToString());
  claim.set_id(model::MakeClaimId(NetworkId(claim.network_id()), *ip).str());
  std::vector<model::Fault> faults;
  std::optional<model::AnyResource> value = Decode(*resource, "observed", faults);
  if (!value) return std::nullopt;
  return Change{model::KeyOf(*value), std::move(resource), std::move(value)};
}

// Decides claim by claim, each beside what was admitted before it.
class Admission {
 public:
  Admission(const model::NetworkState& state, const HostId& host) : state_(state), host_(host) {
    for (const auto& [id, claim] : state.address_claims) ++count_[claim->port];
  }

  bool Admit(const model::AddressClaim& claim) {
    const auto port = state_.ports.find(claim.port);
    if (port == state_.ports.end() || port->second->host != host_ || !MayMake(*port->second, claim))
      return false;
    if (const auto known = state_.address_claims.find(claim.id); known != state_.address_claims.end()) {
      const model::AddressClaim& old = *known->second;
      if (std::pair(claim.sequence, claim.port) <= std::pair(old.sequence, old.port)) return false;
      if (old.port == claim.port) return true;
    }
    return ++count_[claim.port] <= kMaxClaimsPerPort;
  }

 private:
  const model::NetworkState& state_;
  const HostId& host_;
  std::map<PortId, size_t> count_;
};

}  // namespace

absl::Status TakeObserved(StateHub& hub, const HostId& host, const v1::Report& report) {
  if (report.observed_size() > kMaxClaimsPerReport) {
    return Invalid("{} claims in one report; at most {} are taken", report.observed_size(),
                   kMaxClaimsPerReport);
  }
  std::map<model::ResourceKey, Change> newest;  // An address that is there twice counts once, the last time.
  for (const v1::AddressClaim& observed : report.observed()) {
    if (std::optional<Change> change = Decoded(observed)) newest.insert_or_assign(change->key, *change);
  }
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    Admission admission(before.state, host);
    std::vector<Change> changes;
    for (const auto& [key, change] : newest) {
      if (admission.Admit(*std::get<ClaimPointer>(*change.value))) changes.push_back(change);
    }
    return changes;
  };
  return hub.Transact(commit).status();
}

void DropStaleClaims(const Snapshot& before, std::vector<Change>& changes) {
  if (before.state.address_claims.empty()) return;
  std::map<PortId, const model::Port*> ports;  // As they will be. Null: deleted.
  std::vector<model::ResourceKey> listed;
  for (const Change& change : changes) {
    if (change.key.kind == model::Kind::kAddressClaim) listed.push_back(change.key);
    if (change.key.kind != model::Kind::kPort) continue;
    const bool stays = change.value.has_value();
    ports[PortId(change.key.id)] =
        stays ? std::get<std::shared_ptr<const model::Port>>(*change.value).get() : nullptr;
  }
  if (ports.empty()) return;
  std::vector<Change> deletions;
  const auto ends = [&](const model::AddressClaim& claim) {
    const auto claimer = ports.find(claim.port);
    if (claimer != ports.end() && (claimer->second == nullptr || !MayMake(*claimer->second, claim)))
      return true;
    return std::any_of(ports.begin(), ports.end(), [&](const auto& entry) {
      const auto& [port, after] = entry;
      const auto old = before.state.ports.find(port);
      return port != claim.port && after != nullptr &&
             model::GainsAddress(old == before.state.ports.end() ? nullptr : old->second.get(), *after,
                                 claim.network, claim.address);
    });
  };
  for (const auto& [id, claim] : before.state.address_claims) {
    if (!ends(*claim)) continue;
    const model::ResourceKey key{model::Kind::kAddressClaim, id.str()};
    if (std::find(listed.begin(), listed.end(), key) == listed.end()) {
      deletions.push_back({key, nullptr, std::nullopt});
    }
  }
  changes.insert(changes.end(), deletions.begin(), deletions.end());
}

}  // namespace kasane::controller
