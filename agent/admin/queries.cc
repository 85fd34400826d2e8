// The replies that answer a question: flows of an owner, trace, resolve.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agent/admin/lookup.h"
#include "agent/admin/replies.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/base/status.h"
#include "vswitch/sim/sim.h"

namespace kasane {
namespace {

constexpr size_t kMaxFrame = 65'535 + 18;

// The view's owners, and those that are left in the switch only.
std::vector<Candidate> FlowOwners(const HostView& view, const std::vector<InstalledEntry>& entries) {
  std::vector<Candidate> candidates = OwnerCandidates(view);
  std::set<Owner> known;
  for (const Candidate& candidate : candidates) known.insert(candidate.owner);
  for (const InstalledEntry& entry : entries) {
    if (known.insert(entry.owner).second) candidates.push_back({entry.owner, ""});
  }
  return candidates;
}

v1::Flow FlowOf(const InstalledEntry& entry) {
  v1::Flow flow;
  flow.set_owner_kind(std::string(Label(entry.owner.kind)));
  flow.set_owner_id(entry.owner.id);
  flow.set_stage(entry.stage);
  flow.set_table(entry.table);
  flow.set_priority(entry.priority);
  flow.set_match(entry.match);
  flow.set_actions(entry.actions);
  flow.set_packets(entry.packets);
  flow.set_bytes(entry.bytes);
  if (entry.drop_reason) flow.set_drop_reason(std::string(Label(*entry.drop_reason)));
  return flow;
}

v1::TraceVerdict VerdictOf(const HostView& view, const sim::Delivery& delivery) {
  v1::TraceVerdict verdict;
  verdict.set_delivered(true);
  if (delivery.port) {
    verdict.set_port_id(delivery.port->str());
    verdict.set_port_name(OwnerName(view, {OwnerKind::kPort, delivery.port->str()}));
  }
  if (delivery.host) verdict.set_remote_host(delivery.host->str());
  if (delivery.vtep) verdict.set_remote_address(delivery.vtep->ToString());
  if (delivery.vni) verdict.set_vni(delivery.vni->value());
  verdict.set_frame(delivery.frame.data(), delivery.frame.size());
  return verdict;
}

v1::ResolveReply Found(const MacAddress& mac, std::string_view kind, const std::string& id,
                       const std::string& name) {
  v1::ResolveReply reply;
  reply.set_mac_address(mac.ToString());
  reply.set_kind(std::string(kind));
  reply.set_id(id);
  reply.set_name(name);
  return reply;
}

// What the switch can deliver to: it has no flow for a local port that is not plugged.
HostView WithoutUnplugged(HostView view, const DatapathFacts& facts) {
  std::erase_if(view.ports, [&facts](const auto& entry) { return !facts.attachments.contains(entry.first); });
  return view;
}

template <typename Port>
bool Owns(const Port& port, const NetworkId& network, const IpAddress& ip) {
  return port.network == network && std::ranges::find(port.ips, ip) != port.ips.end();
}

std::optional<v1::ResolveReply> FindVm(const HostView& view, const NetworkId& network, const IpAddress& ip) {
  for (const auto& [id, port] : view.ports) {
    if (Owns(port, network, ip)) return Found(port.mac, "port", id.str(), port.name);
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    if (Owns(endpoint, network, ip)) return Found(endpoint.mac, "port", id.str(), endpoint.name);
  }
  return std::nullopt;
}

std::optional<v1::ResolveReply> FindRouter(const HostView& view, const NetworkId& network,
                                           const IpAddress& ip) {
  for (const auto& [id, router] : view.routers) {
    for (const RouterPort& port : router.ports) {
      if (port.network != network) continue;
      const bool owns =
          port.link_local == ip ||
          std::ranges::any_of(port.addresses, [&](const IpPrefix& address) { return address.address() == ip; });
      if (owns) return Found(port.mac, "router", id.str(), router.name);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<v1::ListFlowsReply> FlowsReply(const AgentSnapshot& snapshot,
                                              const std::vector<InstalledEntry>& entries,
                                              const std::string& owner_text) {
  std::optional<Owner> owner;
  if (!owner_text.empty()) {
    Candidate found;
    ASSIGN_OR_RETURN(found,
                     LookUp(owner_text, FlowOwners(*snapshot.view, entries), "owner of flows on this host"));
    owner = found.owner;
  }
  v1::ListFlowsReply reply;
  for (const InstalledEntry& entry : entries) {
    if (!owner || entry.owner == *owner) *reply.add_flows() = FlowOf(entry);
  }
  return reply;
}

v1::CompareFlowsReply CompareReply(const std::vector<Discrepancy>& discrepancies) {
  v1::CompareFlowsReply reply;
  for (const Discrepancy& discrepancy : discrepancies) {
    v1::FlowDifference& difference = *reply.add_differences();
    difference.set_kind(std::string(Label(discrepancy.kind)));
    *difference.mutable_flow() = FlowOf(discrepancy.entry);
  }
  return reply;
}

absl::StatusOr<v1::TraceReply> TracedReply(const AgentSnapshot& snapshot, const v1::TraceRequest& request) {
  const HostView& view = *snapshot.view;
  Candidate port;
  ASSIGN_OR_RETURN(port, LookUp(request.port(), LocalPortCandidates(view), "local port"));
  if (request.frame().empty() || request.frame().size() > kMaxFrame) {
    return Invalid("frame: has {} bytes, it must be an Ethernet frame of 1 to {}", request.frame().size(),
                   kMaxFrame);
  }
  const PortId from(port.owner.id);
  if (!snapshot.facts->attachments.contains(from)) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "port {} is not plugged, so nothing can come from it: no interface in the switch has "
                 "external_ids:iface-id={}; ovs-vsctl set interface NAME external_ids:iface-id={}",
                 from, from, from);
  }
  const sim::Frame frame(request.frame().begin(), request.frame().end());
  const sim::Result result = sim::FromPort(WithoutUnplugged(view, *snapshot.facts), from, frame);

  v1::TraceReply reply;
  for (const sim::Step& step : result.steps) {
    v1::TraceStep& line = *reply.add_steps();
    line.set_stage(step.stage);
    line.set_owner_kind(std::string(Label(step.owner.kind)));
    line.set_owner_id(step.owner.id);
    if (!step.owner.id.empty()) line.set_owner_name(OwnerName(view, step.owner));
    line.set_text(step.text);
  }
  for (const sim::Delivery& delivery : result.deliveries) *reply.add_verdicts() = VerdictOf(view, delivery);
  if (result.drop) reply.add_verdicts()->set_drop_reason(std::string(Label(*result.drop)));
  return reply;
}

absl::StatusOr<v1::ResolveReply> ResolvedReply(const AgentSnapshot& snapshot,
                                               const v1::ResolveRequest& request) {
  const HostView& view = *snapshot.view;
  Candidate port;
  ASSIGN_OR_RETURN(port, LookUp(request.port(), LocalPortCandidates(view), "local port"));
  IpAddress ip;
  ASSIGN_OR_RETURN(ip, IpAddress::Parse(request.ip_address()));
  const NetworkId& network = view.ports.at(PortId(port.owner.id)).network;
  // A VM's port wins over a router with the same address, as it does in the datapath.
  if (std::optional<v1::ResolveReply> reply = FindVm(view, network, ip)) return *std::move(reply);
  if (std::optional<v1::ResolveReply> reply = FindRouter(view, network, ip)) return *std::move(reply);
  return Error(absl::StatusCode::kNotFound, "nothing on network {} has the address {}", network, ip);
}

}  // namespace kasane
