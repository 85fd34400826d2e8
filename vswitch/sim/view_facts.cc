#include "vswitch/sim/view_facts.h"

#include <algorithm>
#include <set>

#include "vswitch/claims.h"

namespace kasane::sim {
namespace {

using slowpath::AddressOwner;
using vswitch::PortOwner;

bool Contains(const std::vector<IpAddress>& ips, const IpAddress& ip) {
  return std::find(ips.begin(), ips.end(), ip) != ips.end();
}

// RFC 4291, 2.6.1: all zeros behind the prefix; RFC 6164: not on links between two routers.
bool IsAnycast(const IpPrefix& own) {
  return own.family() == IpFamily::kV6 && own.length() < 127 && own.Network().address() == own.address();
}

std::optional<AddressOwner> RouterThatHas(const vswitch::HostView& view, const vswitch::ClaimKey& address) {
  for (const auto& [id, router] : view.routers) {
    if (!router.admin_state_up) continue;
    const vswitch::Owner owner{vswitch::OwnerKind::kRouter, id.str()};
    for (const vswitch::RouterPort& port : router.ports) {
      if (port.network != address.first) continue;
      for (const IpPrefix& own : port.addresses) {
        if (own.address() == address.second) return AddressOwner{owner, port.mac, {}, true, IsAnycast(own)};
      }
      if (port.link_local == address.second) return AddressOwner{owner, port.mac, {}, true, false};
    }
  }
  return std::nullopt;
}

// The MACs with which a port may have `ip`, which nobody has; empty: it may not. Without port security its own
// stands for all that it may use.
template <typename Port>
std::set<MacAddress> MacsFor(const vswitch::HostView& view, const vswitch::ClaimKey& address,
                             const Port& port) {
  std::set<MacAddress> macs;
  if (port.network != address.first) return macs;
  if (!port.port_security_enabled) {
    if (vswitch::MayClaim(view, address, port.mac, port.id)) macs.insert(port.mac);
    return macs;
  }
  for (const vswitch::AllowedAddress& allowed : port.allowed) {
    if (allowed.prefix.Contains(address.second) && vswitch::MayClaim(view, address, allowed.mac, port.id)) {
      macs.insert(allowed.mac);
    }
  }
  return macs;
}

template <typename Port>
bool OnlyByHostPairs(const Port& port, const IpAddress& ip) {
  return port.port_security_enabled &&
         std::none_of(port.allowed.begin(), port.allowed.end(), [&](const vswitch::AllowedAddress& allowed) {
           return allowed.prefix.Contains(ip) && allowed.prefix.length() != ip.bits();
         });
}

}  // namespace

std::optional<Vni> ViewFacts::FindVni(const NetworkId& network) const {
  const auto found = view_.networks.find(network);
  return found == view_.networks.end() ? std::nullopt : std::optional(found->second.vni);
}

std::optional<AddressOwner> ViewFacts::FindOwner(const vswitch::ClaimKey& address) const {
  const auto& [network, ip] = address;
  if (const auto claim = view_.claims.find(address); claim != view_.claims.end()) {
    const vswitch::AddressClaim& by = claim->second;
    const auto local = view_.ports.contains(by.port) ? std::optional(by.port) : std::nullopt;
    return AddressOwner{PortOwner(by.port), by.mac, local, by.router, false};
  }
  for (const auto& [id, port] : view_.ports) {
    if (port.network == network && port.admin_state_up && Contains(port.ips, ip))
      return AddressOwner{PortOwner(id), port.mac, id, false, false};
  }
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network == network && Contains(endpoint.ips, ip))
      return AddressOwner{PortOwner(id), endpoint.mac, std::nullopt, false, false};
  }
  return RouterThatHas(view_, address);
}

std::optional<MacAddress> ViewFacts::FindNextHop(const vswitch::ClaimKey& address) const {
  if (const auto owner = FindOwner(address)) return owner->mac;
  std::optional<MacAddress> sole;
  bool certain = true;
  const auto consider = [&](const auto& port) {
    for (const MacAddress& mac : MacsFor(view_, address, port)) {
      certain = certain && !sole && OnlyByHostPairs(port, address.second);
      sole = mac;
    }
  };
  for (const auto& [id, port] : view_.ports) consider(port);
  for (const auto& [id, endpoint] : view_.endpoints) consider(endpoint);
  return certain ? sole : std::nullopt;
}

std::optional<AddressOwner> ViewFacts::FindAnswer(const slowpath::Question& question) const {
  const vswitch::ClaimKey address(question.network, question.ip);
  auto owner = FindOwner(address);
  if (!owner || owner->local == question.asker) return std::nullopt;
  const auto asker = view_.ports.find(question.asker);
  if (asker == view_.ports.end()) return std::nullopt;
  if (Contains(asker->second.ips, question.ip)) return std::nullopt;
  if (question.probe && !MacsFor(view_, address, asker->second).empty()) return std::nullopt;
  return owner;
}

