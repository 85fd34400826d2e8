#include "vswitch/ovs/translate/translate_ports.h"

#include <fmt/format.h>

#include <string>

#include "vswitch/ovs/translate/places.h"
#include "vswitch/ovs/translate/translate_port_security.h"

namespace kasane::ovs {

void TranslatePort(const tables::PortKey& key, const tables::Claimant<tables::Port>& winner,
                   const Bindings& bindings, const std::map<PortId, uint32_t>& learned_ports, FlowTable& out) {
  const tables::Port& port = winner.value;
  const uint32_t number = NumberOf(bindings, key.second);
  if (port.remote || number == 0) return;
  const std::string from = fmt::format("in_port={}", number);
  if (!port.up) {
    AddDrop(out, Table::kInput, 100, from, winner.owner, vswitch::DropReason::kAdminDown);
    return;
  }
  Add(out, Table::kInput, 100, from,
      fmt::format("{}set_field:{:#x}->{},{}", SetMetadata(port.vni), number, reg::kInPort,
                  Goto(Table::kIngressSanity)),
      winner.owner);
  if (port.secured) {
    TranslateSources(winner, number, out);
  } else {
    AddAnySource(winner.owner, number, learned_ports.at(key.second), out);
  }
  if (bindings.replication_limit) {
    out.AddMeter(number, {*bindings.replication_limit, winner.owner, vswitch::DropReason::kReplicationRate});
  }
  Add(out, Table::kDeliver, 100, fmt::format("{}={:#x}", reg::kOutPort, number),
      fmt::format("output:{}", number), winner.owner);
}

}  // namespace kasane::ovs
