#include "ctl/trace/cloud_records.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/status.h"
#include "inspect/lookup.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "view/host_view_builder.h"

namespace kasane::ctl {

CloudRecords::CloudRecords(const v1::ListResponse& resources) {
  for (const v1::ResourceWithStatus& listed : resources.resources()) {
    std::vector<model::Fault> faults;
    const auto resource = Decode(listed.resource(), "", faults);
    if (!resource) continue;
    Upsert(state_, *resource);
    const model::ResourceKey key = model::KeyOf(*resource);
    if (key.kind == model::Kind::kPort)
      active_[PortId(key.id)] = listed.port_status() == v1::PORT_STATUS_ACTIVE;
  }
}

absl::StatusOr<HostId> CloudRecords::HostOf(const std::string& port) const {
  std::vector<inspect::Candidate> candidates;
  for (const auto& [id, found] : state_.ports) {
    candidates.push_back({{vswitch::OwnerKind::kPort, id.str()}, found->name});
  }
  ASSIGN_OR_RETURN(const inspect::Candidate found, inspect::LookUp(port, candidates, "port"));
  const model::Port& model = *state_.ports.at(PortId(found.owner.id));
  if (!model.host.empty()) return model.host;
  return Error(absl::StatusCode::kFailedPrecondition, "port {} is on no host: it has no binding:host_id",
               found.owner.id);
}

absl::StatusOr<const inspect::AgentSnapshot*> CloudRecords::Host(const HostId& host) {
  const auto known = hosts_.find(host);
  if (known != hosts_.end()) return &known->second;
  const auto recorded = state_.hosts.find(host);
  if (recorded == state_.hosts.end()) {
    NearestName nearest(host.str());
    for (const auto& [id, known_host] : state_.hosts) nearest.Offer(id.str());
    return Error(absl::StatusCode::kNotFound,
                 "the controller knows no host {}: its agent has not said Hello yet{}", host,
                 DidYouMean(nearest.result()));
  }
  inspect::AgentSnapshot snapshot;
  snapshot.state = std::make_shared<const model::NetworkState>();
  auto view = std::make_shared<const vswitch::HostView>(
      view::BuildHostView(state_, host, {recorded->second->tunnel_v4, recorded->second->tunnel_v6}));
  auto facts = std::make_shared<vswitch::DatapathFacts>();
  for (const auto& [id, port] : view->ports) {
    // A port that is down is never ACTIVE; that it is down, and not that it is missing, is what a trace must
    // say.
    const auto active = active_.find(id);
    const bool up = port.admin_state_up && view->networks.at(port.network).admin_state_up;
    if (!up || (active != active_.end() && active->second)) facts->attachments[id] = {"", 0};
  }
  snapshot.view = std::move(view);
  snapshot.facts = std::move(facts);
  return &hosts_.emplace(host, std::move(snapshot)).first->second;
}

}  // namespace kasane::ctl
