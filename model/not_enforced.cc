#include "model/not_enforced.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/features.h"

namespace kasane::model {
namespace {

class Collector {
 public:
  void Add(Kind kind, const std::string& id, const std::string& name, std::string_view feature,
           std::string detail) {
    items_.push_back({{kind, id}, name, std::string(feature), std::move(detail)});
  }

  std::vector<NotEnforcedItem> Sorted() {
    std::sort(items_.begin(), items_.end(), [](const NotEnforcedItem& a, const NotEnforcedItem& b) {
      return std::tie(a.key, a.feature) < std::tie(b.key, b.feature);
    });
    return std::move(items_);
  }

 private:
  std::vector<NotEnforcedItem> items_;
};

// "1 address pair", "2 address pairs"
std::string Count(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "external (5f3c...)", or the id alone when the network is not known or has no name.
std::string NetworkText(const NetworkState& state, const NetworkId& id) {
  const auto found = state.networks.find(id);
  if (found == state.networks.end() || found->second->name.empty()) return id.str();
  return fmt::format("{} ({})", found->second->name, id);
}

// Ports that a machine of a tenant is behind, or will be; the security of the others means nothing.
bool IsMachine(const Port& port) { return port.role == PortRole::kVm || IsPlugged(port); }

void OfNetwork(const Network& network, Collector& out) {
  if (network.type == NetworkType::kVxlan) return;
  const std::string what = network.type == NetworkType::kVlan    ? fmt::format("vlan {}", network.vlan)
                           : network.type == NetworkType::kLocal ? "local"
                                                                 : "flat";
  out.Add(Kind::kNetwork, network.id.str(), network.name, feature::kProviderNetwork,
          fmt::format("The {} provider network is not connected: its ports exchange nothing.", what));
}

void OfSubnet(const Subnet& subnet, Collector& out) {
  const auto add = [&](std::string_view name, std::string detail) {
    out.Add(Kind::kSubnet, subnet.id.str(), subnet.name, name, std::move(detail));
  };
  const bool v4 = subnet.cidr.family() == IpFamily::kV4;
  if (subnet.enable_dhcp && (v4 || subnet.ipv6_address_mode.starts_with("dhcpv6"))) {
    add(feature::kDhcp, fmt::format("{} is not answered on {}: configure the VMs' addresses yourself.",
                                    v4 ? "DHCP" : "DHCPv6", subnet.cidr));
  }
  if (!subnet.ipv6_ra_mode.empty()) {
    add(feature::kRa,
        fmt::format("No router advertisements are sent on {}: VMs learn neither prefix nor router.",
                    subnet.cidr));
  }
  if (!subnet.host_routes.empty()) {
    add(feature::kHostRoutes, fmt::format("{} told by DHCP: configure in the VMs.",
                                          Count(subnet.host_routes.size(), "host route") +
                                              (subnet.host_routes.size() == 1 ? " is not" : " are not")));
  }
}

bool OnExternalNetwork(const NetworkState& state, const Port& port) {
  const auto network = state.networks.find(port.network);
  return network != state.networks.end() && network->second->external;
}

void OfPort(const NetworkState& state, const Port& port, Collector& out) {
  const auto add = [&](std::string_view name, std::string detail) {
    out.Add(Kind::kPort, port.id.str(), port.name, name, std::move(detail));
  };
  if (port.device_owner == "trunk:subport") add(feature::kTrunk, "The subport of a trunk exchanges nothing.");
  if (!IsMachine(port)) return;
  if (!port.vnic_type.empty() && port.vnic_type != "normal") {
    add(feature::kVnicType,
        fmt::format("Its vnic_type {} is not served: it is connected only if its interface is plugged into the "
                    "switch of its host, else it stays BUILD.",
                    port.vnic_type));
  }
  if (port.port_security_enabled && !port.security_groups.empty()) {
    add(feature::kSecurityGroups, fmt::format("The port's {} not filter: all traffic is allowed.",
                                              Count(port.security_groups.size(), "security group") +
                                                  (port.security_groups.size() == 1 ? " does" : " do")));
  }
  if (!port.host.empty() && OnExternalNetwork(state, port)) {
    add(feature::kExternalNetwork,
        fmt::format("It is not connected to the external network {}: it stays BUILD.",
                    NetworkText(state, port.network)));
  }
}

void OfRouter(const NetworkState& state, const Router& router, Collector& out) {
  if (!router.gateway) return;
  out.Add(Kind::kRouter, router.id.str(), router.name, feature::kGateway,
          fmt::format("Nothing is routed to or from the external network {}{}.",
                      NetworkText(state, router.gateway->network),
                      router.gateway->enable_snat ? ", and no SNAT done" : ""));
}

void OfFloatingIp(const FloatingIp& floating, Collector& out) {
  if (floating.port.empty()) return;
  out.Add(Kind::kFloatingIp, floating.id.str(), "", feature::kFloatingIp,
          fmt::format("{} is not translated to port {}: it cannot be reached from outside.",
                      floating.floating_ip_address, floating.port));
}

void OfSecurityGroup(const SecurityGroup& group, Collector& out) {
  const auto closed = static_cast<size_t>(
      std::count_if(group.rules.begin(), group.rules.end(),
                    [](const SecurityGroupRule& rule) { return !rule.remote_address_group.empty(); }));
  if (closed == 0) return;
  out.Add(Kind::kSecurityGroup, group.id.str(), group.name, feature::kAddressGroup,
          fmt::format("{} an address group, whose members are not known here: nothing is allowed by {}.",
                      Count(closed, "rule") + (closed == 1 ? " names" : " name"), closed == 1 ? "it" : "them"));
}

}  // namespace

std::vector<NotEnforcedItem> NotEnforced(const NetworkState& state) {
  Collector out;
  for (const auto& [id, network] : state.networks) OfNetwork(*network, out);
  for (const auto& [id, subnet] : state.subnets) OfSubnet(*subnet, out);
  for (const auto& [id, port] : state.ports) OfPort(state, *port, out);
  for (const auto& [id, router] : state.routers) OfRouter(state, *router, out);
  for (const auto& [id, floating] : state.floating_ips) OfFloatingIp(*floating, out);
  for (const auto& [id, group] : state.security_groups) OfSecurityGroup(*group, out);
  return out.Sorted();
}

}  // namespace kasane::model
