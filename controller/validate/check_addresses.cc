// Addresses that are not where they belong: a fixed IP outside its subnet or on another network's subnet, a
// gateway outside its subnet, a floating IP that its network or port does not have.
#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>

#include "controller/validate/prefix_set.h"
#include "controller/validate/validate_context.h"
#include "model/resource_name.h"

namespace kasane::controller::validation {
namespace {

template <typename Map>
auto Find(const Map& map, const typename Map::key_type& id) -> decltype(map.begin()->second.get()) {
  const auto it = map.find(id);
  return it == map.end() ? nullptr : it->second.get();
}

class AddressCheck {
 public:
  explicit AddressCheck(Context& context) : context_(context), state_(context.after()) {
    for (const auto& [id, subnet] : state_.subnets) subnets_[subnet->network].Add(subnet->cidr);
  }

  void CheckSubnet(const model::Subnet& subnet) {
    const std::optional<IpAddress>& gateway = subnet.gateway_ip;
    if (!gateway || !Touching(model::Kind::kSubnet, subnet.id) || subnet.cidr.Contains(*gateway)) return;
    if (gateway->is_v6() && gateway->IsLinkLocal())
      return;  // A router's link-local address is always on the link.
    context_.Fail({model::Kind::kSubnet, subnet.id.str()}, subnet.name, std::nullopt, "gateway_ip",
                  fmt::format("{} is outside of the subnet {}; use one of its addresses, or none", *gateway,
                              subnet.cidr));
  }

  void CheckPort(const model::Port& port) {
    const model::ResourceKey key{model::Kind::kPort, port.id.str()};
    const std::optional<size_t> own = Touching(model::Kind::kPort, port.id);
    int index = 0;
    for (const model::FixedIp& ip : port.fixed_ips) {
      CheckFixedIp(key, port.name, own, port.network, ip, "fixed_ips", index++);
    }
  }

  void CheckRouter(const model::Router& router) {
    if (!router.gateway) return;
    const model::ResourceKey key{model::Kind::kRouter, router.id.str()};
    const std::optional<size_t> own = Touching(model::Kind::kRouter, router.id);
    CheckExternal(key, router.name, own, router.gateway->network, "external_gateway_info.network_id");
    int index = 0;
    for (const model::FixedIp& ip : router.gateway->external_fixed_ips) {
      CheckFixedIp(key, router.name, own, router.gateway->network, ip,
                   "external_gateway_info.external_fixed_ips", index++);
    }
  }

  void CheckFloatingIp(const model::FloatingIp& floating_ip) {
    const model::ResourceKey key{model::Kind::kFloatingIp, floating_ip.id.str()};
    const std::optional<size_t> own = Touching(model::Kind::kFloatingIp, floating_ip.id);
    CheckExternal(key, "", own, floating_ip.floating_network, "floating_network_id");
    CheckFloatingAddress(key, own, floating_ip);
    CheckMappedAddress(key, own, floating_ip);
  }

 private:
  template <typename IdType>
  std::optional<size_t> Touching(model::Kind kind, const IdType& id) const {
    return context_.Touching(kind, id.str());
  }

  void CheckFixedIp(const model::ResourceKey& key, std::string_view name, std::optional<size_t> own,
                    const NetworkId& network, const model::FixedIp& ip, std::string_view list, int index) {
    const std::optional<size_t> cause = Later(own, Touching(model::Kind::kSubnet, ip.subnet));
    if (!cause) return;
    const model::Subnet* subnet = Find(state_.subnets, ip.subnet);
    if (subnet == nullptr) return;  // A dangling reference, reported as such.
    if (subnet->network != network) {
      context_.Fail(key, name, cause, fmt::format("{}[{}].subnet_id", list, index),
                    fmt::format("{} is on network {}, not on {}; use a subnet of that network",
                                context_.Describe(model::Kind::kSubnet, subnet->id.str(), subnet->name),
                                subnet->network, network));
    } else if (!subnet->cidr.Contains(ip.address)) {
      context_.Fail(
          key, name, cause, fmt::format("{}[{}].ip_address", list, index),
          fmt::format("{} is outside of {} of {}; use one of its addresses, or the subnet that has it",
                      ip.address, subnet->cidr,
                      context_.Describe(model::Kind::kSubnet, subnet->id.str(), subnet->name)));
    }
  }

  void CheckExternal(const model::ResourceKey& key, std::string_view name, std::optional<size_t> own,
                     const NetworkId& id, std::string_view field) {
    const std::optional<size_t> cause = Later(own, Touching(model::Kind::kNetwork, id));
    const model::Network* network = cause ? Find(state_.networks, id) : nullptr;
    if (network == nullptr || network->external) return;
    context_.Fail(key, name, cause, field,
                  fmt::format("{} is not external; use a network with router:external true",
                              context_.Describe(model::Kind::kNetwork, id.str(), network->name)));
  }

  void CheckFloatingAddress(const model::ResourceKey& key, std::optional<size_t> own,
                            const model::FloatingIp& floating_ip) {
    if (!own || state_.networks.count(floating_ip.floating_network) == 0) return;
    if (context_.HasUnreadable(model::Kind::kSubnet)) return;  // It may be the one that has the address.
    const auto subnets = subnets_.find(floating_ip.floating_network);
    if (subnets != subnets_.end() && subnets->second.Contains(floating_ip.floating_ip_address)) return;
    context_.Fail(key, "", own, "floating_ip_address",
                  fmt::format("{} is in no subnet of network {}", floating_ip.floating_ip_address,
                              floating_ip.floating_network));
  }

  void CheckMappedAddress(const model::ResourceKey& key, std::optional<size_t> own,
                          const model::FloatingIp& floating_ip) {
    if (!floating_ip.fixed_ip_address) return;
    const std::optional<size_t> cause = Later(own, Touching(model::Kind::kPort, floating_ip.port));
    const model::Port* port = cause ? Find(state_.ports, floating_ip.port) : nullptr;
    if (port == nullptr) return;
    const bool has = std::any_of(port->fixed_ips.begin(), port->fixed_ips.end(), [&](const model::FixedIp& ip) {
      return ip.address == *floating_ip.fixed_ip_address;
    });
    if (has) return;
    context_.Fail(key, "", cause, "fixed_ip_address",
                  fmt::format("{} is no address of {}", *floating_ip.fixed_ip_address,
                              context_.Describe(model::Kind::kPort, port->id.str(), port->name)));
  }

  Context& context_;
  const model::NetworkState& state_;
  absl::flat_hash_map<NetworkId, PrefixSet> subnets_;  // By network.
};

}  // namespace

void CheckAddresses(Context& context) {
  AddressCheck check(context);
  for (const auto& [id, subnet] : context.after().subnets) check.CheckSubnet(*subnet);
  for (const auto& [id, port] : context.after().ports) check.CheckPort(*port);
  for (const auto& [id, router] : context.after().routers) check.CheckRouter(*router);
  for (const auto& [id, floating_ip] : context.after().floating_ips) check.CheckFloatingIp(*floating_ip);
}

}  // namespace kasane::controller::validation
