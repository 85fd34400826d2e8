#include "vswitch/ovs/translate/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/compile_flood.h"
#include "vswitch/ovs/translate/compile_port_security.h"
#include "vswitch/ovs/translate/compile_router.h"
#include "vswitch/ovs/translate/learned_places.h"
#include "vswitch/ovs/translate/translate_announcements.h"
#include "vswitch/ovs/translate/translate_answers.h"
#include "vswitch/ovs/translate/translate_macs.h"
#include "vswitch/ovs/translate/translate_routes.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {
namespace {

const vswitch::Owner kPipelineOwner;

bool NetworkUp(const vswitch::HostView& view, const NetworkId& id) {
  return view.networks.at(id).admin_state_up;
}

// What holds for every host: the ingress sanity check of VMs' frames, the ends of the tables, and the ways
// between.
void CompilePipeline(const Bindings& bindings, FlowTable& out) {
  AddDrop(out, Table::kInput, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownPort);
  for (const uint32_t port : {bindings.vxlan_v4, bindings.vxlan_v6}) {
    if (port == 0) continue;
    AddDrop(out, Table::kInput, 80, fmt::format("in_port={}", port), kPipelineOwner,
            vswitch::DropReason::kUnknownVtep);
  }
  AddDrop(out, Table::kIngressSanity, 100, "vlan_tci=0x1000/0x1000", kPipelineOwner,
          vswitch::DropReason::kVlanTagged);
  AddDrop(out, Table::kIngressSanity, 90, "dl_dst=01:80:c2:00:00:00/ff:ff:ff:ff:ff:f0", kPipelineOwner,
          vswitch::DropReason::kReservedMulticast);
  AddDrop(out, Table::kIngressSanity, 80, "dl_src=01:00:00:00:00:00/01:00:00:00:00:00", kPipelineOwner,
          vswitch::DropReason::kMulticastSource);
  // A header that OVS cannot parse reads as zeros; no real packet has a TTL and a protocol of zero.
  for (const char* unparsed : {"ip,nw_proto=0,nw_ttl=0", "ipv6,nw_proto=0,nw_ttl=0", "arp,arp_op=0"}) {
    AddDrop(out, Table::kIngressSanity, 70, unparsed, kPipelineOwner, vswitch::DropReason::kMalformed);
  }
  Add(out, Table::kIngressSanity, 0, "", Goto(Table::kMtu), kPipelineOwner);
  Add(out, Table::kMtuVerdict, 0, "", Goto(Table::kPortSecurity), kPipelineOwner);
  CompilePortSecurityPipeline(out);
  Add(out, Table::kArp, 0, "", Goto(Table::kNd), kPipelineOwner);
  // Duplicate address detection for what nobody has.
  Add(out, Table::kNd, 120, "icmp6,icmp_type=135,icmp_code=0,ipv6_src=::", Goto(Table::kAnnounce),
      kPipelineOwner);
  Add(out, Table::kNd, 0, "", Goto(Table::kAnnounce), kPipelineOwner);
  Add(out, Table::kNdSize, 110, fmt::format("icmp6,icmp_type=135,icmp_code=0,{}=0x2/0x2", reg::kTooBig),
      ToAgent(slowpath::SlowPathCause::kNeighbour), kPipelineOwner);
  Add(out, Table::kAnnounce, 0, "", Goto(Table::kL2), kPipelineOwner);
  Add(out, Table::kTunnelAnnounce, 0, "", Goto(Table::kTunnelL2), kPipelineOwner);
  AddDrop(out, Table::kL2, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownMac);
  AddDrop(out, Table::kTunnel, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownVni);
  AddDrop(out, Table::kTunnelL2, 0, "", kPipelineOwner, vswitch::DropReason::kNotLocal);
  CompileRouterPipeline(out);
}

void CompileLocalPort(const vswitch::HostView& view, const vswitch::LocalPort& port, uint32_t ofport,
                      std::optional<uint32_t> place, const Bindings& bindings, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, port.id.str()};
  const std::string from = fmt::format("in_port={}", ofport);
  if (!port.admin_state_up || !NetworkUp(view, port.network)) {
    AddDrop(out, Table::kInput, 100, from, owner, vswitch::DropReason::kAdminDown);
    return;
  }
  const Vni vni = view.networks.at(port.network).vni;
  Add(out, Table::kInput, 100, from,
      fmt::format("{}set_field:{:#x}->{},{}", SetMetadata(vni), ofport, reg::kInPort,
                  Goto(Table::kIngressSanity)),
      owner);
  CompilePortSecurity(port, ofport, place, out);
  if (bindings.replication_limit) {
    out.AddMeter(ofport, {*bindings.replication_limit, owner, vswitch::DropReason::kReplicationRate});
  }
  Add(out, Table::kDeliver, 100, fmt::format("{}={:#x}", reg::kOutPort, ofport),
      fmt::format("output:{}", ofport), owner);
}

