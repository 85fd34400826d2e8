#include "view/host_view_builder.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>

#include "vswitch/claims.h"

namespace kasane::view {
namespace {

// The parts of the state by what refers to them, made once per build.
struct Index {
  std::map<NetworkId, std::vector<const model::Port*>> vm_ports_by_network;  // Bound ones.
  std::map<NetworkId, std::vector<const model::Port*>> reserved_by_network;  // All that forward nothing.
  std::map<NetworkId, std::vector<const model::Port*>> interfaces_by_network;
  std::map<RouterId, std::vector<const model::Port*>> interfaces_by_router;
};

bool IsForwarded(const model::NetworkState& state, const NetworkId& id) {
  const auto it = state.networks.find(id);
  return it != state.networks.end() && it->second->vni.has_value() && !it->second->external;
}

Index MakeIndex(const model::NetworkState& state) {
  Index index;
  for (const auto& [id, port] : state.ports) {
    if (!IsForwarded(state, port->network)) continue;
    if (port->role == model::PortRole::kRouterInterface) {
      if (state.routers.count(RouterId(port->device_id)) == 0 || !port->admin_state_up) {
        index.reserved_by_network[port->network].push_back(port.get());
        continue;
      }
      index.interfaces_by_network[port->network].push_back(port.get());
      index.interfaces_by_router[RouterId(port->device_id)].push_back(port.get());
    } else if (model::IsPlugged(*port)) {
      index.vm_ports_by_network[port->network].push_back(port.get());
    } else {
      index.reserved_by_network[port->network].push_back(port.get());
    }
  }
  return index;
}

struct Reach {
  std::set<NetworkId> networks;
  std::set<RouterId> routers;
};

// The networks of the host's ports and everything that routers reach from them.
Reach ReachOf(const model::NetworkState& state, const Index& index, const HostId& host) {
  Reach reach;
  std::deque<NetworkId> queue;
  for (const auto& [network, ports] : index.vm_ports_by_network) {
    const bool here =
        std::any_of(ports.begin(), ports.end(), [&](const auto* port) { return port->host == host; });
    if (here && reach.networks.insert(network).second) queue.push_back(network);
  }
  while (!queue.empty()) {
    const NetworkId network = queue.front();
    queue.pop_front();
    const auto interfaces = index.interfaces_by_network.find(network);
    if (interfaces == index.interfaces_by_network.end()) continue;
    for (const model::Port* interface : interfaces->second) {
      const RouterId router(interface->device_id);
      if (!reach.routers.insert(router).second || !state.routers.at(router)->admin_state_up) continue;
      for (const model::Port* other : index.interfaces_by_router.at(router)) {
        if (reach.networks.insert(other->network).second) queue.push_back(other->network);
      }
    }
  }
  return reach;
}

std::vector<IpAddress> AddressesOf(const model::Port& port) {
  std::vector<IpAddress> ips;
  for (const model::FixedIp& ip : port.fixed_ips) ips.push_back(ip.address);
  std::sort(ips.begin(), ips.end());
  return ips;
}

}  // namespace

std::vector<vswitch::AllowedAddress> AllowedOf(const model::Port& port) {
  std::set<vswitch::AllowedAddress> allowed = {{port.mac, IpPrefix::Host(IpAddress::LinkLocal(port.mac))}};
  for (const model::FixedIp& ip : port.fixed_ips) allowed.insert({port.mac, IpPrefix::Host(ip.address)});
  for (const model::AllowedAddressPair& pair : port.allowed_address_pairs) {
    const MacAddress mac = pair.mac.value_or(port.mac);
    allowed.insert({mac, pair.prefix});
    allowed.insert({mac, IpPrefix::Host(IpAddress::LinkLocal(mac))});
  }
  return {allowed.begin(), allowed.end()};
}

namespace {

vswitch::RemoteHost MakeRemoteHost(const model::NetworkState& state, const HostId& id,
                                   const vswitch::TunnelAddresses& own) {
  vswitch::RemoteHost remote{id, std::nullopt, {}};
  const auto it = state.hosts.find(id);
  if (it == state.hosts.end()) return remote;
  remote.addresses = {it->second->tunnel_v4, it->second->tunnel_v6};
  if (own.v4 && remote.addresses.v4) {
    remote.vtep = remote.addresses.v4;
  } else if (own.v6 && remote.addresses.v6) {
    remote.vtep = remote.addresses.v6;
  }
  return remote;
}

// An unbound VM port, a load balancer's address: what a VM with an allowed address pair may take over.
bool IsInfrastructure(const model::Port& port) {
  return port.role != model::PortRole::kVm && port.role != model::PortRole::kOther;
}

void Reserve(const model::Port& port, vswitch::HostView& view) {
  view.reserved.emplace(port.id, vswitch::ReservedPort{port.id, port.name, port.network, port.mac,
                                                       AddressesOf(port), IsInfrastructure(port)});
}

void AddNetwork(const model::NetworkState& state, const Index& index, const NetworkId& id,
                vswitch::HostView& view) {
  const model::Network& network = *state.networks.at(id);
  vswitch::NetworkView out{id, network.name, *network.vni, network.mtu, network.admin_state_up, {}};
  std::set<HostId> flood;
  if (const auto ports = index.vm_ports_by_network.find(id); ports != index.vm_ports_by_network.end()) {
    for (const model::Port* port : ports->second) {
      if (port->host == view.host) {
        view.ports.emplace(
            port->id, vswitch::LocalPort{port->id, port->name, id, port->mac, AddressesOf(*port),
                                         port->admin_state_up, port->port_security_enabled, AllowedOf(*port)});
      } else if (port->admin_state_up) {
        flood.insert(port->host);
        view.endpoints.emplace(
            port->id,
            vswitch::RemoteEndpoint{port->id, port->name, id, port->host, port->mac, AddressesOf(*port),
                                    port->port_security_enabled, AllowedOf(*port)});
      } else {
        Reserve(*port, view);
      }
    }
  }
  if (const auto ports = index.reserved_by_network.find(id); ports != index.reserved_by_network.end()) {
    for (const model::Port* port : ports->second) Reserve(*port, view);
  }
  out.flood_hosts.assign(flood.begin(), flood.end());
  view.networks.emplace(id, std::move(out));
}

vswitch::RouterPort MakeRouterPort(const model::NetworkState& state, const model::Port& port) {
  vswitch::RouterPort out{port.id, port.network, port.mac, {}, IpAddress::LinkLocal(port.mac)};
  for (const model::FixedIp& ip : port.fixed_ips) {
    const auto subnet = state.subnets.find(ip.subnet);
    if (subnet == state.subnets.end() || !subnet->second->cidr.Contains(ip.address)) continue;
    out.addresses.emplace_back(ip.address, subnet->second->cidr.length());
  }
  std::sort(out.addresses.begin(), out.addresses.end());
  return out;
}

// Connected routes first; an extra route to a connected destination is not used, as a Linux router with
// a lower metric on the link would do.
std::vector<vswitch::Route> MakeRoutes(const model::Router& router,
                                       const std::vector<vswitch::RouterPort>& ports) {
  std::map<IpPrefix, vswitch::Route> routes;
  for (const vswitch::RouterPort& port : ports) {
    for (const IpPrefix& address : port.addresses) {
      vswitch::Route& route = routes[address.Network()];
      route.destination = address.Network();
      // Two interfaces on one subnet: the lower id forwards.
      if (route.next_hops.empty()) route.next_hops.push_back({port.id, std::nullopt});
    }
  }
  for (const model::ExtraRoute& extra : router.routes) {
    const auto existing = routes.find(extra.destination);
    if (existing != routes.end() && existing->second.origin == vswitch::RouteOrigin::kConnected) continue;
    for (const vswitch::RouterPort& port : ports) {
      const bool on_link = std::any_of(port.addresses.begin(), port.addresses.end(),
                                       [&](const IpPrefix& own) { return own.Contains(extra.nexthop); });
      if (!on_link) continue;
      vswitch::Route& route = routes[extra.destination];
      route.destination = extra.destination;
      route.origin = vswitch::RouteOrigin::kExtra;
      route.next_hops.push_back({port.id, extra.nexthop});
      break;
    }
  }
  std::vector<vswitch::Route> sorted;
  for (auto& [destination, route] : routes) {
    std::sort(route.next_hops.begin(), route.next_hops.end());
    route.next_hops.erase(std::unique(route.next_hops.begin(), route.next_hops.end()), route.next_hops.end());
    sorted.push_back(std::move(route));
  }
  return sorted;
}

void AddRouter(const model::NetworkState& state, const Index& index, const RouterId& id,
               vswitch::HostView& view) {
  const model::Router& router = *state.routers.at(id);
  vswitch::RouterView out{id, router.name, router.admin_state_up, {}, {}};
  for (const model::Port* port : index.interfaces_by_router.at(id)) {
    // The interfaces of a router that is down lie partly outside of what this host reaches.
    if (view.networks.count(port->network) != 0) out.ports.push_back(MakeRouterPort(state, *port));
  }
  if (router.admin_state_up) out.routes = MakeRoutes(router, out.ports);
  view.routers.emplace(id, std::move(out));
}

// The networks that routers which are up join, each set of them with its hosts.
class Components {
 public:
  explicit Components(const vswitch::HostView& view) {
    for (const auto& [id, network] : view.networks) parent_.emplace(id, id);
    for (const auto& [id, router] : view.routers) {
      if (!router.admin_state_up || router.ports.empty()) continue;
      for (const vswitch::RouterPort& port : router.ports)
        parent_[Root(port.network)] = Root(router.ports.front().network);
    }
    for (const auto& [id, endpoint] : view.endpoints) hosts_[Root(endpoint.network)].insert(endpoint.host);
  }

