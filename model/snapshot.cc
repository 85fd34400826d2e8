// Steps from one snapshot to the next.
#include <type_traits>

#include "model/decode.h"

namespace kasane::model {
namespace {

// The map of a snapshot that holds `Model`.
template <typename Model, typename State>
auto& MapOf(State& state) {
  if constexpr (std::is_same_v<Model, Host>) return state.hosts;
  if constexpr (std::is_same_v<Model, Network>) return state.networks;
  if constexpr (std::is_same_v<Model, Subnet>) return state.subnets;
  if constexpr (std::is_same_v<Model, Port>) return state.ports;
  if constexpr (std::is_same_v<Model, Router>) return state.routers;
  if constexpr (std::is_same_v<Model, FloatingIp>) return state.floating_ips;
  if constexpr (std::is_same_v<Model, SecurityGroup>) return state.security_groups;
  if constexpr (std::is_same_v<Model, AddressClaim>) return state.address_claims;
}

}  // namespace

void Upsert(NetworkState& state, const AnyResource& resource) {
  std::visit(
      [&state](const auto& pointer) {
        using Model = std::remove_const_t<typename std::decay_t<decltype(pointer)>::element_type>;
        MapOf<Model>(state)[pointer->id] = pointer;
      },
      resource);
}

void Erase(NetworkState& state, const ResourceKey& key) {
  switch (key.kind) {
    case Kind::kHost:
      state.hosts.erase(HostId(key.id));
      break;
    case Kind::kNetwork:
      state.networks.erase(NetworkId(key.id));
      break;
    case Kind::kSubnet:
      state.subnets.erase(SubnetId(key.id));
      break;
    case Kind::kPort:
      state.ports.erase(PortId(key.id));
      break;
    case Kind::kRouter:
      state.routers.erase(RouterId(key.id));
      break;
    case Kind::kFloatingIp:
      state.floating_ips.erase(FloatingIpId(key.id));
      break;
    case Kind::kSecurityGroup:
      state.security_groups.erase(SecurityGroupId(key.id));
      break;
    case Kind::kAddressClaim:
      state.address_claims.erase(AddressClaimId(key.id));
      break;
  }
}

}  // namespace kasane::model