// Only the tunnel addresses of known hosts are let in.
void CompileHost(const vswitch::RemoteHost& host, const Bindings& bindings, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kHost, host.id.str()};
  const auto admit = [&](const std::optional<IpAddress>& address, uint32_t port, const char* field) {
    if (!address || port == 0) return;
    Add(out, Table::kInput, 100, fmt::format("in_port={},{}={}", port, field, *address), Goto(Table::kTunnel),
        owner);
  };
  admit(host.addresses.v4, bindings.vxlan_v4, "tun_src");
  admit(host.addresses.v6, bindings.vxlan_v6, "tun_ipv6_src");
}

// Every entry that counts, alone: what another one says changes nothing.
void TranslateTables(const tables::ForwardingTables& tables, const Bindings& bindings,
                     const std::map<RouterId, uint32_t>& router_keys, FlowTable& out) {
  const auto each_winner = [](const auto& table, const auto& translate) {
    for (const auto& [key, claimants] : table.entries()) {
      if (tables::Forwards(claimants.front().rank)) translate(key, claimants.front());
    }
  };
  each_winner(tables.macs, [&](const auto& key, const auto& winner) {
    TranslateMac(key, winner, bindings, router_keys, out);
  });
  each_winner(tables.answers,
              [&](const auto& key, const auto& winner) { TranslateAnswer(key, winner, bindings, out); });
  each_winner(tables.probes,
              [&](const auto& key, const auto& winner) { TranslateProbe(key, winner, bindings, out); });
  each_winner(tables.announcers,
              [&](const auto& key, const auto& winner) { TranslateAnnouncer(key, winner, bindings, out); });
  each_winner(tables.announcements,
              [&](const auto&, const auto& winner) { TranslateAnnouncements(winner, out); });
  each_winner(tables.routes, [&](const auto& key, const auto& winner) {
    TranslateRoute(key.destination, router_keys.at(key.router), winner, out);
  });
  // Those that nobody has too: they end here.
  for (const auto& [key, claimants] : tables.neighbours.entries()) {
    TranslateNeighbour(key.second, claimants.front(), out);
  }
  each_winner(tables.unknown_neighbours,
              [&](const auto& key, const auto& winner) { TranslateUnknownNeighbour(key.prefix, winner, out); });
  each_winner(tables.routed, [&](const auto&, const auto& winner) { TranslateRoutedNetwork(winner, out); });
}

// Of the ports with port security off.
std::map<PortId, uint32_t> PlacesOf(const vswitch::HostView& view) {
  std::vector<PortId> unsecured;
  for (const auto& [id, port] : view.ports) {
    if (!port.port_security_enabled) unsecured.push_back(id);
  }
  return AssignPortPlaces(unsecured);
}

void CompileView(const vswitch::HostView& view, const Bindings& bindings, FlowTable& out) {
  std::map<NetworkId, NetworkPorts> ports;
  const std::map<PortId, uint32_t> places = PlacesOf(view);
  for (const auto& [id, port] : view.ports) {
    const auto ofport = bindings.ports.find(id);
    if (ofport == bindings.ports.end()) continue;
    const auto place = places.find(id);
    const bool unsecured = place != places.end();
    CompileLocalPort(view, port, ofport->second, unsecured ? std::optional(place->second) : std::nullopt,
                     bindings, out);
    if (!port.admin_state_up) continue;
    ports[port.network].all.emplace(id, ofport->second);
    if (!unsecured) continue;
    ports[port.network].unsecured.emplace(id, ofport->second);
    ports[port.network].places.insert(*place);
  }
  for (const auto& [id, network] : view.networks) CompileNetwork(view, network, bindings, ports[id], out);
  for (const auto& [id, host] : view.hosts) CompileHost(host, bindings, out);
  const std::map<RouterId, uint32_t> router_keys = AssignRouterKeys(view.routers);
  for (const auto& [id, router] : view.routers) CompileRouter(view, router, router_keys.at(id), out);
  std::set<PortId> plugged;
  for (const auto& [id, number] : bindings.ports) plugged.insert(id);
  TranslateTables(tables::BuildForwardingTables(view, plugged), bindings, router_keys, out);
}

}  // namespace

FlowTable Compile(const vswitch::HostView& view, const Bindings& bindings) {
  FlowTable out;
  CompilePipeline(bindings, out);
  CompileView(view, bindings, out);
  return out;
}

}  // namespace kasane::ovs