  // Hosts with a port on `network` or on any network that routers lead to from there.
  const std::set<HostId>& HostsOf(const NetworkId& network) { return hosts_[Root(network)]; }

 private:
  NetworkId Root(NetworkId id) const {
    for (;;) {
      const NetworkId& up = parent_.at(id);
      if (up == id) return id;
      id = up;
    }
  }

  std::map<NetworkId, NetworkId> parent_;
  std::map<NetworkId, std::set<HostId>> hosts_;
};

void AddRouterHosts(vswitch::HostView& view) {
  Components components(view);
  for (auto& [id, network] : view.networks) {
    const std::set<HostId>& all = components.HostsOf(id);
    std::set_difference(all.begin(), all.end(), network.flood_hosts.begin(), network.flood_hosts.end(),
                        std::back_inserter(network.router_hosts));
  }
}

// Claims that the ports which made them may (still) make.
void AddClaims(const model::NetworkState& state, vswitch::HostView& view) {
  for (const auto& [id, claim] : state.address_claims) {
    const vswitch::ClaimKey key(claim->network, claim->address);
    if (view.networks.count(claim->network) == 0 || !MayClaim(view, key, claim->mac, claim->port)) continue;
    view.claims.emplace(key, vswitch::AddressClaim{claim->mac, claim->port, claim->sequence, claim->router});
  }
}

}  // namespace

vswitch::HostView BuildHostView(const model::NetworkState& state, const HostId& host,
                                const vswitch::TunnelAddresses& own) {
  vswitch::HostView view;
  view.host = host;
  view.tunnel_addresses = own;
  const Index index = MakeIndex(state);
  const Reach reach = ReachOf(state, index, host);
  for (const NetworkId& id : reach.networks) AddNetwork(state, index, id, view);
  for (const RouterId& id : reach.routers) AddRouter(state, index, id, view);
  for (const auto& [id, endpoint] : view.endpoints) {
    if (view.hosts.count(endpoint.host) == 0) {
      view.hosts.emplace(endpoint.host, MakeRemoteHost(state, endpoint.host, own));
    }
  }
  AddRouterHosts(view);
  AddClaims(state, view);
  return view;
}

}  // namespace kasane::view
