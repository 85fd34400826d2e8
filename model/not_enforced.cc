#include "model/not_enforced.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kasane::model {
namespace {

// Names that scripts and dashboards may rely on: add, never rename.
namespace feature {
constexpr std::string_view kSecurityGroups = "security_groups";    // Filtering by a port's groups.
constexpr std::string_view kGateway = "gateway";                   // Routing and SNAT to the world outside.
constexpr std::string_view kFloatingIp = "floating_ip";            // DNAT from the world outside.
constexpr std::string_view kDhcp = "dhcp";                         // DHCPv4 and DHCPv6 answers.
constexpr std::string_view kRa = "ra";                             // IPv6 router advertisements.
constexpr std::string_view kHostRoutes = "host_routes";            // Routes told by DHCP.
constexpr std::string_view kProviderNetwork = "provider_network";  // flat and vlan networks.
constexpr std::string_view kExternalNetwork = "external_network";  // Ports on router:external networks.
}  // namespace feature

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
  const std::string what = network.type == NetworkType::kFlat ? "flat" : fmt::format("vlan {}", network.vlan);
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
  if (!IsMachine(port)) return;
  const auto add = [&](std::string_view name, std::string detail) {
    out.Add(Kind::kPort, port.id.str(), port.name, name, std::move(detail));
  };
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

}  // namespace

std::vector<NotEnforcedItem> NotEnforced(const NetworkState& state) {
  Collector out;
  for (const auto& [id, network] : state.networks) OfNetwork(*network, out);
  for (const auto& [id, subnet] : state.subnets) OfSubnet(*subnet, out);
  for (const auto& [id, port] : state.ports) OfPort(state, *port, out);
  for (const auto& [id, router] : state.routers) OfRouter(state, *router, out);
  for (const auto& [id, floating] : state.floating_ips) OfFloatingIp(*floating, out);
  return out.Sorted();
}

}  // namespace kasane::model
