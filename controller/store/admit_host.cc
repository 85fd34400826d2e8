#include "controller/store/admit_host.h"

#include <utility>

#include "base/status.h"
#include "kasane/v1/resources.pb.h"
#include "model/decode.h"

namespace kasane::controller {
namespace {

std::string AddressesText(const model::Host& host) {
  std::vector<std::string> texts;
  if (host.tunnel_v4) texts.push_back(host.tunnel_v4->ToString());
  if (host.tunnel_v6) texts.push_back(host.tunnel_v6->ToString());
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " and "));
}

bool SameAddresses(const model::Host& a, const model::Host& b) {
  return a.tunnel_v4 == b.tunnel_v4 && a.tunnel_v6 == b.tunnel_v6;
}

const IpAddress* SharedAddress(const model::Host& a, const model::Host& b) {
  if (a.tunnel_v4 && a.tunnel_v4 == b.tunnel_v4) return &*a.tunnel_v4;
  if (a.tunnel_v6 && a.tunnel_v6 == b.tunnel_v6) return &*a.tunnel_v6;
  return nullptr;
}

Change MakeHostChange(const model::Host& host) {
  auto resource = std::make_shared<v1::Resource>();
  resource->mutable_host()->set_id(host.id.str());
  if (host.tunnel_v4) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v4->ToString());
  if (host.tunnel_v6) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v6->ToString());
  return {{model::Kind::kHost, host.id.str()}, std::move(resource), std::make_shared<const model::Host>(host)};
}

absl::Status CheckPin(const model::NetworkState& state, const model::Host& announced) {
  const auto known = state.hosts.find(announced.id);
  if (known == state.hosts.end() || !known->second->pinned || SameAddresses(*known->second, announced))
    return absl::OkStatus();
  return Error(
      absl::StatusCode::kFailedPrecondition,
      "host {} announces the tunnel address {}, but it is pinned to {}; fix the agent's configuration or "
      "the hosts entry that pins it",
      announced.id, AddressesText(announced), AddressesText(*known->second));
}

// `other` has, or announces, an address that `host` announces.
absl::Status Taken(const model::Host& host, const model::Host& other) {
  return Error(absl::StatusCode::kFailedPrecondition,
               "host {} announces the tunnel address {}, which belongs to host {}; give it another, or delete "
               "host {} if that is gone",
               host.id, *SharedAddress(host, other), other.id, other.id);
}

}  // namespace

absl::StatusOr<std::vector<Change>> HostAdmission::Plan(const model::NetworkState& state,
                                                        const model::Host& announced) {
  RETURN_IF_ERROR(CheckPin(state, announced));
  // Whoever has an address that is announced must give it up, by an announcement that was refused so far; that
  // one may need a third host's address, and so on.
  std::map<HostId, model::Host> admitted = {{announced.id, announced}};
  std::vector<const model::Host*> unchecked = {&admitted.at(announced.id)};
  while (!unchecked.empty()) {
    const model::Host& host = *unchecked.back();
    unchecked.pop_back();
    // A host that is new has no entry in the state.
    if (host.id != announced.id && SharedAddress(host, announced) != nullptr) return Taken(announced, host);
    for (const auto& [id, other] : state.hosts) {
      if (id == host.id) continue;
      const auto moved = admitted.find(id);
      if (SharedAddress(host, moved == admitted.end() ? *other : moved->second) == nullptr) continue;
      const auto wish = refused_.find(id);
      if (moved != admitted.end() || wish == refused_.end() || SharedAddress(host, wish->second) != nullptr ||
          !CheckPin(state, wish->second).ok()) {
        return Taken(host, *other);
      }
      unchecked.push_back(&admitted.emplace(id, wish->second).first->second);
    }
  }
  std::vector<Change> changes;
  for (const auto& [id, host] : admitted) {
    const auto known = state.hosts.find(id);
    if (known == state.hosts.end() || !SameAddresses(*known->second, host))
      changes.push_back(MakeHostChange(host));
  }
  return changes;
}

absl::Status HostAdmission::Admit(const model::Host& announced) {
  const std::lock_guard lock(mutex_);
  std::vector<HostId> admitted;
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    // Hosts that were deleted since leave nothing behind.
    std::erase_if(refused_, [&](const auto& wish) { return before.state.hosts.count(wish.first) == 0; });
    absl::StatusOr<std::vector<Change>> changes = Plan(before.state, announced);
    if (changes.ok()) {
      for (const Change& change : *changes) admitted.emplace_back(change.key.id);
    } else if (before.state.hosts.count(announced.id) != 0) {
      refused_.insert_or_assign(announced.id, announced);
    }
    return changes;
  };
  RETURN_IF_ERROR(hub_.Transact(commit).status());
  refused_.erase(announced.id);
  for (const HostId& id : admitted) refused_.erase(id);
  return absl::OkStatus();
}

}  // namespace kasane::controller
