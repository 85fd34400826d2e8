#include "vswitch/tables/table_facts.h"

#include <algorithm>

#include "vswitch/tables/claims.h"

namespace kasane::tables {

using slowpath::AddressOwner;

std::optional<Vni> TableFacts::FindVni(const NetworkId& network) const {
  const Claimant<Network>* found = tables_->networks.Winner(network);
  return found == nullptr ? std::nullopt : std::optional(found->value.vni);
}

bool TableFacts::IsLocal(const NetworkId& network, const vswitch::Owner& owner) const {
  if (owner.kind != vswitch::OwnerKind::kPort) return false;
  const Claimant<Port>* port = tables_->ports.Winner({network, PortId(owner.id)});
  return port != nullptr && !port->value.remote;
}

std::optional<AddressOwner> TableFacts::FindOwner(const vswitch::ClaimKey& address) const {
  const Claimant<Answer>* answer = tables_->answers.Winner(address);
  if (answer == nullptr) return std::nullopt;
  AddressOwner owner{answer->owner, answer->value.mac, {}, answer->value.router, !answer->value.override_flag};
  if (IsLocal(address.first, answer->owner)) owner.local = PortId(answer->owner.id);
  return owner;
}

std::optional<MacAddress> TableFacts::FindNextHop(const vswitch::ClaimKey& address) const {
  const Claimant<Neighbour>* neighbour = tables_->neighbours.Winner(address);
  return neighbour == nullptr ? std::nullopt : std::optional(neighbour->value.mac);
}

bool TableFacts::IsUnansweredProbe(const slowpath::Question& question) const {
  const auto& probes = tables_->probes.entries();
  for (auto it = probes.lower_bound({question.asker, IpPrefix()}); it != probes.end(); ++it) {
    if (it->first.port != question.asker) return false;
    if (it->first.prefix.Contains(question.ip)) return true;
  }
  return false;
}

std::optional<AddressOwner> TableFacts::FindAnswer(const slowpath::Question& question) const {
  const Claimant<Answer>* answer = tables_->answers.Winner({question.network, question.ip});
  const Claimant<Port>* asker = tables_->ports.Winner({question.network, question.asker});
  if (answer == nullptr || asker == nullptr || asker->value.remote) return std::nullopt;
  const std::vector<PortId>& not_to = answer->value.not_to;
  if (std::binary_search(not_to.begin(), not_to.end(), question.asker)) return std::nullopt;
  if (question.probe && !answer->value.exclusive && IsUnansweredProbe(question)) return std::nullopt;
  return FindOwner({question.network, question.ip});
}

bool TableFacts::IsFrom(const Port& port, const IpAddress& outer_source) const {
  if (!port.remote) return false;
  const Claimant<Peer>* peer = tables_->hosts.Winner(port.remote->host);
  return peer != nullptr &&
         (peer->value.addresses.v4 == outer_source || peer->value.addresses.v6 == outer_source);
}

std::optional<PortId> TableFacts::FindClaimer(const vswitch::ClaimKey& address, const MacAddress& mac,
                                              const slowpath::Origin& origin) const {
  if (origin.port) return MayClaim(*tables_, address, mac, *origin.port) ? origin.port : std::nullopt;
  if (!origin.outer_source) return std::nullopt;
  // The port that has the MAC goes before those that may use it.
  std::optional<PortId> claimer;
  const auto& ports = tables_->ports.entries();
  for (auto it = ports.lower_bound({address.first, PortId()}); it != ports.end(); ++it) {
    const auto& [key, claimants] = *it;
    if (key.first != address.first) break;
    const Port& port = claimants.front().value;
    if (!IsFrom(port, *origin.outer_source) || !MayClaim(*tables_, address, mac, key.second)) continue;
    if (port.mac == mac) return key.second;
    if (!claimer) claimer = key.second;
  }
  return claimer;
}

bool TableFacts::IsConfigured(const vswitch::ClaimKey& address, const MacAddress& mac,
                              const PortId& port) const {
  const auto& claimants = tables_->answers.Claimants(address);
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, port.str()};
  bool configured = false;
  for (const Claimant<Answer>& claimant : claimants) {
    const bool its = claimant.owner == owner && claimant.value.mac == mac;
    if (claimant.rank == Rank::kClaim && !its) return false;
    configured = configured || (claimant.rank != Rank::kClaim && its);
  }
  return configured;
}

std::optional<PortId> TableFacts::FindRemotePort(const NetworkId& network, const MacAddress& mac,
                                                 const IpAddress& outer_source) const {
  for (const Claimant<MacPlace>& claimant : tables_->macs.Claimants({network, mac})) {
    if (claimant.owner.kind != vswitch::OwnerKind::kPort) continue;
    const PortId id(claimant.owner.id);
    const Claimant<Port>* port = tables_->ports.Winner({network, id});
    if (port != nullptr && port->value.mac == mac && IsFrom(port->value, outer_source)) return id;
  }
  return std::nullopt;
}

slowpath::Candidates TableFacts::FindCandidates(const vswitch::ClaimKey& address) const {
  const SeveralPlaces places = tables::FindCandidates(*tables_, address);
  slowpath::Candidates candidates{places.ports, {}};
  for (const RemotePlace& host : places.hosts) {
    if (host.vtep) candidates.hosts.push_back(host.host);
  }
  return candidates;
}

std::vector<HostId> TableFacts::FindHostsToTell(const NetworkId& network, bool flooded) const {
  std::vector<HostId> hosts;
  const auto add = [&](const std::vector<RemotePlace>& places) {
    for (const RemotePlace& place : places) {
      if (place.vtep) hosts.push_back(place.host);
    }
  };
  const Claimant<Replication>* members = tables_->replication.Winner(network);
  if (!flooded && members != nullptr) add(members->value.all.hosts);
  const Claimant<Announcements>* announcements = tables_->announcements.Winner(network);
  if (announcements != nullptr) add(announcements->value.router_hosts);
  return hosts;
}

bool TableFacts::IsRouters(const NetworkId& network, const MacAddress& mac) const {
  const auto& claimants = tables_->macs.Claimants({network, mac});
  return std::any_of(claimants.begin(), claimants.end(),
                     [](const auto& claimant) { return claimant.rank == Rank::kRouter; });
}

std::optional<uint32_t> TableFacts::FindMtuTo(const RouterId& router, const IpAddress& destination) const {
  for (int length = destination.bits(); length >= 0; --length) {
    const IpPrefix prefix = IpPrefix(destination, length).Network();
    const Claimant<Route>* route = tables_->routes.Winner({router, prefix});
    if (route == nullptr) continue;
    std::optional<uint32_t> smallest;
    for (const RouteHop& hop : route->value.hops) {
      if (hop.test_mtu) smallest = std::min(smallest.value_or(*hop.test_mtu), *hop.test_mtu);
    }
    return smallest;
  }
  return std::nullopt;
}

std::vector<vswitch::RouterPort> TableFacts::FindInterfaces(const RouterId& router) const {
  std::vector<vswitch::RouterPort> ports;
  const auto& interfaces = tables_->interfaces.entries();
  for (auto it = interfaces.lower_bound({router, PortId()}); it != interfaces.end(); ++it) {
    if (it->first.first != router) break;
    ports.push_back(it->second.front().value.port);
  }
  return ports;
}

}  // namespace kasane::tables