std::optional<PortId> ViewFacts::FindClaimer(const vswitch::ClaimKey& address, const MacAddress& mac,
                                             const slowpath::Origin& origin) const {
  const auto may = [&](const PortId& port) { return vswitch::MayClaim(view_, address, mac, port); };
  if (origin.port) return may(*origin.port) ? origin.port : std::nullopt;
  if (!origin.outer_source) return std::nullopt;
  // The port that has the MAC goes before those that may use it.
  std::optional<PortId> claimer;
  for (const auto& [id, endpoint] : view_.endpoints) {
    const auto host = view_.hosts.find(endpoint.host);
    if (endpoint.network != address.first || host == view_.hosts.end()) continue;
    const vswitch::TunnelAddresses& addresses = host->second.addresses;
    if (addresses.v4 != origin.outer_source && addresses.v6 != origin.outer_source) continue;
    if (!may(id)) continue;
    if (endpoint.mac == mac) return id;
    if (!claimer) claimer = id;
  }
  return claimer;
}

bool ViewFacts::IsConfigured(const vswitch::ClaimKey& address, const MacAddress& mac,
                             const PortId& port) const {
  const auto claim = view_.claims.find(address);
  if (claim != view_.claims.end() && (claim->second.port != port || claim->second.mac != mac)) return false;
  const auto has = [&](const auto& ports) {
    const auto found = ports.find(port);
    return found != ports.end() && found->second.network == address.first && found->second.mac == mac &&
           (Contains(found->second.ips, address.second) || address.second == IpAddress::LinkLocal(mac));
  };
  return has(view_.ports) || has(view_.endpoints);
}

std::optional<PortId> ViewFacts::FindRemotePort(const NetworkId& network, const MacAddress& mac,
                                                const IpAddress& outer_source) const {
  for (const auto& [id, endpoint] : view_.endpoints) {
    const auto host = view_.hosts.find(endpoint.host);
    if (endpoint.network != network || endpoint.mac != mac || host == view_.hosts.end()) continue;
    const vswitch::TunnelAddresses& addresses = host->second.addresses;
    if (addresses.v4 == outer_source || addresses.v6 == outer_source) return id;
  }
  return std::nullopt;
}

slowpath::Candidates ViewFacts::FindCandidates(const vswitch::ClaimKey& address) const {
  slowpath::Candidates candidates;
  for (const auto& [id, port] : view_.ports) {
    if (!MacsFor(view_, address, port).empty()) candidates.ports.push_back(id);
  }
  std::set<HostId> hosts;
  for (const auto& [id, endpoint] : view_.endpoints) {
    const auto host = view_.hosts.find(endpoint.host);
    if (host == view_.hosts.end() || !host->second.vtep) continue;
    if (!MacsFor(view_, address, endpoint).empty()) hosts.insert(endpoint.host);
  }
  candidates.hosts.assign(hosts.begin(), hosts.end());
  return candidates;
}

std::vector<HostId> ViewFacts::FindHostsToTell(const NetworkId& network, bool flooded) const {
  std::vector<HostId> hosts;
  const auto found = view_.networks.find(network);
  if (found == view_.networks.end()) return hosts;
  const auto add = [&](const HostId& id) {
    const auto host = view_.hosts.find(id);
    if (host != view_.hosts.end() && host->second.vtep) hosts.push_back(id);
  };
  if (!flooded) std::for_each(found->second.flood_hosts.begin(), found->second.flood_hosts.end(), add);
  std::for_each(found->second.router_hosts.begin(), found->second.router_hosts.end(), add);
  return hosts;
}

bool ViewFacts::IsRouters(const NetworkId& network, const MacAddress& mac) const {
  return std::any_of(view_.routers.begin(), view_.routers.end(), [&](const auto& entry) {
    return std::any_of(entry.second.ports.begin(), entry.second.ports.end(),
                       [&](const auto& port) { return port.network == network && port.mac == mac; });
  });
}

const vswitch::Route* ViewFacts::FindRoute(const vswitch::RouterView& router,
                                           const IpAddress& destination) const {
  const vswitch::Route* best = nullptr;
  for (const vswitch::Route& route : router.routes) {
    if (!route.destination.Contains(destination)) continue;
    if (best == nullptr || route.destination.length() > best->destination.length()) best = &route;
  }
  return best;
}

std::vector<vswitch::NextHop> ViewFacts::UsableHops(const vswitch::RouterView& router,
                                                    const vswitch::Route& route) const {
  std::vector<vswitch::NextHop> usable;
  for (const vswitch::NextHop& hop : route.next_hops) {
    const NetworkId& egress = vswitch::FindRouterPort(router, hop.out_port)->network;
    if (!view_.networks.at(egress).admin_state_up) continue;
    if (!hop.gateway || FindNextHop({egress, *hop.gateway})) usable.push_back(hop);
  }
  return usable.empty() ? route.next_hops : usable;
}

std::optional<uint32_t> ViewFacts::FindMtuTo(const RouterId& router, const IpAddress& destination) const {
  const auto found = view_.routers.find(router);
  const vswitch::Route* route = found == view_.routers.end() ? nullptr : FindRoute(found->second, destination);
  if (route == nullptr) return std::nullopt;
  std::optional<uint32_t> smallest;
  for (const vswitch::NextHop& hop : UsableHops(found->second, *route)) {
    const NetworkId& egress = vswitch::FindRouterPort(found->second, hop.out_port)->network;
    const uint32_t mtu = view_.networks.at(egress).mtu;
    smallest = std::min(smallest.value_or(mtu), mtu);
  }
  return smallest;
}

std::vector<vswitch::RouterPort> ViewFacts::FindInterfaces(const RouterId& router) const {
  const auto found = view_.routers.find(router);
  if (found == view_.routers.end() || !found->second.admin_state_up) return {};
  return found->second.ports;
}

}  // namespace kasane::sim
