#include "tests/differential/case_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/random/random_cloud.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/packet_text.h"
#include "vswitch/packet/testing/frames.h"
#include "vswitch/sim/cloud.h"

namespace kasane::differential {
namespace {

using Json = nlohmann::ordered_json;
using random::kHost;
using random::Stimulus;

Json FixedIps(const model::Port& port) {
  Json ips = Json::array();
  for (const model::FixedIp& ip : port.fixed_ips) {
    ips.push_back({{"subnet_id", ip.subnet.str()}, {"ip_address", ip.address.ToString()}});
  }
  return ips;
}

Json PortJson(const model::Port& port) {
  Json json = {{"id", port.id.str()},
               {"name", port.name},
               {"network_id", port.network.str()},
               {"mac_address", port.mac.ToString()},
               {"device_owner", port.device_owner},
               {"fixed_ips", FixedIps(port)},
               {"port_security_enabled", port.port_security_enabled}};
  if (!port.device_id.empty()) json["device_id"] = port.device_id;
  if (!port.host.empty()) json["binding:host_id"] = port.host.str();
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

sim::Cloud CloudOf(const model::NetworkState& state) {
  std::map<HostId, vswitch::HostView> views;
  for (const auto& [id, host] : state.hosts) {
    views.emplace(id, view::BuildHostView(state, id, {host->tunnel_v4, host->tunnel_v6}));
  }
  return sim::Cloud(std::move(views));
}

sim::CloudResult Expected(const model::NetworkState& state, const Stimulus& stimulus) {
  const sim::Cloud cloud = CloudOf(state);
  if (stimulus.port)
    return cloud.FromPort(state.ports.at(*stimulus.port)->host, *stimulus.port, stimulus.frame);
  return cloud.FromTunnel(kHost, stimulus.outer_source, stimulus.vni, stimulus.frame);
}

std::string SourceHost(const model::NetworkState& state, const IpAddress& vtep) {
  for (const auto& [id, host] : state.hosts) {
    if (host->tunnel_v4 == vtep || host->tunnel_v6 == vtep) return id.str();
  }
  return vtep.ToString();
}

std::string Quoted(const std::string& text) { return Json(text).dump(); }

// The step that sends the frame, with all that must come of it.
std::string SendText(const model::NetworkState& state, const Stimulus& stimulus) {
  const sim::CloudResult expected = Expected(state, stimulus);
  std::string text = "  - send:\n";
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

frames::Bytes Announcement(const model::AddressClaim& claim) {
  if (claim.address.is_v4()) {
    return frames::Arp({MacAddress::Broadcast(), claim.mac}, 1, claim.mac, claim.address, MacAddress(),
                       claim.address);
  }
  const IpAddress everybody = *IpAddress::Parse("ff02::1");
  return frames::Advertisement({MulticastMac(everybody), claim.mac}, {claim.address, everybody, 255},
                               claim.address, &claim.mac);
}

// The claims of `state` are made by announcements, the oldest first.
std::string ClaimsText(const model::NetworkState& state) {
  std::vector<std::shared_ptr<const model::AddressClaim>> claims;
  for (const auto& [id, claim] : state.address_claims) claims.push_back(claim);
  std::sort(claims.begin(), claims.end(),
            [](const auto& a, const auto& b) { return a->sequence < b->sequence; });
  model::NetworkState before = state;
  before.address_claims.clear();
  std::string text;
  for (const auto& claim : claims) {
    text += SendText(before, {claim->port, {}, 0, Announcement(*claim)});
    before.address_claims.emplace(claim->id, claim);
  }
  return text;
}

}  // namespace

std::string CaseText(const model::NetworkState& state, const Stimulus& stimulus, const std::string& why) {
  return fmt::format("case: {}\n{}steps:\n{}{}", Quoted(why), TopologyText(state), ClaimsText(state),
                     SendText(state, stimulus));
}

}  // namespace kasane::differential
