#include "vswitch/slowpath/admission.h"

#include "vswitch/packet/packet.h"

namespace kasane::slowpath {

vswitch::Owner SenderOf(const SlowPathPacket& packet) {
  if (packet.port) return {vswitch::OwnerKind::kPort, packet.port->str()};
  if (packet.outer_source) return {vswitch::OwnerKind::kHost, packet.outer_source->ToString()};
  return {};
}

Budget BudgetOf(const NetworkFacts& facts, const SlowPathPacket& packet) {
  if (packet.outer_source) {
    const packet::Packet frame(packet.frame);
    const auto port = frame.has_ethernet()
                          ? facts.FindRemotePort(packet.network, frame.eth_src(), *packet.outer_source)
                          : std::nullopt;
    if (port) return {packet.network, {vswitch::OwnerKind::kPort, port->str()}};
  }
  return {packet.network, SenderOf(packet)};
}

bool Admission::Admit(const NetworkFacts& facts, const SlowPathPacket& packet, Time now) {
  // What is only counted costs next to nothing.
  if (packet.cause == SlowPathCause::kTooBig && !packet.router) return true;
  if (limiter_.Allow(BudgetOf(facts, packet), now)) return true;
  const vswitch::Owner sender = SenderOf(packet);
  CountDrop(sender, vswitch::DropReason::kSlowPathRate);
  if (packet.cause == SlowPathCause::kTooBig) CountDrop(sender, vswitch::DropReason::kMtu);
  return false;
}

}  // namespace kasane::slowpath
