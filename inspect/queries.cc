// The replies that answer a question: flows of an owner, resolve.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/status.h"
#include "inspect/lookup.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::inspect {
namespace {

// The view's owners, and those that are left in the switch only.
std::vector<Candidate> FlowOwners(const vswitch::HostView& view,
                                  const std::vector<vswitch::InstalledEntry>& entries) {
  std::vector<Candidate> candidates = OwnerCandidates(view);
  std::set<vswitch::Owner> known;
  for (const Candidate& candidate : candidates) known.insert(candidate.owner);
  for (const vswitch::InstalledEntry& entry : entries) {
    if (known.insert(entry.owner).second) candidates.push_back({entry.owner, ""});
  }
  return candidates;
}

// With a view the owner has its name.
v1::Flow FlowOf(const vswitch::InstalledEntry& entry, const vswitch::HostView* view = nullptr) {
  v1::Flow flow;
  flow.set_owner_kind(std::string(Label(entry.owner.kind)));
  flow.set_owner_id(entry.owner.id);
  if (view != nullptr && !entry.owner.id.empty()) flow.set_owner_name(OwnerName(*view, entry.owner));
  flow.set_stage(entry.stage);
  flow.set_key(entry.key);
  flow.set_action(entry.action);
  flow.set_native(entry.native);
  flow.set_packets(entry.packets);
  flow.set_bytes(entry.bytes);
  if (entry.drop_reason) flow.set_drop_reason(std::string(Label(*entry.drop_reason)));
  return flow;
}

v1::ResolveResponse Found(const MacAddress& mac, std::string_view kind, const std::string& id,
                          const std::string& name) {
  v1::ResolveResponse reply;
  reply.set_mac_address(mac.ToString());
  reply.set_kind(std::string(kind));
  reply.set_id(id);
  reply.set_name(name);
  return reply;
}

template <typename Port>
bool Owns(const Port& port, const NetworkId& network, const IpAddress& ip) {
  return port.network == network && std::ranges::find(port.ips, ip) != port.ips.end();
}

std::optional<v1::ResolveResponse> FindVm(const vswitch::HostView& view, const NetworkId& network,
                                          const IpAddress& ip) {
  if (const auto claim = view.claims.find({network, ip}); claim != view.claims.end()) {
    const vswitch::Owner owner{vswitch::OwnerKind::kPort, claim->second.port.str()};
    return Found(claim->second.mac, "port", owner.id, OwnerName(view, owner));
  }
  for (const auto& [id, port] : view.ports) {
    if (Owns(port, network, ip)) return Found(port.mac, "port", id.str(), port.name);
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    if (Owns(endpoint, network, ip)) return Found(endpoint.mac, "port", id.str(), endpoint.name);
  }
  return std::nullopt;
}

std::optional<v1::ResolveResponse> FindRouter(const vswitch::HostView& view, const NetworkId& network,
                                              const IpAddress& ip) {
  for (const auto& [id, router] : view.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
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

absl::StatusOr<v1::ListFlowsResponse> FlowsReply(const AgentSnapshot& snapshot,
                                                 const std::vector<vswitch::InstalledEntry>& entries,
                                                 const std::string& owner_text) {
  std::optional<vswitch::Owner> owner;
  if (!owner_text.empty()) {
    Candidate found;
    ASSIGN_OR_RETURN(found,
                     LookUp(owner_text, FlowOwners(*snapshot.view, entries), "owner of flows on this host"));
    owner = found.owner;
  }
  v1::ListFlowsResponse reply;
  for (const vswitch::InstalledEntry& entry : entries) {
    if (!owner || entry.owner == *owner) *reply.add_flows() = FlowOf(entry, snapshot.view.get());
  }
  return reply;
}

v1::CompareFlowsResponse CompareReply(const std::vector<vswitch::Discrepancy>& discrepancies) {
  v1::CompareFlowsResponse reply;
  for (const vswitch::Discrepancy& discrepancy : discrepancies) {
    v1::FlowDifference& difference = *reply.add_differences();
    difference.set_kind(std::string(Label(discrepancy.kind)));
    *difference.mutable_flow() = FlowOf(discrepancy.entry);
  }
  return reply;
}

absl::StatusOr<v1::ResolveResponse> ResolvedReply(const AgentSnapshot& snapshot,
                                                  const v1::ResolveRequest& request) {
  const vswitch::HostView& view = *snapshot.view;
  Candidate port;
  ASSIGN_OR_RETURN(port, LookUp(request.port(), LocalPortCandidates(view), "local port"));
  IpAddress ip;
  ASSIGN_OR_RETURN(ip, IpAddress::Parse(request.ip_address()));
  const NetworkId& network = view.ports.at(PortId(port.owner.id)).network;
  // A VM's port wins over a router with the same address, as it does in the datapath.
  if (std::optional<v1::ResolveResponse> reply = FindVm(view, network, ip)) return *std::move(reply);
  if (std::optional<v1::ResolveResponse> reply = FindRouter(view, network, ip)) return *std::move(reply);
  return Error(absl::StatusCode::kNotFound, "nothing on network {} has the address {}", network, ip);
}

}  // namespace kasane::inspect
