// What must be there once: a MAC and an IP in a network, an address range in a network, a VNI, a tunnel
// address, a floating address.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/validate/validate_context.h"
#include "model/resource_name.h"

namespace kasane::controller::validation {
namespace {

// A resource that has something nobody else may have, and the field that says so.
struct Holder {
  model::Kind kind;
  const std::string* id;
  std::string_view name;
  std::string_view list;  // "fixed_ips", or the whole field if there is no index.
  int index = -1;
  std::string_view subfield;

  std::string Field() const {
    return index < 0 ? std::string(list) : fmt::format("{}[{}].{}", list, index, subfield);
  }
};

// Reports the clash at that of the two that came later in the request.
template <typename Explain>
void Clash(Context& context, const Holder& a, const Holder& b, Explain explain) {
  const std::optional<size_t> item_a = context.Touching(a.kind, *a.id);
  const std::optional<size_t> item_b = context.Touching(b.kind, *b.id);
  if (!item_a && !item_b) return;
  const bool blame_a = item_a > item_b;
  const Holder& blamed = blame_a ? a : b;
  const Holder& other = blame_a ? b : a;
  context.Fail({blamed.kind, *blamed.id}, blamed.name, std::nullopt, blamed.Field(),
               explain(context.Describe(other.kind, *other.id, other.name)));
}

using Networks = absl::flat_hash_set<NetworkId>;

// The networks on which the request changes a port, a subnet or a floating IP.
Networks TouchedNetworks(const Context& context) {
  Networks networks;
  for (const RequestItem& item : context.items()) {
    if (!item.value) continue;
    if (const auto* port = std::get_if<std::shared_ptr<const model::Port>>(&*item.value)) {
      networks.insert((*port)->network);
    } else if (const auto* subnet = std::get_if<std::shared_ptr<const model::Subnet>>(&*item.value)) {
      networks.insert((*subnet)->network);
    } else if (const auto* floating = std::get_if<std::shared_ptr<const model::FloatingIp>>(&*item.value)) {
      networks.insert((*floating)->floating_network);
    }
  }
  return networks;
}

void CheckMacs(Context& context, const Networks& networks) {
  absl::flat_hash_map<std::pair<NetworkId, MacAddress>, Holder> owners;
  for (const auto& [id, port] : context.after().ports) {
    if (!networks.contains(port->network)) continue;
    const Holder holder{model::Kind::kPort, &id.str(), port->name, "mac_address", -1, ""};
    const auto [it, first] = owners.try_emplace({port->network, port->mac}, holder);
    if (first) continue;
    Clash(context, it->second, holder,
          [&, &mac = port->mac, &network = port->network](const std::string& other) {
            return fmt::format("{} is also the MAC of {} in network {}; give each port its own", mac, other,
                               network);
          });
  }
}

using IpOwners = absl::flat_hash_map<std::pair<NetworkId, IpAddress>, Holder>;

// If another owner has it already, a clash between the two; else `holder` owns it from now on.
void Claim(Context& context, IpOwners& owners, const NetworkId& network, const IpAddress& ip,
           const Holder& holder) {
  const auto [it, first] = owners.try_emplace({network, ip}, holder);
  if (first) return;
  Clash(context, it->second, holder, [&](const std::string& other) {
    return fmt::format("{} also belongs to {} in network {}; give each its own", ip, other, network);
  });
}

IpOwners CheckFixedIps(Context& context, const Networks& networks) {
  IpOwners owners;
  for (const auto& [id, port] : context.after().ports) {
    if (!networks.contains(port->network)) continue;
    int index = 0;
    for (const model::FixedIp& ip : port->fixed_ips) {
      Claim(context, owners, port->network, ip.address,
            {model::Kind::kPort, &id.str(), port->name, "fixed_ips", index++, "ip_address"});
    }
  }
  return owners;
}

// The port that Neutron keeps for a floating IP rightly has its address.
void CheckFloatingIps(Context& context, const Networks& networks, const IpOwners& port_owners) {
  IpOwners owners;
  for (const auto& [id, floating_ip] : context.after().floating_ips) {
    const NetworkId& network = floating_ip->floating_network;
    const IpAddress& ip = floating_ip->floating_ip_address;
    if (!networks.contains(network)) continue;
    const Holder holder{model::Kind::kFloatingIp, &id.str(), "", "floating_ip_address", -1, ""};
    const auto port = port_owners.find(std::pair(network, ip));
    const bool taken = port != port_owners.end() &&
                       context.after().ports.at(PortId(*port->second.id))->role != model::PortRole::kFloatingIp;
    if (taken) owners.insert(*port);
    Claim(context, owners, network, ip, holder);
  }
}

void CheckSubnetsOfNetwork(Context& context, std::vector<const model::Subnet*>& subnets) {
  std::sort(subnets.begin(), subnets.end(),
            [](const model::Subnet* a, const model::Subnet* b) { return a->cidr < b->cidr; });
  const model::Subnet* cover = nullptr;  // The last prefix that is not inside of an earlier one.
  for (const model::Subnet* subnet : subnets) {
    if (cover == nullptr || !cover->cidr.Overlaps(subnet->cidr)) {
      cover = subnet;
      continue;
    }
    const Holder a{model::Kind::kSubnet, &cover->id.str(), cover->name, "cidr", -1, ""};
    const Holder b{model::Kind::kSubnet, &subnet->id.str(), subnet->name, "cidr", -1, ""};
    Clash(context, a, b, [&](const std::string& other) {
      return fmt::format("overlaps {} on the same network ({} and {}); subnets of a network must be disjoint",
                         other, cover->cidr, subnet->cidr);
    });
  }
}

void CheckSubnets(Context& context, const Networks& networks) {
  std::map<NetworkId, std::vector<const model::Subnet*>> by_network;
  for (const auto& [id, subnet] : context.after().subnets) {
    if (networks.contains(subnet->network)) by_network[subnet->network].push_back(subnet.get());
  }
  for (auto& [id, subnets] : by_network) CheckSubnetsOfNetwork(context, subnets);
}

void CheckVnis(Context& context) {
  std::map<Vni, Holder> owners;
  for (const auto& [id, network] : context.after().networks) {
    if (!network->vni) continue;
    const Holder holder{model::Kind::kNetwork, &id.str(), network->name, "provider:segmentation_id", -1, ""};
    const auto [it, first] = owners.try_emplace(*network->vni, holder);
    if (first) continue;
    Clash(context, it->second, holder, [&vni = *network->vni](const std::string& other) {
      return fmt::format("VNI {} belongs to {}; give each vxlan network its own", vni, other);
    });
  }
}

void CheckTunnelAddresses(Context& context) {
  std::map<IpAddress, Holder> owners;
  for (const auto& [id, host] : context.after().hosts) {
    for (const std::optional<IpAddress>* address : {&host->tunnel_v4, &host->tunnel_v6}) {
      if (!*address) continue;
      const Holder holder{model::Kind::kHost, &id.str(), "", "tunnel_addresses", -1, ""};
      const auto [it, first] = owners.try_emplace(**address, holder);
      if (first) continue;
      Clash(context, it->second, holder, [address](const std::string& other) {
        return fmt::format(
            "{} is the tunnel address of {}; give each host its own, or delete the host that is gone",
            **address, other);
      });
    }
  }
}

}  // namespace

void CheckUniqueness(Context& context) {
  const Networks networks = TouchedNetworks(context);
  CheckMacs(context, networks);
  CheckFloatingIps(context, networks, CheckFixedIps(context, networks));
  CheckSubnets(context, networks);
  CheckVnis(context);
  CheckTunnelAddresses(context);
}

}  // namespace kasane::controller::validation
