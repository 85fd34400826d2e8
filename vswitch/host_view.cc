#include "vswitch/host_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace kasane::vswitch {
namespace {

std::string Text(const TunnelAddresses& addresses) {
  return fmt::format("{} {}", addresses.v4 ? addresses.v4->ToString() : "-",
                     addresses.v6 ? addresses.v6->ToString() : "-");
}

std::string_view Text(bool admin_state_up) { return admin_state_up ? "up" : "down"; }

void AppendRouter(const RouterView& router, std::back_insert_iterator<std::string> out) {
  fmt::format_to(out, "router {} name={} admin={}\n", router.id, router.name, Text(router.admin_state_up));
  for (const RouterPort& port : router.ports) {
    fmt::format_to(out, "  port {} network={} mac={} addresses={} link_local={}\n", port.id, port.network,
                   port.mac, fmt::join(port.addresses, ","), port.link_local);
  }
  for (const Route& route : router.routes) {
    fmt::format_to(out, "  route {}{}", route.destination,
                   route.origin == RouteOrigin::kConnected ? " connected" : "");
    for (const NextHop& hop : route.next_hops) {
      fmt::format_to(out, " via {} port {}", hop.gateway ? hop.gateway->ToString() : "link", hop.out_port);
    }
    fmt::format_to(out, "\n");
  }
}

}  // namespace

std::string ToString(const HostView& view) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "host {} vtep={}\n", view.host, Text(view.tunnel_addresses));
  for (const auto& [id, network] : view.networks) {
    fmt::format_to(out, "network {} name={} vni={} mtu={} admin={} flood={}", id, network.name, network.vni,
                   network.mtu, Text(network.admin_state_up), fmt::join(network.flood_hosts, ","));
    if (!network.router_hosts.empty()) {
      fmt::format_to(out, " routed_by={}", fmt::join(network.router_hosts, ","));
    }
    fmt::format_to(out, "\n");
  }
  for (const auto& [id, port] : view.ports) {
    fmt::format_to(out, "local {} name={} network={} mac={} ips={} admin={} port_security={}\n", id, port.name,
                   port.network, port.mac, fmt::join(port.ips, ","), Text(port.admin_state_up),
                   port.port_security_enabled);
    for (const AllowedAddress& allowed : port.allowed) {
      fmt::format_to(out, "  allowed {} {}\n", allowed.mac, allowed.prefix);
    }
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    fmt::format_to(out, "remote {} name={} network={} host={} mac={} ips={} port_security={}\n", id,
                   endpoint.name, endpoint.network, endpoint.host, endpoint.mac, fmt::join(endpoint.ips, ","),
                   endpoint.port_security_enabled);
  }
  for (const auto& [id, port] : view.reserved) {
    fmt::format_to(out, "reserved {} name={} network={} mac={} ips={}{}\n", id, port.name, port.network,
                   port.mac, fmt::join(port.ips, ","), port.infrastructure ? " infrastructure" : "");
  }
  for (const auto& [key, claim] : view.claims) {
    fmt::format_to(out, "claim {} network={} mac={} port={} sequence={}{}\n", key.second, key.first, claim.mac,
                   claim.port, claim.sequence, claim.router ? " router" : "");
  }
  for (const auto& [id, router] : view.routers) AppendRouter(router, out);
  for (const auto& [id, host] : view.hosts) {
    fmt::format_to(out, "host {} vtep={} addresses={}\n", id, host.vtep ? host.vtep->ToString() : "-",
                   Text(host.addresses));
  }
  return text;
}

HostView WithPlugged(HostView view, const std::set<PortId>& plugged) {
  for (auto port = view.ports.begin(); port != view.ports.end();) {
    if (plugged.contains(port->first)) {
      ++port;
      continue;
    }
    const LocalPort& gone = port->second;
    view.reserved.emplace(gone.id, ReservedPort{gone.id, gone.name, gone.network, gone.mac, gone.ips, false});
    std::erase_if(view.claims, [&](const auto& entry) { return entry.second.port == gone.id; });
    port = view.ports.erase(port);
  }
  return view;
}

const RouterPort* FindRouterPort(const RouterView& router, const PortId& id) {
  for (const RouterPort& port : router.ports) {
    if (port.id == id) return &port;
  }
  return nullptr;
}

}  // namespace kasane::vswitch
