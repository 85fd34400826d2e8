// The replies that list: status, ports, tunnels, networks, routers.
#include "inspect/replies.h"

#include <algorithm>
#include <map>
#include <string>

#include "kasane/v1/agent.pb.h"
#include "model/decode.h"
#include "model/not_enforced.h"

namespace kasane::inspect {
namespace {

void AddRejected(const AgentSnapshot& snapshot, v1::AgentStatusReply& reply) {
  for (const model::Verdict& verdict : snapshot.rejected) {
    v1::AgentStatusReply::Verdict& rejected = *reply.add_rejected();
    *rejected.mutable_key() = model::EncodeKey(verdict.key);
    for (const model::Fault& fault : verdict.faults) {
      v1::Fault& text = *rejected.add_faults();
      *text.mutable_key() = model::EncodeKey(verdict.key);
      text.set_path(fault.path);
      text.set_message(fault.message);
    }
  }
}

void AddNotEnforced(const AgentSnapshot& snapshot, v1::AgentStatusReply& reply) {
  for (const model::NotEnforcedItem& item : model::NotEnforced(*snapshot.state)) {
    v1::NotEnforced& text = *reply.add_not_enforced();
    *text.mutable_key() = model::EncodeKey(item.key);
    text.set_name(item.name);
    text.set_feature(item.feature);
    text.set_detail(item.detail);
  }
}

std::string NetworkName(const vswitch::HostView& view, const NetworkId& id) {
  auto network = view.networks.find(id);
  return network == view.networks.end() ? "" : network->second.name;
}

v1::Tunnel TunnelOf(const AgentSnapshot& snapshot, const vswitch::RemoteHost& host) {
  const vswitch::HostView& view = *snapshot.view;
  v1::Tunnel tunnel;
  tunnel.set_host_id(host.id.str());
  for (const auto& [id, network] : view.networks) {
    if (std::ranges::find(network.flood_hosts, host.id) != network.flood_hosts.end())
      tunnel.add_networks(id.str());
  }
  if (!host.vtep) {
    tunnel.set_problem("has no tunnel address of a family that this host has, or did not say Hello yet");
    return tunnel;
  }
  tunnel.set_remote_address(host.vtep->ToString());
  const std::optional<IpAddress>& local =
      host.vtep->is_v4() ? view.tunnel_addresses.v4 : view.tunnel_addresses.v6;
  if (local) tunnel.set_local_address(local->ToString());
  auto state = snapshot.facts->tunnels.find(*host.vtep);
  if (state == snapshot.facts->tunnels.end()) return tunnel;
  tunnel.set_ready(state->second.ready);
  if (state->second.next_hop) tunnel.set_next_hop(state->second.next_hop->ToString());
  if (state->second.next_hop_mac) tunnel.set_next_hop_mac(state->second.next_hop_mac->ToString());
  tunnel.set_problem(state->second.problem);
  return tunnel;
}

v1::RouterPortInfo RouterPortOf(const vswitch::HostView& view, const vswitch::RouterPort& port) {
  v1::RouterPortInfo info;
  info.set_port_id(port.id.str());
  info.set_network_id(port.network.str());
  info.set_network_name(NetworkName(view, port.network));
  info.set_mac_address(port.mac.ToString());
  for (const IpPrefix& address : port.addresses) info.add_addresses(address.ToString());
  info.add_addresses(IpPrefix(port.link_local, 64).ToString());
  return info;
}

void AddRoutes(const vswitch::RouterView& router, v1::RouterInfo& info) {
  for (const vswitch::Route& route : router.routes) {
    for (const vswitch::NextHop& hop : route.next_hops) {
      v1::RouteInfo& line = *info.add_routes();
      line.set_destination(route.destination.ToString());
      if (hop.gateway) line.set_next_hop(hop.gateway->ToString());
      if (const vswitch::RouterPort* port = vswitch::FindRouterPort(router, hop.out_port))
        line.set_network_id(port->network.str());
      line.set_origin(route.origin == vswitch::RouteOrigin::kConnected ? "connected" : "extra");
    }
  }
}

}  // namespace

v1::AgentStatusReply StatusReply(const AgentIdentity& identity, const std::string& datapath_name,
                                 std::chrono::seconds uptime, const AgentSnapshot& snapshot) {
  v1::AgentStatusReply reply;
  reply.set_host_id(identity.host_id);
  reply.set_version(identity.version);
  reply.set_uptime_seconds(static_cast<uint64_t>(uptime.count()));
  reply.set_controller_address(identity.controller_address);
  for (const std::string& address : identity.tunnel_addresses) reply.add_tunnel_addresses(address);
  reply.set_controller_connected(snapshot.controller_connected);
  reply.set_synced(snapshot.synced);
  if (snapshot.received) *reply.mutable_received() = model::EncodeRevision(*snapshot.received);
  if (snapshot.applied) *reply.mutable_applied() = model::EncodeRevision(*snapshot.applied);
  reply.set_datapath(datapath_name);
  reply.set_datapath_ready(snapshot.facts->ready);
  reply.set_disturbances(snapshot.facts->disturbances);
  reply.set_last_disturbance(snapshot.facts->last_disturbance);
  reply.set_flows(static_cast<uint32_t>(snapshot.flows));
  reply.set_local_ports(static_cast<uint32_t>(snapshot.view->ports.size()));
  reply.set_active_ports(static_cast<uint32_t>(
      std::ranges::count_if(snapshot.ports, [](const auto& port) { return port.second.active; })));
  for (const vswitch::Problem& problem : snapshot.problems) {
    v1::Problem& text = *reply.add_problems();
    text.set_subject(problem.subject);
    text.set_message(problem.message);
  }
  AddRejected(snapshot, reply);
  AddNotEnforced(snapshot, reply);
  return reply;
}

v1::ListPortsReply PortsReply(const AgentSnapshot& snapshot) {
  v1::ListPortsReply reply;
  for (const auto& [id, port] : snapshot.view->ports) {
    v1::LocalPort& line = *reply.add_ports();
    line.set_id(id.str());
    line.set_name(port.name);
    line.set_network_id(port.network.str());
    line.set_network_name(NetworkName(*snapshot.view, port.network));
    line.set_mac_address(port.mac.ToString());
    for (const IpAddress& ip : port.ips) line.add_ip_addresses(ip.ToString());
    if (auto attached = snapshot.facts->attachments.find(id); attached != snapshot.facts->attachments.end()) {
      line.set_interface(attached->second.interface);
      line.set_interface_number(attached->second.number);
    }
    if (auto activity = snapshot.ports.find(id); activity != snapshot.ports.end()) {
      line.set_active(activity->second.active);
      line.set_problem(activity->second.why_not);
    }
    line.set_admin_state_up(port.admin_state_up);
    line.set_port_security_enabled(port.port_security_enabled);
  }
  return reply;
}

v1::ListTunnelsReply TunnelsReply(const AgentSnapshot& snapshot) {
  v1::ListTunnelsReply reply;
  for (const auto& [id, host] : snapshot.view->hosts) *reply.add_tunnels() = TunnelOf(snapshot, host);
  return reply;
}

v1::ListNetworksReply NetworksReply(const AgentSnapshot& snapshot) {
  const vswitch::HostView& view = *snapshot.view;
  std::map<NetworkId, uint32_t> local;
  std::map<NetworkId, uint32_t> remote;
  std::map<NetworkId, std::vector<std::string>> routers;  // Sorted: the view's routers are.
  for (const auto& [id, port] : view.ports) ++local[port.network];
  for (const auto& [id, endpoint] : view.endpoints) ++remote[endpoint.network];
  for (const auto& [id, router] : view.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      std::vector<std::string>& ids = routers[port.network];
      if (ids.empty() || ids.back() != id.str()) ids.push_back(id.str());
    }
  }
  v1::ListNetworksReply reply;
  for (const auto& [id, network] : view.networks) {
    v1::NetworkInfo& line = *reply.add_networks();
    line.set_id(id.str());
    line.set_name(network.name);
    line.set_vni(network.vni.value());
    line.set_mtu(network.mtu);
    line.set_local_ports(local[id]);
    line.set_remote_endpoints(remote[id]);
    for (const HostId& host_id : network.flood_hosts) {
      auto host = view.hosts.find(host_id);
      if (host != view.hosts.end() && host->second.vtep) line.add_flood_vteps(host->second.vtep->ToString());
    }
    for (const std::string& router : routers[id]) line.add_routers(router);
  }
  return reply;
}

v1::ListRoutersReply RoutersReply(const AgentSnapshot& snapshot) {
  v1::ListRoutersReply reply;
  for (const auto& [id, router] : snapshot.view->routers) {
    v1::RouterInfo& info = *reply.add_routers();
    info.set_id(id.str());
    info.set_name(router.name);
    info.set_admin_state_up(router.admin_state_up);
    for (const vswitch::RouterPort& port : router.ports) *info.add_ports() = RouterPortOf(*snapshot.view, port);
    AddRoutes(router, info);
  }
  return reply;
}

}  // namespace kasane::inspect
