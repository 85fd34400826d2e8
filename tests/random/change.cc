// One change of a cloud.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/random/cloud_builder.h"

namespace kasane::random {
namespace {

using model::NetworkState;

template <typename Map>
const typename Map::key_type* AnyKey(const Map& map, Random& random) {
  if (map.empty()) return nullptr;
  return &std::next(map.begin(), static_cast<std::ptrdiff_t>(Below(random, map.size())))->first;
}

// `change` of any of the resources.
template <typename Map, typename Change>
void ChangeAny(Map& map, Random& random, const Change& change) {
  const auto* key = AnyKey(map, random);
  if (key == nullptr) return;
  auto copy = std::make_shared<std::remove_const_t<typename Map::mapped_type::element_type>>(*map.at(*key));
  change(*copy);
  map[*key] = std::move(copy);
}

bool IsLocal(const PortId& id) {
  const std::vector<PortId> locals = LocalPorts();
  return std::find(locals.begin(), locals.end(), id) != locals.end();
}

template <typename Change>
void ChangeVm(NetworkState& state, Random& random, const Change& change) {
  std::vector<PortId> vms;
  for (const auto& [id, port] : state.ports) {
    if (port->role == model::PortRole::kVm) vms.push_back(id);
  }
  if (vms.empty()) return;
  const PortId id = Pick(vms, random);
  auto copy = std::make_shared<model::Port>(*state.ports.at(id));
  change(*copy);
  state.ports[id] = std::move(copy);
}

void ErasePort(NetworkState& state, const PortId& id) {
  state.ports.erase(id);
  // A claim goes with its port, as in the controller.
  erase_if(state.address_claims, [&](const auto& entry) { return entry.second->port == id; });
}

// One that is plugged here and not in the cloud, or else one elsewhere.
void AddPort(CloudBuilder& builder, Random& random) {
  for (const PortId& id : LocalPorts()) {
    if (!builder.state().ports.contains(id)) return builder.AddVm(id, kHost);
  }
  builder.AddVm(PortId(fmt::format("late{}", Below(random, 4))), builder.AnyPeer());
}

}  // namespace

NetworkState ChangedCloud(const NetworkState& before, const std::vector<slowpath::Announcement>& heard,
                          Random& random, const Kinds& kinds) {
  NetworkState state = before;
  CloudBuilder peers({}, random, kinds);
  const auto built = [&](const auto& change) {
    CloudBuilder builder(std::move(state), random, kinds);
    change(builder);
    state = builder.Take();
  };
  switch (Below(random, 14)) {
    case 0:
      built([&](CloudBuilder& builder) { AddPort(builder, random); });
      break;
    case 1:
      if (const PortId* id = AnyKey(state.ports, random)) ErasePort(state, PortId(*id));
      break;
    case 2:  // What is plugged here may come and go; what is not stays elsewhere.
      ChangeVm(state, random, [&](model::Port& port) {
        port.host = IsLocal(port.id) && port.host != kHost ? kHost : peers.AnyPeer();
      });
      break;
    case 3:
      ChangeAny(state.ports, random, [](model::Port& port) { port.admin_state_up = !port.admin_state_up; });
      break;
    case 4:
      ChangeVm(state, random, [&](model::Port& port) {
        if (!port.allowed_address_pairs.empty() && Chance(random, 2)) return port.allowed_address_pairs.clear();
        peers.AddAllowedPair(port);
      });
      break;
    case 5:
      ChangeVm(state, random,
               [](model::Port& port) { port.port_security_enabled = !port.port_security_enabled; });
      break;
    case 6:
      ChangeVm(state, random, [&](model::Port& port) {
        if (!port.fixed_ips.empty() && Chance(random, 2)) return port.fixed_ips.pop_back();
        port.mac = CloudBuilder(before, random, kinds).FreeMac(port.network);
      });
      break;
    case 7:
      ChangeAny(state.routers, random,
                [](model::Router& router) { router.admin_state_up = !router.admin_state_up; });
      break;
    case 8:
      built([](CloudBuilder& builder) { builder.ChangeExtraRoutes(); });
      break;
    case 9:
      ChangeAny(state.networks, random, [&](model::Network& network) {
        if (Chance(random, 2))
          network.mtu = network.mtu == 1450 ? 1280 : 1450;
        else
          network.admin_state_up = !network.admin_state_up;
      });
      break;
    case 10:
      if (const AddressClaimId* id = AnyKey(state.address_claims, random))
        state.address_claims.erase(AddressClaimId(*id));
      break;
    default:  // Claims, which are what changes most in a cloud.
      built([&](CloudBuilder& builder) {
        if (heard.empty()) return builder.AddClaim();
        const slowpath::Announcement& announced = Pick(heard, random);
        if (!builder.state().ports.contains(announced.port)) return;
        model::AddressClaim claim;
        claim.network = announced.network;
        claim.address = announced.ip;
        claim.mac = announced.mac;
        claim.port = announced.port;
        builder.SetClaim(std::move(claim));
      });
  }
  return state;
}

}  // namespace kasane::random
