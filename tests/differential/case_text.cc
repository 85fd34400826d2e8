#include "tests/differential/case_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>
#include <vector>

#include "view/host_view_builder.h"
#include "vswitch/packet/packet_text.h"
#include "vswitch/sim/cloud.h"

namespace kasane::differential {
namespace {

using Json = nlohmann::ordered_json;

Json FixedIps(const model::Port& port) {
  Json ips = Json::array();
  for (const model::FixedIp& ip : port.fixed_ips) {
    ips.push_back({{"subnet_id", ip.subnet.str()}, {"ip_address", ip.address.ToString()}});
  }
  return ips;
}

Json PortJson(const model::Port& port) {
  const bool vm = port.role == model::PortRole::kVm;
  Json json = {{"id", port.id.str()},
               {"name", port.name},
               {"network_id", port.network.str()},
               {"mac_address", port.mac.ToString()},
               {"device_owner", vm ? "compute:nova" : "network:router_interface"},
               {"fixed_ips", FixedIps(port)}};
  if (!vm) json["device_id"] = port.device_id;
  if (vm) json["binding:host_id"] = port.host.str();
  if (vm) json["port_security_enabled"] = port.port_security_enabled;
  if (!port.admin_state_up) json["admin_state_up"] = false;
  for (const model::AllowedAddressPair& pair : port.allowed_address_pairs) {
    Json entry = {{"ip_address", pair.prefix.ToString()}};
    if (pair.mac) entry["mac_address"] = pair.mac->ToString();
    json["allowed_address_pairs"].push_back(std::move(entry));
  }
  return json;
}

Json NetworkJson(const model::Network& network) {
  return {{"id", network.id.str()},
          {"name", network.name},
          {"provider:network_type", "vxlan"},
          {"provider:segmentation_id", network.vni->value()},
          {"mtu", network.mtu},
          {"admin_state_up", network.admin_state_up}};
}

Json SubnetJson(const model::Subnet& subnet) {
  return {{"id", subnet.id.str()},
          {"network_id", subnet.network.str()},
          {"ip_version", subnet.cidr.family() == IpFamily::kV4 ? 4 : 6},
          {"cidr", subnet.cidr.ToString()},
          {"gateway_ip", nullptr}};
}

Json RouterJson(const model::Router& router) {
  Json routes = Json::array();
  for (const model::ExtraRoute& route : router.routes) {
    routes.push_back({{"destination", route.destination.ToString()}, {"nexthop", route.nexthop.ToString()}});
  }
  return {{"id", router.id.str()},
          {"name", router.name},
          {"admin_state_up", router.admin_state_up},
          {"routes", std::move(routes)}};
}

std::string TopologyText(const model::NetworkState& state) {
  std::string text = "topology:\n";
  const auto section = [&](std::string_view name, const auto& resources, const auto& to_json) {
    if (resources.empty()) return;
    text += fmt::format("  {}:\n", name);
    for (const auto& [id, resource] : resources) text += fmt::format("    - {}\n", to_json(*resource).dump());
  };
  section("networks", state.networks, NetworkJson);
  section("subnets", state.subnets, SubnetJson);
  section("routers", state.routers, RouterJson);
  section("ports", state.ports, PortJson);
  return text;
}

sim::CloudResult Expected(const model::NetworkState& state, const Stimulus& stimulus) {
  std::map<HostId, vswitch::HostView> views;
  for (const auto& [id, host] : state.hosts) {
    views.emplace(id, view::BuildHostView(state, id, {host->tunnel_v4, host->tunnel_v6}));
  }
  const sim::Cloud cloud(std::move(views));
  return stimulus.port ? cloud.FromPort(kHost, *stimulus.port, stimulus.frame)
                       : cloud.FromTunnel(kHost, stimulus.outer_source, stimulus.vni, stimulus.frame);
}

std::string SourceHost(const model::NetworkState& state, const IpAddress& vtep) {
  for (const auto& [id, host] : state.hosts) {
    if (host->tunnel_v4 == vtep || host->tunnel_v6 == vtep) return id.str();
  }
  return vtep.ToString();
}

std::string Quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

std::string CaseText(const model::NetworkState& state, const Stimulus& stimulus, const std::string& why) {
  const sim::CloudResult expected = Expected(state, stimulus);
  std::string text = fmt::format("case: {}\n{}steps:\n  - send:\n", Quoted(why), TopologyText(state));
  if (stimulus.port) {
    text += fmt::format("      from: {}\n", *stimulus.port);
  } else {
    text += fmt::format("      from_tunnel: {{host: {}, source: {}, vni: {}}}\n", kHost,
                        Quoted(SourceHost(state, stimulus.outer_source)), stimulus.vni);
  }
  text += fmt::format("      frame: {}\n", Quoted(packet::PacketText(stimulus.frame)));
  if (!expected.deliveries.empty()) text += "      receive:\n";
  for (const sim::CloudDelivery& delivery : expected.deliveries) {
    text += fmt::format("        - {{vm: {}, frame: {}}}\n", delivery.port,
                        Quoted(packet::PacketText(delivery.frame)));
  }
  if (!expected.drops.empty()) {
    text += fmt::format("      drop: {}\n      at: {}\n", Label(expected.drops.front().reason),
                        expected.drops.front().host);
  }
  return text;
}

}  // namespace kasane::differential
