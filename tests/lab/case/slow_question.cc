#include "tests/lab/case/slow_question.h"

#include "base/status.h"
#include "tests/lab/case/frame_text.h"

namespace kasane::lab {
namespace {

constexpr int kPort = 19303;  // Of no other packet.

// Without a link-layer option there is no room for the answer in the question. Duplicate address detection
// would not do: by a port that may take the address over it is not answered.
SlowQuestion Solicit(const Vm& vm, const IpAddress& target) {
  const IpAddress group = SolicitedNode(target);
  const IpAddress own = IpAddress::LinkLocal(vm.mac);
  return {fmt::format("ns(eth_src={}, eth_dst={}, src={}, dst={}, target={})", vm.mac, MulticastMac(group), own,
                      group, target),
          fmt::format("na(dst={}, target={})", own, target)};
}

SlowQuestion RunOutOfTtl(const Vm& vm, const IpAddress& own, const MacAddress& router) {
  return {fmt::format("udp(eth_src={}, eth_dst={}, src={}, dst={}, ttl=1, sport={}, dport={})", vm.mac, router,
                      own, own, kPort, kPort),
          fmt::format("icmp(type=11, dst={}, udp(dport={}))", own, kPort)};
}

bool IsUpRouterInterface(const CaseResources& resources, const model::Port& port) {
  if (port.role != model::PortRole::kRouterInterface || !port.admin_state_up) return false;
  const auto router = resources.state().routers.find(RouterId(port.device_id));
  return router != resources.state().routers.end() && router->second->admin_state_up;
}

}  // namespace

std::optional<SlowQuestion> QuestionFor(const CaseResources& resources, const Vm& vm) {
  if (!resources.IsUp(vm)) return std::nullopt;
  const model::Port& own = *resources.PortOf(vm);
  std::optional<SlowQuestion> other;
  for (const auto& [id, port] : resources.state().ports) {
    if (port->network != own.network || id == vm.port) continue;
    const Vm* neighbour = resources.VmOfPort(id);
    const bool router = IsUpRouterInterface(resources, *port);
    if (!router && (neighbour == nullptr || !resources.IsUp(*neighbour))) continue;
    for (const model::FixedIp& ip : port->fixed_ips) {
      if (ip.address.is_v6()) return Solicit(vm, ip.address);
    }
    if (!router) continue;
    for (const model::FixedIp& ip : own.fixed_ips) {
      if (ip.address.is_v4()) other = RunOutOfTtl(vm, ip.address, port->mac);
    }
  }
  return other;
}

absl::StatusOr<bool> TakeAnswer(const SlowQuestion& question, const Vm& vm,
                                std::vector<CapturedFrame>& captured) {
  for (auto frame = captured.begin(); frame != captured.end(); ++frame) {
    if (frame->vm != vm.node || frame->frame.outgoing) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> mismatch,
                     FrameMismatch(question.answer, frame->frame.bytes));
    if (mismatch) continue;
    captured.erase(frame);
    return true;
  }
  return false;
}

}  // namespace kasane::lab
