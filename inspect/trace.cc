// The reply that follows a packet through this host.
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "inspect/lookup.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/packet/packet_text.h"
#include "vswitch/sim/sim.h"

namespace kasane::inspect {
namespace {

constexpr size_t kMaxFrame = 65'535 + 18;

// What the switch can deliver to: it has no flow for a local port that is not plugged.
vswitch::HostView WithoutUnplugged(vswitch::HostView view, const vswitch::DatapathFacts& facts) {
  const auto unplugged = [&facts](const PortId& id) { return !facts.attachments.contains(id); };
  std::erase_if(view.claims, [&](const auto& entry) {
    return view.ports.contains(entry.second.port) && unplugged(entry.second.port);
  });
  std::erase_if(view.ports, [&](const auto& entry) { return unplugged(entry.first); });
  return view;
}

v1::TraceStep StepOf(const vswitch::HostView& view, const sim::Step& step) {
  v1::TraceStep line;
  line.set_stage(step.stage);
  line.set_owner_kind(std::string(Label(step.owner.kind)));
  line.set_owner_id(step.owner.id);
  if (!step.owner.id.empty()) line.set_owner_name(OwnerName(view, step.owner));
  line.set_text(step.text);
  line.set_host(view.host.str());
  return line;
}

v1::TraceVerdict VerdictOf(const vswitch::HostView& view, const sim::Delivery& delivery) {
  v1::TraceVerdict verdict;
  verdict.set_delivered(true);
  verdict.set_host(view.host.str());
  if (delivery.port) {
    verdict.set_port_id(delivery.port->str());
    verdict.set_port_name(OwnerName(view, {vswitch::OwnerKind::kPort, delivery.port->str()}));
  }
  if (delivery.host) verdict.set_remote_host(delivery.host->str());
  if (delivery.vtep) {
    const vswitch::TunnelAddresses& own = view.tunnel_addresses;
    const auto& local = delivery.vtep->is_v4() ? own.v4 : own.v6;
    verdict.set_remote_address(delivery.vtep->ToString());
    if (local) verdict.set_local_address(local->ToString());
  }
  if (delivery.vni) verdict.set_vni(delivery.vni->value());
  verdict.set_frame(delivery.frame.data(), delivery.frame.size());
  verdict.set_packet(packet::PacketText(delivery.frame));
  return verdict;
}

absl::StatusOr<std::vector<sim::Result>> FromPort(const AgentSnapshot& snapshot, const std::string& text,
                                                  const sim::Frame& frame) {
  const vswitch::HostView& view = *snapshot.view;
  ASSIGN_OR_RETURN(const Candidate port, LookUp(text, LocalPortCandidates(view), "local port"));
  const PortId from(port.owner.id);
  if (!snapshot.facts->attachments.contains(from)) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "port {} is not plugged, so nothing can come from it: no interface of the switch has {}={}",
                 from, snapshot.facts->binding_key, from);
  }
  return sim::EveryFromPort(WithoutUnplugged(view, *snapshot.facts), from, frame);
}

absl::StatusOr<std::vector<sim::Result>> FromTunnel(const AgentSnapshot& snapshot,
                                                    const v1::TraceRequest& request, const sim::Frame& frame) {
  const absl::StatusOr<IpAddress> source = IpAddress::Parse(request.outer_source());
  if (!source.ok()) return Annotate(source.status(), "outer_source");
  return std::vector<sim::Result>{
      sim::FromTunnel(WithoutUnplugged(*snapshot.view, *snapshot.facts), *source, request.vni(), frame)};
}

void AddDrop(const vswitch::HostView& view, vswitch::DropReason reason, uint32_t way, bool answer,
             v1::TraceReply& reply) {
  v1::TraceVerdict& verdict = *reply.add_verdicts();
  verdict.set_answer(answer);
  verdict.set_host(view.host.str());
  verdict.set_drop_reason(std::string(Label(reason)));
  verdict.set_way(way);
}

void AddResult(const vswitch::HostView& view, const sim::Result& result, uint32_t way, v1::TraceReply& reply) {
  for (const sim::Step& step : result.steps) {
    *reply.add_steps() = StepOf(view, step);
    reply.mutable_steps()->rbegin()->set_way(way);
  }
  // What becomes of the packet itself comes first. A dropped one has no deliveries but of the answer to it.
  if (result.drop) AddDrop(view, *result.drop, way, /*answer=*/false, reply);
  for (const sim::Delivery& delivery : result.deliveries) {
    v1::TraceVerdict& verdict = *reply.add_verdicts();
    verdict = VerdictOf(view, delivery);
    verdict.set_way(way);
    verdict.set_answer(result.drop.has_value());
  }
  for (const vswitch::DropReason reason : result.answer_drops)
    AddDrop(view, reason, way, /*answer=*/true, reply);
}

}  // namespace

absl::StatusOr<v1::TraceReply> TracedReply(const AgentSnapshot& snapshot, const v1::TraceRequest& request) {
  if (request.port().empty() == request.outer_source().empty()) {
    return Invalid("port and outer_source: exactly one of them says where the packet comes from");
  }
  if (request.frame().empty() || request.frame().size() > kMaxFrame) {
    return Invalid("frame: has {} bytes, it must be an Ethernet frame of 1 to {}", request.frame().size(),
                   kMaxFrame);
  }
  const sim::Frame frame(request.frame().begin(), request.frame().end());
  ASSIGN_OR_RETURN(const std::vector<sim::Result> results, request.port().empty()
                                                               ? FromTunnel(snapshot, request, frame)
                                                               : FromPort(snapshot, request.port(), frame));
  v1::TraceReply reply;
  uint32_t way = 0;
  for (const sim::Result& result : results) {
    if (results.size() > 1) ++way;
    AddResult(*snapshot.view, result, way, reply);
  }
  return reply;
}

}  // namespace kasane::inspect
