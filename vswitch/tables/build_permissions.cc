// Whom an answer is not given to, and what ports may announce.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "vswitch/tables/build.h"
#include "vswitch/tables/claims.h"

namespace kasane::tables {
namespace {

// The ports of this host that forward, by network.
using LocalPorts = std::map<NetworkId, std::vector<std::pair<PortId, const Port*>>>;

LocalPorts LocalPortsOf(const ForwardingTables& tables) {
  LocalPorts local;
  for (const auto& [key, claimants] : tables.ports.entries()) {
    const Port& port = claimants.front().value;
    if (!port.remote && port.up) local[key.first].emplace_back(key.second, &port);
  }
  return local;
}

bool MaySend(const Port& port, const IpAddress& ip) {
  return !port.secured || std::any_of(port.allowed.begin(), port.allowed.end(),
                                      [&](const auto& allowed) { return allowed.prefix.Contains(ip); });
}

void SetNotTo(const LocalPorts& local, ForwardingTables& out) {
  out.answers.ForEach([&](const AddressKey& key, std::vector<Claimant<Answer>>& claimants) {
    const auto ports = local.find(key.first);
    if (ports == local.end()) return;
    std::vector<PortId> not_to;
    bool announced = false;
    for (const auto& [id, port] : ports->second) {
      const bool has = std::any_of(claimants.begin(), claimants.end(),
                                   [&, &id = id](const auto& c) { return c.owner == PortOwner(id); });
      if (has) {
        not_to.push_back(id);
      } else if (key.second.is_v4()) {
        announced = announced || MaySend(*port, key.second);
      }
    }
    for (Claimant<Answer>& claimant : claimants) {
      claimant.value.not_to = not_to;
      claimant.value.announced_by_others = announced;
    }
  });
}

void AddProbes(const LocalPorts& local, ForwardingTables& out) {
  const auto add = [&](const PortId& id, const Port& port, const IpPrefix& prefix) {
    const ProbeKey key{id, prefix};
    if (out.probes.Winner(key) == nullptr) out.probes.Add(key, {Rank::kNetwork, 0, PortOwner(id), {port.vni}});
  };
  for (const auto& [network, ports] : local) {
    for (const auto& [id, port] : ports) {
      if (!port->secured) continue;
      for (const IpPrefix& prefix : MovablePrefixes(out, {network, id}, *port)) {
        add(id, *port, prefix);
      }
      // The link-local address of a MAC that several ports share.
      for (const vswitch::AllowedAddress& allowed : port->allowed) {
        const AddressKey link_local(network, IpAddress::LinkLocal(allowed.mac));
        if (allowed.mac == port->mac || !MayClaim(out, link_local, allowed.mac, id)) continue;
        add(id, *port, IpPrefix::Host(link_local.second));
      }
    }
  }
  // A port without port security may have what is configured for nobody.
  for (const auto& [key, claimants] : out.answers.entries()) {
    const auto ports = local.find(key.first);
    if (claimants.front().rank != Rank::kClaim || ports == local.end()) continue;
    for (const auto& [id, port] : ports->second) {
      if (port->secured || claimants.front().owner == PortOwner(id)) continue;
      if (!MayClaim(out, key, port->mac, id)) continue;
      add(id, *port, IpPrefix::Host(key.second));
    }
  }
}

}  // namespace

void AddPermissions(const Source&, ForwardingTables& out) {
  const LocalPorts local = LocalPortsOf(out);
  SetNotTo(local, out);
  AddProbes(local, out);
}

void AddAnnouncements(const Source& source, ForwardingTables& out) {
  std::map<NetworkId, Announcements> by_network;
  for (const auto& [id, network] : source.view.networks) {
    if (!network.admin_state_up) continue;
    Announcements announcements{network.vni, false, {}, {}};
    for (const HostId& host : network.router_hosts) announcements.router_hosts.push_back(source.PlaceOf(host));
    by_network.emplace(id, std::move(announcements));
  }
  for (const auto& [key, claimants] : out.ports.entries()) {
    const Port& port = claimants.front().value;
    const auto network = by_network.find(key.first);
    if (network == by_network.end()) continue;
    for (const IpPrefix& prefix : MovablePrefixes(out, key, port)) {
      network->second.movable = true;
      if (prefix.family() == IpFamily::kV4) network->second.movable_v4.insert(prefix);
    }
  }
  for (const auto& [key, claimants] : out.ports.entries()) {
    const Port& port = claimants.front().value;
    const auto network = by_network.find(key.first);
    if (network == by_network.end() || port.remote || !port.up) continue;
    if (network->second.router_hosts.empty() && !network->second.movable) continue;
    Announcer announcer{port.vni, {}};
    if (!port.secured) announcer.v4.insert(IpPrefix());
    for (const vswitch::AllowedAddress& allowed : port.allowed) {
      if (port.secured && allowed.prefix.family() == IpFamily::kV4) announcer.v4.insert(allowed.prefix);
    }
    out.announcers.Add(key.second, {Rank::kNetwork, 0, claimants.front().owner, std::move(announcer)});
  }
  for (auto& [id, announcements] : by_network) {
    out.announcements.Add(id, {Rank::kNetwork, 0, NetworkOwner(id), std::move(announcements)});
  }
}

}  // namespace kasane::tables
