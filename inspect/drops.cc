// The reply that counts what was dropped.
#include <map>
#include <optional>
#include <tuple>

#include "base/status.h"
#include "inspect/lookup.h"
#include "inspect/replies.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::inspect {
namespace {

struct Count {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

void SetNetwork(const vswitch::HostView& view, const vswitch::Owner& owner, v1::DropCount& row) {
  NetworkId id;
  if (owner.kind == vswitch::OwnerKind::kNetwork) id = NetworkId(owner.id);
  if (owner.kind == vswitch::OwnerKind::kPort) {
    const auto port = view.ports.find(PortId(owner.id));
    if (port != view.ports.end()) id = port->second.network;
  }
  row.set_network_id(id.str());
  const auto network = view.networks.find(id);
  if (network != view.networks.end()) row.set_network_name(network->second.name);
}

}  // namespace

absl::StatusOr<v1::ListDropsResponse> DropsReply(const AgentSnapshot& snapshot,
                                                 const std::vector<vswitch::InstalledEntry>& entries,
                                                 const v1::ListDropsRequest& request) {
  const vswitch::HostView& view = *snapshot.view;
  std::optional<vswitch::Owner> only;
  if (!request.port().empty()) {
    ASSIGN_OR_RETURN(const Candidate port, LookUp(request.port(), LocalPortCandidates(view), "local port"));
    only = port.owner;
  }
  std::map<std::tuple<vswitch::DropReason, vswitch::Owner>, Count> counts;
  for (const vswitch::InstalledEntry& entry : entries) {
    if (!entry.drop_reason || entry.packets == 0 || (only && entry.owner != *only)) continue;
    Count& count = counts[{*entry.drop_reason, entry.owner}];
    count.packets += entry.packets;
    count.bytes += entry.bytes;
  }
  v1::ListDropsResponse reply;
  for (const auto& [key, count] : counts) {
    const auto& [reason, owner] = key;
    v1::DropCount& row = *reply.add_drops();
    row.set_drop_reason(std::string(Label(reason)));
    row.set_owner_kind(std::string(Label(owner.kind)));
    row.set_owner_id(owner.id);
    if (!owner.id.empty()) row.set_owner_name(OwnerName(view, owner));
    SetNetwork(view, owner, row);
    row.set_packets(count.packets);
    row.set_bytes(count.bytes);
  }
  return reply;
}

}  // namespace kasane::inspect
