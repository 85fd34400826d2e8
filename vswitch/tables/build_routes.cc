// The routers: next hops and the MACs that they lead to.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "vswitch/tables/build.h"
#include "vswitch/tables/claims.h"

namespace kasane::tables {
namespace {

// A router need not test what it sends into a network of the largest MTU: nothing that is larger enters a
// router, nor are its own ICMP errors larger than 1,280 bytes.
std::optional<uint32_t> MtuToTest(const Source& source, const vswitch::NetworkView& network) {
  uint32_t largest = 1280;
  for (const auto& [id, other] : source.view.networks) largest = std::max(largest, other.mtu);
  return network.mtu < largest ? std::optional(network.mtu) : std::nullopt;
}

std::set<NetworkId> RoutedNetworks(const Source& source) {
  std::set<NetworkId> networks;
  for (const auto& [id, router] : source.view.routers) {
    if (!router.admin_state_up) continue;
    for (const vswitch::RouterPort& port : router.ports) {
      if (source.IsUp(port.network)) networks.insert(port.network);
    }
  }
  return networks;
}

// The neighbours of one network.
class Neighbours {
 public:
  Neighbours(const vswitch::NetworkView& network, ForwardingTables& out) : network_(network), out_(out) {
    const auto& ports = out_.ports.entries();
    for (auto it = ports.lower_bound({network.id, PortId()}); it != ports.end(); ++it) {
      if (it->first.first != network.id) break;
      if (it->second.front().value.up) ports_.emplace_back(&it->first, &it->second.front().value);
    }
  }

  void Add() {
    AddSoleHolders();
    AddUnknown();
    AddOwned();
  }

 private:
  // Who alone may have an address is its neighbour, also before it has announced it.
  void AddSoleHolders() {
    std::set<IpAddress> addresses;
    for (const auto& [key, port] : ports_) {
      if (!port->secured) continue;
      for (const IpPrefix& prefix : MovablePrefixes(out_, *key, *port)) {
        if (prefix.length() == prefix.address().bits()) addresses.insert(prefix.address());
      }
    }
    for (const IpAddress& ip : addresses) AddSoleHolder(ip);
  }

  // By pairs for this address alone, of one port, with one MAC: anything else must be asked.
  void AddSoleHolder(const IpAddress& ip) {
    const AddressKey address(network_.id, ip);
    if ((ip.is_v6() && ip.IsLinkLocal()) || out_.answers.Winner(address) != nullptr) return;
    std::set<std::pair<PortId, MacAddress>> holders;
    for (const auto& [key, port] : ports_) {
      bool wide = !port->secured && MayClaim(out_, address, port->mac, key->second);
      bool may = wide;
      for (const vswitch::AllowedAddress& allowed : port->allowed) {
        if (!port->secured || !allowed.prefix.Contains(ip)) continue;
        wide = wide || allowed.prefix.length() != ip.bits();
        if (!MayClaim(out_, address, allowed.mac, key->second)) continue;
        may = true;
        holders.emplace(key->second, allowed.mac);
      }
      if (may && wide) return;
    }
    if (holders.size() != 1) return;
    const auto& [port, mac] = *holders.begin();
    out_.neighbours.Add(address, {Rank::kAllowed, 0, PortOwner(port), {network_.vni, mac}});
  }

  void AddUnknown() {
    std::map<IpPrefix, vswitch::Owner> prefixes;
    for (const auto& [key, port] : ports_) {
      for (const IpPrefix& prefix : MovablePrefixes(out_, *key, *port)) {
        const bool host = prefix.length() == prefix.address().bits();
        if (host && (prefix.address().IsLinkLocal() ||
                     out_.neighbours.Winner({network_.id, prefix.address()}) != nullptr)) {
          continue;
        }
        prefixes.emplace(prefix, PortOwner(key->second));
      }
    }
    for (const auto& [prefix, owner] : prefixes) {
      out_.unknown_neighbours.Add({network_.id, prefix}, {Rank::kNetwork, 0, owner, {network_.vni}});
    }
  }

  // What is owned, and what is configured but answered by nobody, where it would be asked for in vain.
  void AddOwned() {
    const auto& answers = out_.answers.entries();
    for (auto it = answers.lower_bound({network_.id, IpAddress()}); it != answers.end(); ++it) {
      const auto& [key, claimants] = *it;
      if (key.first != network_.id) break;
      if (key.second.is_v6() && key.second.IsLinkLocal()) continue;
      const bool owned = Forwards(claimants.front().rank);
      if (!owned && (!IsAsked(key.second) || HasCandidates(key))) continue;
      for (const Claimant<Answer>& claimant : claimants) {
        out_.neighbours.Add(
            key, {claimant.rank, claimant.sequence, claimant.owner, {network_.vni, claimant.value.mac}});
      }
    }
  }

  bool IsAsked(const IpAddress& ip) const {
    const auto& unknown = out_.unknown_neighbours.entries();
    for (auto it = unknown.lower_bound({network_.id, IpPrefix()}); it != unknown.end(); ++it) {
      if (it->first.network != network_.id) return false;
      if (it->first.prefix.Contains(ip)) return true;
    }
    return false;
  }

  bool HasCandidates(const AddressKey& key) const { return FindCandidates(out_, key) != SeveralPlaces(); }

  const vswitch::NetworkView& network_;
  ForwardingTables& out_;
  std::vector<std::pair<const PortKey*, const Port*>> ports_;
};

RouteHop MakeHop(const Source& source, const vswitch::RouterPort& port, const vswitch::NextHop& hop) {
  const vswitch::NetworkView& network = source.Network(port.network);
  return {network.vni, port.mac, hop.gateway, network.admin_state_up, MtuToTest(source, network)};
}

Route MakeRoute(const Source& source, const vswitch::RouterView& router, const vswitch::Route& route,
                const ForwardingTables& tables) {
  Route out;
  std::vector<RouteHop> all;
  for (const vswitch::NextHop& hop : route.next_hops) {
    const vswitch::RouterPort& port = *vswitch::FindRouterPort(router, hop.out_port);
    all.push_back(MakeHop(source, port, hop));
    const bool owned = all.back().network_up &&
                       (!hop.gateway || tables.neighbours.Winner({port.network, *hop.gateway}) != nullptr);
    if (owned) out.hops.push_back(all.back());
  }
  out.unowned = all.size() - out.hops.size();
  if (out.hops.empty()) out.hops = std::move(all);
  return out;
}

}  // namespace

void AddNeighbours(const Source& source, ForwardingTables& out) {
  for (const NetworkId& id : RoutedNetworks(source)) {
    const vswitch::NetworkView& network = source.Network(id);
    Neighbours(network, out).Add();
    if (const auto mtu = MtuToTest(source, network)) {
      out.routed.Add(id, {Rank::kNetwork, 0, NetworkOwner(id), {network.vni, *mtu}});
    }
  }
}

void AddRoutes(const Source& source, ForwardingTables& out) {
  for (const auto& [id, router] : source.view.routers) {
    for (const vswitch::Route& route : router.routes) {
      out.routes.Add({id, route.destination},
                     {Rank::kNetwork, 0, RouterOwner(id), MakeRoute(source, router, route, out)});
    }
  }
}

}  // namespace kasane::tables
