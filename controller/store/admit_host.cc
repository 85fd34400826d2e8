#include "controller/store/admit_host.h"

#include <utility>

#include "base/status.h"
#include "kasane/v1/resources.pb.h"
#include "model/decode.h"

namespace kasane::controller {
namespace {

std::string AddressesText(const model::Host& host) {
  std::vector<std::string> texts;
  if (host.tunnel_v4) texts.push_back(host.tunnel_v4->ToString());
  if (host.tunnel_v6) texts.push_back(host.tunnel_v6->ToString());
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, " and "));
}

absl::Status CheckOtherHosts(const model::NetworkState& state, const model::Host& announced) {
  for (const auto& [id, host] : state.hosts) {
    if (id == announced.id) continue;
    const bool same_v4 = announced.tunnel_v4 && announced.tunnel_v4 == host->tunnel_v4;
    const bool same_v6 = announced.tunnel_v6 && announced.tunnel_v6 == host->tunnel_v6;
    if (!same_v4 && !same_v6) continue;
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "host {} announces the tunnel address {}, which belongs to host {}; give it another, or delete host {} "
        "if that is gone",
        announced.id, same_v4 ? *announced.tunnel_v4 : *announced.tunnel_v6, id, id);
  }
  return absl::OkStatus();
}

Change MakeHostChange(const model::Host& host) {
  auto resource = std::make_shared<v1::Resource>();
  resource->mutable_host()->set_id(host.id.str());
  if (host.tunnel_v4) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v4->ToString());
  if (host.tunnel_v6) resource->mutable_host()->add_tunnel_addresses(host.tunnel_v6->ToString());
  return {{model::Kind::kHost, host.id.str()}, std::move(resource), std::make_shared<const model::Host>(host)};
}

}  // namespace

absl::Status AdmitHost(StateHub& hub, const model::Host& announced) {
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    RETURN_IF_ERROR(CheckOtherHosts(before.state, announced));
    const auto it = before.state.hosts.find(announced.id);
    const model::Host* known = it == before.state.hosts.end() ? nullptr : it->second.get();
    const bool same =
        known != nullptr && known->tunnel_v4 == announced.tunnel_v4 && known->tunnel_v6 == announced.tunnel_v6;
    if (same) return std::vector<Change>();
    if (known != nullptr && known->pinned) {
      return Error(
          absl::StatusCode::kFailedPrecondition,
          "host {} announces the tunnel address {}, but it is pinned to {}; fix the agent's configuration or "
          "the hosts entry that pins it",
          announced.id, AddressesText(announced), AddressesText(*known));
    }
    std::vector<Change> changes;
    changes.push_back(MakeHostChange(announced));
    return changes;
  };
  return hub.Transact(commit).status();
}

}  // namespace kasane::controller
