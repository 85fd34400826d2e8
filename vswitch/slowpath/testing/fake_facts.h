// NetworkFacts for tests: what a test writes down, and nothing derived.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "vswitch/slowpath/network_facts.h"

namespace kasane::slowpath {

struct FakeFacts : NetworkFacts {
  std::map<NetworkId, Vni> vnis;
  std::map<vswitch::ClaimKey, AddressOwner> owners;
  std::map<vswitch::ClaimKey, Candidates> candidates;
  // Who may claim what, by the port or the outer source that the announcement came from.
  std::set<std::tuple<PortId, vswitch::ClaimKey, MacAddress>> port_claims;
  std::set<std::tuple<PortId, vswitch::ClaimKey, MacAddress>> configured;
  std::map<std::pair<IpAddress, MacAddress>, PortId> host_claims;
  std::map<std::tuple<NetworkId, MacAddress, IpAddress>, PortId> remote_ports;
  std::map<NetworkId, std::vector<HostId>> members;
  std::map<NetworkId, std::vector<HostId>> routing;
  std::map<RouterId, std::vector<vswitch::RouterPort>> routers;
  std::map<std::pair<RouterId, IpAddress>, uint32_t> mtus;

  std::optional<Vni> FindVni(const NetworkId& network) const override { return Find(vnis, network); }
  std::optional<AddressOwner> FindOwner(const vswitch::ClaimKey& address) const override {
    return Find(owners, address);
  }
  std::optional<MacAddress> FindNextHop(const vswitch::ClaimKey& address) const override {
    const auto owner = Find(owners, address);
    return owner ? std::optional(owner->mac) : std::nullopt;
  }
  std::optional<AddressOwner> FindAnswer(const Question& question) const override {
    auto owner = FindOwner({question.network, question.ip});
    return owner && owner->local != question.asker ? owner : std::nullopt;
  }
  std::optional<PortId> FindClaimer(const vswitch::ClaimKey& address, const MacAddress& mac,
                                    const Origin& origin) const override {
    if (origin.outer_source) return Find(host_claims, {*origin.outer_source, mac});
    return port_claims.contains({*origin.port, address, mac}) ? origin.port : std::nullopt;
  }
  bool IsConfigured(const vswitch::ClaimKey& address, const MacAddress& mac,
                    const PortId& port) const override {
    return configured.contains({port, address, mac});
  }
  std::optional<PortId> FindRemotePort(const NetworkId& network, const MacAddress& mac,
                                       const IpAddress& outer_source) const override {
    return Find(remote_ports, {network, mac, outer_source});
  }
  Candidates FindCandidates(const vswitch::ClaimKey& address) const override {
    return Find(candidates, address).value_or(Candidates());
  }
  std::vector<HostId> FindHostsToTell(const NetworkId& network, bool flooded) const override {
    std::vector<HostId> hosts = Find(routing, network).value_or(std::vector<HostId>());
    if (flooded) return hosts;
    const std::vector<HostId> more = Find(members, network).value_or(std::vector<HostId>());
    hosts.insert(hosts.end(), more.begin(), more.end());
    return hosts;
  }
  bool IsRouters(const NetworkId& network, const MacAddress& mac) const override {
    for (const auto& [id, ports] : routers) {
      for (const vswitch::RouterPort& port : ports) {
        if (port.network == network && port.mac == mac) return true;
      }
    }
    return false;
  }
  std::optional<uint32_t> FindMtuTo(const RouterId& router, const IpAddress& destination) const override {
    return Find(mtus, {router, destination});
  }
  std::vector<vswitch::RouterPort> FindInterfaces(const RouterId& router) const override {
    return Find(routers, router).value_or(std::vector<vswitch::RouterPort>());
  }

 private:
  template <typename Key, typename Value>
  static std::optional<Value> Find(const std::map<Key, Value>& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace kasane::slowpath
