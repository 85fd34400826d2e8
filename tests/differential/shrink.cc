#include "tests/differential/shrink.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"

namespace kasane::differential {
namespace {

// A claim goes with its port.
void EraseClaimsOfNobody(model::NetworkState& state) {
  erase_if(state.address_claims, [&](const auto& entry) { return !state.ports.contains(entry.second->port); });
}

void ErasePort(model::NetworkState& state, const PortId& id) {
  state.ports.erase(id);
  EraseClaimsOfNobody(state);
}

void EraseNetwork(model::NetworkState& state, const NetworkId& id) {
  state.networks.erase(id);
  erase_if(state.subnets, [&](const auto& entry) { return entry.second->network == id; });
  erase_if(state.ports, [&](const auto& entry) { return entry.second->network == id; });
  EraseClaimsOfNobody(state);
}

void EraseSubnet(model::NetworkState& state, const SubnetId& id) {
  state.subnets.erase(id);
  const auto before = state.ports;
  for (const auto& [port_id, port] : before) {
    auto changed = std::make_shared<model::Port>(*port);
    std::erase_if(changed->fixed_ips, [&](const model::FixedIp& ip) { return ip.subnet == id; });
    if (changed->fixed_ips.size() != port->fixed_ips.size()) state.ports[port_id] = std::move(changed);
  }
}

void EraseRouter(model::NetworkState& state, const RouterId& id) {
  state.routers.erase(id);
  erase_if(state.ports, [&](const auto& entry) {
    return entry.second->role == model::PortRole::kRouterInterface && entry.second->device_id == id.str();
  });
}

// Every state that lacks one thing of `state`, larger things first.
std::vector<model::NetworkState> Smaller(const model::NetworkState& state, const PortId& keep) {
  std::vector<model::NetworkState> candidates;
  const auto add = [&](const auto& change) {
    candidates.push_back(state);
    change(candidates.back());
  };
  const auto kept = state.ports.find(keep);
  for (const auto& [id, network] : state.networks) {
    if (kept != state.ports.end() && kept->second->network == id) continue;
    add([&, name = id](model::NetworkState& smaller) { EraseNetwork(smaller, name); });
  }
  for (const auto& [id, router] : state.routers) {
    add([&, name = id](model::NetworkState& smaller) { EraseRouter(smaller, name); });
  }
  for (const auto& [id, port] : state.ports) {
    if (id == keep) continue;
    add([&, name = id](model::NetworkState& smaller) { ErasePort(smaller, name); });
  }
  for (const auto& [id, claim] : state.address_claims) {
    add([&, name = id](model::NetworkState& smaller) { smaller.address_claims.erase(name); });
  }
  for (const auto& [id, subnet] : state.subnets) {
    add([&, name = id](model::NetworkState& smaller) { EraseSubnet(smaller, name); });
  }
  for (const auto& [id, router] : state.routers) {
    for (size_t n = 0; n < router->routes.size(); ++n) {
      auto changed = std::make_shared<model::Router>(*router);
      changed->routes.erase(changed->routes.begin() + static_cast<std::ptrdiff_t>(n));
      add([&, name = id](model::NetworkState& smaller) { smaller.routers[name] = changed; });
    }
  }
  for (const auto& entry : state.ports) {
    const PortId& id = entry.first;
    const auto& port = entry.second;
    const auto without = [&](auto list, size_t n) {
      auto changed = std::make_shared<model::Port>(*port);
      auto& entries = (*changed).*list;
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(n));
      add([&, name = id](model::NetworkState& smaller) { smaller.ports[name] = changed; });
    };
    for (size_t n = 0; n < port->allowed_address_pairs.size(); ++n)
      without(&model::Port::allowed_address_pairs, n);
    for (size_t n = 0; n < port->fixed_ips.size(); ++n) without(&model::Port::fixed_ips, n);
  }
  return candidates;
}

}  // namespace

absl::StatusOr<model::NetworkState> Shrink(model::NetworkState state, const PortId& keep,
                                           const StillFails& still_fails) {
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (model::NetworkState& smaller : Smaller(state, keep)) {
      ASSIGN_OR_RETURN(const bool fails, still_fails(smaller));
      if (!fails) continue;
      state = std::move(smaller);
      shrunk = true;
      break;
    }
  }
  return state;
}

}  // namespace kasane::differential
