// The reply that shows the forwarding tables.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/edit_distance.h"
#include "base/status.h"
#include "inspect/lookup.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"
#include "vswitch/tables/text.h"

namespace kasane::inspect {
namespace {

// What a request leaves over.
struct Filter {
  std::optional<vswitch::Owner> network;
  std::optional<vswitch::Owner> owner;
  std::string family;  // Empty: any.

  bool Takes(const tables::EntryText& entry) const {
    if (!family.empty() && entry.family != family) return false;
    if (network && (!entry.network || entry.network->str() != network->id)) return false;
    return !owner ||
           std::ranges::any_of(entry.claimants, [&](const auto& claimant) { return claimant.owner == *owner; });
  }
};

// Everything in the view that can claim a key: what owns flows, and ports that only keep their addresses.
std::vector<Candidate> Claimants(const vswitch::HostView& view) {
  std::vector<Candidate> candidates = OwnerCandidates(view);
  for (const auto& [id, port] : view.reserved)
    candidates.push_back({{vswitch::OwnerKind::kPort, id.str()}, port.name});
  return candidates;
}

std::vector<Candidate> Networks(const vswitch::HostView& view) {
  std::vector<Candidate> candidates;
  for (const auto& [id, network] : view.networks)
    candidates.push_back({{vswitch::OwnerKind::kNetwork, id.str()}, network.name});
  return candidates;
}

absl::Status CheckFamily(const std::string& family) {
  const std::vector<std::string_view> names = tables::FamilyNames();
  if (family.empty() || std::ranges::find(names, family) != names.end()) return absl::OkStatus();
  return Error(absl::StatusCode::kNotFound, "there is no family \"{}\"; there are {}{}", family,
               fmt::join(names, ", "), DidYouMean(Nearest(family, names)));
}

absl::StatusOr<Filter> FilterOf(const vswitch::HostView& view, const v1::ListTablesRequest& request) {
  Filter filter;
  RETURN_IF_ERROR(CheckFamily(request.family()));
  filter.family = request.family();
  if (!request.network().empty()) {
    ASSIGN_OR_RETURN(const Candidate found, LookUp(request.network(), Networks(view), "network on this host"));
    filter.network = found.owner;
  }
  if (!request.owner().empty()) {
    ASSIGN_OR_RETURN(const Candidate found,
                     LookUp(request.owner(), Claimants(view), "port, network, router or host on this host"));
    filter.owner = found.owner;
  }
  return filter;
}

}  // namespace

absl::StatusOr<v1::ListTablesResponse> TablesReply(const AgentSnapshot& snapshot,
                                                   const v1::ListTablesRequest& request) {
  const vswitch::HostView& view = *snapshot.view;
  ASSIGN_OR_RETURN(const Filter filter, FilterOf(view, request));
  std::set<PortId> plugged;
  for (const auto& [id, attachment] : snapshot.facts->attachments) plugged.insert(id);
  v1::ListTablesResponse reply;
  for (const tables::EntryText& entry : tables::Describe(tables::BuildForwardingTables(view, plugged))) {
    if (!filter.Takes(entry)) continue;
    v1::TableEntry& row = *reply.add_entries();
    row.set_family(std::string(entry.family));
    if (entry.network) {
      row.set_network_id(entry.network->str());
      row.set_network_name(OwnerName(view, {vswitch::OwnerKind::kNetwork, entry.network->str()}));
    }
    row.set_key(entry.key);
    row.set_in_force(entry.in_force);
    for (const tables::ClaimantText& claimant : entry.claimants) {
      v1::TableClaimant& line = *row.add_claimants();
      line.set_rank(claimant.rank);
      line.set_owner_kind(std::string(Label(claimant.owner.kind)));
      line.set_owner_id(claimant.owner.id);
      line.set_owner_name(OwnerName(view, claimant.owner));
      line.set_value(claimant.value);
    }
  }
  return reply;
}

}  // namespace kasane::inspect
