#include "model/scope.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <utility>
#include <vector>

namespace kasane::model {
namespace {

using Ports = std::vector<const Port*>;

// The parts of the state by what refers to them, made once per computation.
struct Index {
  absl::flat_hash_map<NetworkId, Ports> by_network;
  absl::flat_hash_map<RouterId, Ports> interfaces;
  Ports own;
};

Index MakeIndex(const NetworkState& state, const HostId& host) {
  Index index;
  for (const auto& [id, port] : state.ports) {
    index.by_network[port->network].push_back(port.get());
    if (port->role == PortRole::kRouterInterface) {
      index.interfaces[RouterId(port->device_id)].push_back(port.get());
    }
    if (!host.empty() && port->host == host) index.own.push_back(port.get());
  }
  return index;
}

class Walk {
 public:
  Walk(const NetworkState& state, const Index& index) : state_(state), index_(index) {}

  std::set<ResourceKey> Run(const HostId& host) {
    if (state_.hosts.count(host) != 0) Add(Kind::kHost, host.str());
    for (const Port* port : index_.own) AddOwnPort(*port);
    while (!queue_.empty()) {
      const NetworkId network = std::move(queue_.back());
      queue_.pop_back();
      CrossNetwork(network);
    }
    AddOnNetworks();
    return std::move(scope_);
  }

 private:
  void Add(Kind kind, const std::string& id) { scope_.insert({kind, id}); }

  void AddOwnPort(const Port& port) {
    Add(Kind::kPort, port.id.str());
    own_ports_.insert(port.id);
    for (const SecurityGroupId& group : port.security_groups) {
      if (state_.security_groups.count(group) != 0) Add(Kind::kSecurityGroup, group.str());
    }
    Reach(port.network);
  }

  // The network enters the scope; it is crossed, and what is on it enters too, unless it is external.
  void Reach(const NetworkId& id) {
    const auto network = state_.networks.find(id);
    if (network == state_.networks.end()) return;
    Add(Kind::kNetwork, id.str());
    if (!network->second->external && reached_.insert(id).second) queue_.push_back(id);
  }

  void CrossNetwork(const NetworkId& id) {
    const auto ports = index_.by_network.find(id);
    if (ports == index_.by_network.end()) return;
    for (const Port* port : ports->second) {
      Add(Kind::kPort, port->id.str());
      if (state_.hosts.count(port->host) != 0) Add(Kind::kHost, port->host.str());
      if (port->role == PortRole::kRouterInterface) CrossRouter(RouterId(port->device_id));
    }
  }

  void CrossRouter(const RouterId& id) {
    const auto router = state_.routers.find(id);
    if (router == state_.routers.end() || !crossed_.insert(id).second) return;
    Add(Kind::kRouter, id.str());
    const auto& gateway = router->second->gateway;
    if (gateway && state_.networks.count(gateway->network) != 0) Add(Kind::kNetwork, gateway->network.str());
    for (const Port* interface : index_.interfaces.at(id)) Reach(interface->network);
  }

  void AddOnNetworks() {
    for (const auto& [id, subnet] : state_.subnets) {
      if (reached_.contains(subnet->network)) Add(Kind::kSubnet, id.str());
    }
    for (const auto& [id, claim] : state_.address_claims) {
      if (reached_.contains(claim->network)) Add(Kind::kAddressClaim, id.str());
    }
    for (const auto& [id, floating_ip] : state_.floating_ips) {
      if (own_ports_.contains(floating_ip->port)) Add(Kind::kFloatingIp, id.str());
    }
  }

  const NetworkState& state_;
  const Index& index_;
  std::set<ResourceKey> scope_;
  std::vector<NetworkId> queue_;
  absl::flat_hash_set<NetworkId> reached_;
  absl::flat_hash_set<RouterId> crossed_;
  absl::flat_hash_set<PortId> own_ports_;
};

}  // namespace

std::set<ResourceKey> ComputeScope(const NetworkState& state, const HostId& host) {
  const Index index = MakeIndex(state, host);
  return Walk(state, index).Run(host);
}

}  // namespace kasane::model
