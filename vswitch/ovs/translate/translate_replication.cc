#include "vswitch/ovs/translate/translate_replication.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "vswitch/ovs/translate/copies.h"
#include "vswitch/ovs/translate/places.h"
#include "vswitch/ovs/translate/replication.h"
#include "vswitch/ovs/translate/translate_learning.h"

namespace kasane::ovs {
namespace {

class ReplicationTranslator {
 public:
  ReplicationTranslator(const tables::Claimant<tables::Replication>& winner, const Bindings& bindings,
                        const std::map<PortId, uint32_t>& learned_ports, FlowTable& out)
      : replication_(winner.value),
        owner_(winner.owner),
        bindings_(bindings),
        learned_ports_(learned_ports),
        out_(out),
        here_(fmt::format("metadata={:#x}", winner.value.vni.value())) {}

  void Group() {
    const std::string group = here_ + ",dl_dst=01:00:00:00:00:00/01:00:00:00:00:00";
    Add(out_, Table::kL2, 50, group, Goto(Table::kFlood), owner_);
    Limit(Table::kL2, 55, group, "in_port", Table::kFlood);
    const CopyList local = Replicate(ReplicationKind::kFloodLocal, Table::kFloodLocal, 100,
                                     {CopiesToPorts(replication_.all.ports, bindings_)});
    Replicate(ReplicationKind::kFlood, Table::kFlood, 100, {Tunnels(replication_.all), local});
    Add(out_, Table::kTunnel, 100, fmt::format("tun_id={:#x}", replication_.vni.value()),
        SetMetadata(replication_.vni) + Goto(Table::kTunnelAnnounce), owner_);
    Add(out_, Table::kTunnelL2, 50, group, Goto(Table::kFloodLocal), owner_);
  }

  // Nothing where all ports have port security: then an unknown MAC is nobody's.
  void UnknownUnicast() {
    const tables::SeveralPlaces& to = replication_.unsecured;
    if (to == tables::SeveralPlaces()) return;
    const std::string look_up = Resubmit(Table::kLearned) + ",";
    Add(out_, Table::kL2, 10, here_, look_up + Goto(Table::kUnknown), owner_);
    Add(out_, Table::kUnknown, 50, here_, Goto(Table::kUnknownFlood), owner_);
    Limit(Table::kUnknown, 60, here_, reg::kInPort, Table::kUnknownFlood);
    const CopyList local = Replicate(ReplicationKind::kUnknownLocal, Table::kTunnelUnknown, 50,
                                     {CopiesToPorts(to.ports, bindings_)});
    const CopyList all = Replicate(ReplicationKind::kUnknown, Table::kUnknownFlood, 50, {Tunnels(to), local});
    if (all.copies.empty())
      AddDrop(out_, Table::kUnknownFlood, 50, here_, owner_, vswitch::DropReason::kNoTunnel);
    Learnt(Table::kUnknown);
    if (local.copies.empty()) return;
    Add(out_, Table::kTunnelL2, 10, here_, look_up + Goto(Table::kTunnelUnknown), owner_);
    Learnt(Table::kTunnelUnknown);
  }

 private:
  // What `match` says, from one of our ports, goes on to `next` as fast as that port may.
  void Limit(Table table, uint16_t priority, const std::string& match, std::string_view port_field,
             Table next) {
    if (!bindings_.replication_limit) return;
    for (const PortId& id : replication_.all.ports) {
      const uint32_t number = NumberOf(bindings_, id);
      Add(out_, table, priority, fmt::format("{},{}={}", match, port_field, number),
          ThroughMeter(bindings_.replication_limit, number) + Goto(next),
          {vswitch::OwnerKind::kPort, id.str()});
    }
  }

  CopyList Tunnels(const tables::SeveralPlaces& to) const {
    return CopiesToHosts(to.hosts, replication_.vni, bindings_);
  }

  CopyList Replicate(ReplicationKind kind, Table table, uint16_t priority, const std::vector<CopyList>& lists) {
    return AddReplication({kind, table, priority, here_, owner_}, lists, out_);
  }

  void Learnt(Table table) {
    for (const PortId& id : replication_.unsecured.ports) {
      AddLearntPort(table, replication_.vni, id, learned_ports_.at(id), bindings_, out_);
    }
  }

  const tables::Replication& replication_;
  const vswitch::Owner& owner_;
  const Bindings& bindings_;
  const std::map<PortId, uint32_t>& learned_ports_;
  FlowTable& out_;
  const std::string here_;
};

}  // namespace

void TranslateReplication(const tables::Claimant<tables::Replication>& winner, const Bindings& bindings,
                          const std::map<PortId, uint32_t>& learned_ports, FlowTable& out) {
  ReplicationTranslator translator(winner, bindings, learned_ports, out);
  translator.Group();
  translator.UnknownUnicast();
}

}  // namespace kasane::ovs
