// Networks, who gets copies, and the hosts whose tunnels are let in.
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "vswitch/tables/build.h"

namespace kasane::tables {
namespace {

Replication ReplicationOf(const Source& source, const vswitch::NetworkView& network,
                          const ForwardingTables& tables) {
  Replication out{network.vni, {}, {}};
  for (const HostId& host : network.flood_hosts) out.all.hosts.push_back(source.PlaceOf(host));
  std::set<RemotePlace> unsecured;
  const auto& ports = tables.ports.entries();
  for (auto it = ports.lower_bound({network.id, PortId()}); it != ports.end(); ++it) {
    const auto& [key, claimants] = *it;
    if (key.first != network.id) break;
    const Port& port = claimants.front().value;
    if (port.remote) {
      if (!port.secured) unsecured.insert(*port.remote);
    } else if (port.up) {
      out.all.ports.push_back(key.second);
      if (!port.secured) out.unsecured.ports.push_back(key.second);
    }
  }
  out.unsecured.hosts.assign(unsecured.begin(), unsecured.end());
  return out;
}

}  // namespace

RemotePlace Source::PlaceOf(const HostId& id) const {
  const auto host = view.hosts.find(id);
  return {id, host == view.hosts.end() ? std::nullopt : host->second.vtep};
}

void AddNetworks(const Source& source, ForwardingTables& out) {
  for (const auto& [id, network] : source.view.networks) {
    const vswitch::Owner owner = NetworkOwner(id);
    out.networks.Add(id, {Rank::kNetwork, 0, owner, {network.vni, network.admin_state_up, network.mtu}});
    if (!network.admin_state_up) continue;
    out.replication.Add(id, {Rank::kNetwork, 0, owner, ReplicationOf(source, network, out)});
  }
  for (const auto& [id, host] : source.view.hosts) {
    out.hosts.Add(id, {Rank::kNetwork, 0, HostOwner(id), {host.vtep, host.addresses}});
  }
}

void AddLearning(const Source& source, ForwardingTables& out) {
  std::map<LearningKey, LearningPeer> peers;
  for (const auto& [key, claimants] : out.ports.entries()) {
    const Port& port = claimants.front().value;
    if (!port.remote || port.secured) continue;
    const auto host = source.view.hosts.find(port.remote->host);
    if (host == source.view.hosts.end()) continue;
    const LearningPeer first{port.vni, *port.remote, host->second.addresses, {}};
    peers.try_emplace({key.first, port.remote->host}, first).first->second.behind.push_back(key.second);
  }
  for (auto& [key, peer] : peers) {
    out.learning.Add(key, {Rank::kNetwork, 0, NetworkOwner(key.first), std::move(peer)});
  }
}

void AddElsewhere(ForwardingTables& out) {
  for (const auto& [key, claimants] : out.macs.entries()) {
    const Claimant<Replication>* network = out.replication.Winner(key.first);
    if (network == nullptr || network->value.unsecured.ports.empty()) continue;
    const Claimant<MacPlace>* winner = out.macs.Winner(key);
    if (winner == nullptr) continue;
    const auto& place = winner->value.place;
    if (!std::holds_alternative<RemotePlace>(place) && !std::holds_alternative<RouterPlace>(place)) continue;
    out.elsewhere.Add(key, {Rank::kNetwork, 0, network->owner, {network->value.vni}});
  }
}

void AddPorts(const Source& source, ForwardingTables& out) {
  for (const auto& [id, port] : source.view.ports) {
    const vswitch::NetworkView& network = source.Network(port.network);
    const bool up = source.Forwards(port) && network.admin_state_up;
    out.ports.Add({port.network, id},
                  {Rank::kNetwork,
                   0,
                   PortOwner(id),
                   {network.vni, port.mac, std::nullopt, up, port.port_security_enabled, port.allowed}});
  }
  for (const auto& [id, endpoint] : source.view.endpoints) {
    const vswitch::NetworkView& network = source.Network(endpoint.network);
    if (!network.admin_state_up) continue;
    out.ports.Add({endpoint.network, id}, {Rank::kNetwork,
                                           0,
                                           PortOwner(id),
                                           {network.vni, endpoint.mac, source.PlaceOf(endpoint.host), true,
                                            endpoint.port_security_enabled, endpoint.allowed}});
  }
}

}  // namespace kasane::tables
