// Networks, who gets copies, and the hosts whose tunnels are let in.
#include <set>
#include <utility>

#include "vswitch/tables/build.h"

namespace kasane::tables {
namespace {

Replication ReplicationOf(const Source& source, const vswitch::NetworkView& network) {
  Replication out{network.vni, {}, {}};
  for (const auto& [id, port] : source.view.ports) {
    if (port.network != network.id || !source.Forwards(port)) continue;
    out.all.ports.push_back(id);
    if (!port.port_security_enabled) out.unsecured.ports.push_back(id);
  }
  for (const HostId& host : network.flood_hosts) out.all.hosts.push_back(source.PlaceOf(host));
  std::set<HostId> unsecured;
  for (const auto& [id, endpoint] : source.view.endpoints) {
    if (endpoint.network == network.id && !endpoint.port_security_enabled) unsecured.insert(endpoint.host);
  }
  for (const HostId& host : unsecured) out.unsecured.hosts.push_back(source.PlaceOf(host));
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
    out.replication.Add(id, {Rank::kNetwork, 0, owner, ReplicationOf(source, network)});
  }
  for (const auto& [id, host] : source.view.hosts) {
    out.hosts.Add(id, {Rank::kNetwork, 0, HostOwner(id), {host.addresses}});
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
