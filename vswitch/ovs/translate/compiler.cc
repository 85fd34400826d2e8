#include "vswitch/ovs/translate/compiler.h"

#include <fmt/format.h>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/numbers.h"
#include "vswitch/ovs/translate/translate_announcements.h"
#include "vswitch/ovs/translate/translate_answers.h"
#include "vswitch/ovs/translate/translate_learning.h"
#include "vswitch/ovs/translate/translate_macs.h"
#include "vswitch/ovs/translate/translate_networks.h"
#include "vswitch/ovs/translate/translate_port_security.h"
#include "vswitch/ovs/translate/translate_ports.h"
#include "vswitch/ovs/translate/translate_replication.h"
#include "vswitch/ovs/translate/translate_routers.h"
#include "vswitch/ovs/translate/translate_routes.h"

namespace kasane::ovs {
namespace {

const vswitch::Owner kPipelineOwner;

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

// Every entry that counts, alone: what another one says changes nothing.
template <typename Family, typename Translate>
void EachWinner(const Family& family, const Translate& translate) {
  for (const auto& [key, claimants] : family.entries()) {
    if (tables::Forwards(claimants.front().rank)) translate(key, claimants.front());
  }
}

void TranslateBridging(const tables::ForwardingTables& tables, const Bindings& bindings, const Numbers& numbers,
                       FlowTable& out) {
  EachWinner(tables.networks, [&](const auto&, const auto& winner) { TranslateNetwork(winner, out); });
  EachWinner(tables.hosts, [&](const auto&, const auto& winner) { TranslatePeer(winner, bindings, out); });
  EachWinner(tables.ports, [&](const auto& key, const auto& winner) {
    TranslatePort(key, winner, bindings, numbers.learned_ports, out);
  });
  EachWinner(tables.replication, [&](const auto&, const auto& winner) {
    TranslateReplication(winner, bindings, numbers.learned_ports, out);
  });
  EachWinner(tables.macs, [&](const auto& key, const auto& winner) {
    TranslateMac(key, winner, bindings, numbers.routers, out);
  });
  EachWinner(tables.elsewhere,
             [&](const auto& key, const auto& winner) { TranslateMacElsewhere(key, winner, out); });
  EachWinner(tables.learning, [&](const auto& key, const auto& winner) {
    TranslateLearningPeer(key, winner, numbers.learned_hosts.at(key), bindings, out);
  });
}

void TranslateAddresses(const tables::ForwardingTables& tables, const Bindings& bindings, FlowTable& out) {
  EachWinner(tables.answers,
             [&](const auto& key, const auto& winner) { TranslateAnswer(key, winner, bindings, out); });
  EachWinner(tables.probes,
             [&](const auto& key, const auto& winner) { TranslateProbe(key, winner, bindings, out); });
  EachWinner(tables.announcers,
             [&](const auto& key, const auto& winner) { TranslateAnnouncer(key, winner, bindings, out); });
  EachWinner(tables.announcements,
             [&](const auto&, const auto& winner) { TranslateAnnouncements(winner, out); });
}

void TranslateRouting(const tables::ForwardingTables& tables, const Numbers& numbers, FlowTable& out) {
  EachWinner(tables.interfaces, [&](const auto& key, const auto& winner) {
    TranslateInterface(winner, numbers.routers.at(key.first), out);
  });
  EachWinner(tables.routes, [&](const auto& key, const auto& winner) {
    TranslateRoute(key.destination, numbers.routers.at(key.router), winner, out);
  });
  // Those that nobody has too: they end here.
  for (const auto& [key, claimants] : tables.neighbours.entries()) {
    TranslateNeighbour(key.second, claimants.front(), out);
  }
  EachWinner(tables.unknown_neighbours,
             [&](const auto& key, const auto& winner) { TranslateUnknownNeighbour(key.prefix, winner, out); });
  EachWinner(tables.routed, [&](const auto&, const auto& winner) { TranslateRoutedNetwork(winner, out); });
}

}  // namespace

FlowTable Compile(const tables::ForwardingTables& tables, const Bindings& bindings) {
  FlowTable out;
  CompilePipeline(bindings, out);
  const Numbers numbers = AssignNumbers(tables);
  TranslateBridging(tables, bindings, numbers, out);
  TranslateAddresses(tables, bindings, out);
  TranslateRouting(tables, numbers, out);
  return out;
}

}  // namespace kasane::ovs
