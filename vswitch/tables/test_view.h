// A small view for the tests of this folder: host h1 with ports a and b, host h2 with ports c and d, all on
// network blue (VNI 7) whose router r also has red (VNI 8).
#pragma once

#include <set>
#include <string>

#include "vswitch/host_view.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::tables {

inline const NetworkId kBlue("blue");
inline const NetworkId kRed("red");

inline IpAddress Ip(const char* text) { return *IpAddress::Parse(text); }
inline MacAddress Mac(uint8_t n) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, n}); }
inline AddressKey Blue(const char* ip) { return {kBlue, Ip(ip)}; }

inline std::vector<vswitch::AllowedAddress> AllowedOf(const MacAddress& mac,
                                                      const std::vector<IpAddress>& ips) {
  std::vector<vswitch::AllowedAddress> allowed = {{mac, IpPrefix::Host(IpAddress::LinkLocal(mac))}};
  for (const IpAddress& ip : ips) allowed.push_back({mac, IpPrefix::Host(ip)});
  return allowed;
}

inline void Allow(auto& port, const MacAddress& mac, const char* prefix) {
  port.allowed.push_back({mac, *IpPrefix::ParseLenient(prefix)});
}

inline vswitch::HostView TestView() {
  vswitch::HostView view;
  view.host = HostId("h1");
  view.networks.emplace(kBlue,
                        vswitch::NetworkView{kBlue, "blue", *Vni::From(7), 1450, true, {HostId("h2")}, {}});
  view.networks.emplace(kRed, vswitch::NetworkView{kRed, "red", *Vni::From(8), 1400, true, {}, {}});
  const IpAddress vtep = Ip("192.0.2.2");
  view.hosts[HostId("h2")] = {HostId("h2"), vtep, {vtep, {}}};
  const auto local = [&](const char* id, uint8_t n) {
    const std::vector<IpAddress> ips = {IpAddress::V4(0x0a000000U + n)};
    view.ports[PortId(id)] = {PortId(id), id, kBlue, Mac(n), ips, true, true, AllowedOf(Mac(n), ips)};
  };
  const auto remote = [&](const char* id, uint8_t n) {
    const std::vector<IpAddress> ips = {IpAddress::V4(0x0a000000U + n)};
    view.endpoints[PortId(id)] = {PortId(id), id,  kBlue, HostId("h2"),
                                  Mac(n),     ips, true,  AllowedOf(Mac(n), ips)};
  };
  local("a", 1);
  local("b", 2);
  remote("c", 3);
  remote("d", 4);
  vswitch::RouterView r{RouterId("r"), "r", true, {}, {}};
  r.ports.push_back(
      {PortId("r-blue"), kBlue, Mac(0xfe), {IpPrefix(Ip("10.0.0.254"), 24)}, IpAddress::LinkLocal(Mac(0xfe))});
  r.ports.push_back(
      {PortId("r-red"), kRed, Mac(0xfd), {IpPrefix(Ip("10.0.1.254"), 24)}, IpAddress::LinkLocal(Mac(0xfd))});
  r.routes.push_back(
      {*IpPrefix::Parse("10.0.0.0/24"), vswitch::RouteOrigin::kConnected, {{PortId("r-blue"), {}}}});
  view.routers[r.id] = r;
  return view;
}

inline ForwardingTables Build(const vswitch::HostView& view) {
  std::set<PortId> plugged;
  for (const auto& [id, port] : view.ports) plugged.insert(id);
  return BuildForwardingTables(view, plugged);
}

}  // namespace kasane::tables
