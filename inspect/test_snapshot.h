// A snapshot for the tests of the admin API: port web (10.0.0.5) here and db (10.0.0.6) on h2, on network blue
// with the router r1 (10.0.0.1) that also has red.
#pragma once

#include <memory>
#include <optional>

#include "inspect/agent_snapshot.h"

namespace kasane::inspect {

inline vswitch::HostView TestView() {
  const IpAddress own = *IpAddress::Parse("192.0.2.1");
  const IpAddress peer = *IpAddress::Parse("192.0.2.2");
  const MacAddress web({0xfa, 0x16, 0x3e, 0, 0, 5});
  const MacAddress db({0xfa, 0x16, 0x3e, 0, 0, 6});
  const MacAddress router({0xfa, 0x16, 0x3e, 0, 0, 1});
  const NetworkId blue("blue-0001");
  const NetworkId red("red-00001");

  vswitch::HostView view;
  view.host = HostId("h1");
  view.tunnel_addresses.v4 = own;
  view.networks.emplace(blue, vswitch::NetworkView{blue, "blue", *Vni::From(7), 1450, true, {HostId("h2")}});
  view.networks.emplace(red, vswitch::NetworkView{red, "red", *Vni::From(8), 1450, true, {}});
  view.ports[PortId("port-web")] =
      vswitch::LocalPort{PortId("port-web"), "web", blue, web, {*IpAddress::Parse("10.0.0.5")}, true, true, {}};
  // These tests send frames of no protocol, which port security would stop at the door.
  view.ports[PortId("port-web")].port_security_enabled = false;
  view.endpoints[PortId("port-db")] = vswitch::RemoteEndpoint{
      PortId("port-db"), "db", blue, HostId("h2"), db, {*IpAddress::Parse("10.0.0.6")}, true};
  view.hosts[HostId("h2")] = vswitch::RemoteHost{HostId("h2"), peer, {peer, {}}};

  vswitch::RouterView r1{RouterId("router-1"), "r1", true, {}, {}};
  const IpPrefix interface(*IpAddress::Parse("10.0.0.1"), 24);
  r1.ports.push_back({PortId("if-blue"), blue, router, {interface}, IpAddress::LinkLocal(router)});
  r1.ports.push_back({PortId("if-red"),
                      red,
                      router,
                      {IpPrefix(*IpAddress::Parse("10.0.1.1"), 24)},
                      IpAddress::LinkLocal(router)});
  r1.routes.push_back({interface.Network(), vswitch::RouteOrigin::kConnected, {{PortId("if-blue"), {}}}});
  r1.routes.push_back({*IpPrefix::Parse("198.51.100.0/24"),
                       vswitch::RouteOrigin::kExtra,
                       {{PortId("if-blue"), *IpAddress::Parse("10.0.0.6")}}});
  view.routers[r1.id] = r1;
  return view;
}

inline AgentSnapshot TestSnapshot() {
  const IpAddress peer = *IpAddress::Parse("192.0.2.2");
  auto facts = std::make_shared<vswitch::DatapathFacts>();
  facts->ready = true;
  facts->attachments[PortId("port-web")] = {"tap-web", 5};
  facts->binding_key = "external_ids:iface-id";
  facts->tunnels[peer] = vswitch::TunnelState{peer, true, peer, MacAddress({2, 0, 0, 0, 0, 2}), ""};

  AgentSnapshot snapshot;
  snapshot.controller_connected = true;
  snapshot.synced = true;
  snapshot.received = model::Revision{"t1", 8};
  snapshot.applied = model::Revision{"t1", 7};
  snapshot.state = std::make_shared<const model::NetworkState>();
  snapshot.view = std::make_shared<const vswitch::HostView>(TestView());
  snapshot.facts = facts;
  snapshot.ports[PortId("port-web")] = {true, ""};
  snapshot.flows = 42;
  snapshot.problems = {{"host h3", "has no tunnel address yet"}};
  snapshot.rejected = {{{model::Kind::kPort, "bad"}, {"t1", 8}, {{"port.mac_address", "is no MAC"}}}};
  return snapshot;
}

}  // namespace kasane::inspect
