#include <grpcpp/grpcpp.h>

#include <map>
#include <set>

#include "base/log.h"
#include "controller/api/messages.h"
#include "controller/api/services.h"
#include "controller/store/transactions.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "rpc/status.h"

namespace kasane::controller {
namespace {

using Base = v1::ControllerService::WithCallbackMethod_Watch<v1::ControllerService::Service>;

template <typename Reply>
void LogWrite(std::string_view what, const std::string& peer, int resources, bool dry_run, const Reply& reply,
              const absl::Status& status) {
  if (!status.ok()) {
    log::Error(what, {{"peer", peer}, {"resources", std::to_string(resources)}, {"error", Message(status)}});
    return;
  }
  log::Info(what, {{"peer", peer},
                   {"resources", std::to_string(resources)},
                   {"faults", std::to_string(reply.faults_size())},
                   {"dry_run", dry_run ? "yes" : "no"},
                   {"counter", std::to_string(reply.revision().counter())}});
}

class ApiService final : public Base {
 public:
  explicit ApiService(const ServiceContext& context) : context_(context) {}

  grpc::Status Apply(grpc::ServerContext* call, const v1::ApplyRequest* request,
                     v1::ApplyResponse* reply) override {
    const absl::Status status = controller::Apply(context_.hub, *request, *reply);
    LogWrite("apply", call->peer(), request->items_size(), request->dry_run(), *reply, status);
    return rpc::ToRpc(status);
  }

  grpc::Status Delete(grpc::ServerContext* call, const v1::DeleteRequest* request,
                      v1::DeleteResponse* reply) override {
    const auto is_connected = [&](const HostId& host) { return context_.registry.IsConnected(host); };
    const absl::Status status = controller::Delete(context_.hub, is_connected, *request, *reply);
    LogWrite("delete", call->peer(), request->keys_size(), request->dry_run(), *reply, status);
    return rpc::ToRpc(status);
  }

  grpc::Status Get(grpc::ServerContext*, const v1::GetRequest* request,
                   v1::ResourceWithStatus* reply) override {
    const std::optional<model::ResourceKey> key = model::DecodeKey(request->key());
    if (!key) return rpc::ToRpc(Invalid("the key names no kind or no id; give both"));
    const std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    if (snapshot->resources.count(*key) == 0) {
      return rpc::ToRpc(Error(absl::StatusCode::kNotFound, "there is no {}", ToString(*key)));
    }
    *reply = Renderer(snapshot, context_.registry).Render(*key);
    return grpc::Status::OK;
  }

  grpc::Status List(grpc::ServerContext*, const v1::ListRequest* request, v1::ListResponse* reply) override {
    std::set<model::Kind> kinds;
    for (const int kind : request->kinds()) kinds.insert(static_cast<model::Kind>(kind));
    const Renderer renderer(context_.hub.snapshot(), context_.registry);
    for (const auto& [key, resource] : renderer.snapshot().resources) {
      if (kinds.empty() || kinds.count(key.kind) != 0) *reply->add_resources() = renderer.Render(key);
    }
    *reply->mutable_revision() = model::EncodeRevision(renderer.snapshot().revision);
    return grpc::Status::OK;
  }

  grpc::ServerWriteReactor<v1::WatchResponse>* Watch(grpc::CallbackServerContext*,
                                                     const v1::WatchRequest* request) override {
    return context_.watch_hub.Watch(*request);
  }

  grpc::Status ControllerStatus(grpc::ServerContext*, const v1::ControllerStatusRequest*,
                                v1::ControllerStatusResponse* reply) override {
    const std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    reply->set_store_id(context_.hub.store().store_id());
    *reply->mutable_current() = model::EncodeRevision(snapshot->revision);
    reply->set_version(KASANE_VERSION);
    AddHosts(*snapshot, *reply);
    AddCounts(*snapshot, *reply);
    return grpc::Status::OK;
  }

 private:
  void AddHosts(const Snapshot& snapshot, v1::ControllerStatusResponse& reply) const {
    struct Ports {
      uint32_t bound = 0;
      uint32_t active = 0;
    };
    std::map<HostId, Ports> ports;
    for (const auto& [id, port] : snapshot.state.ports) {
      if (port->host.empty()) continue;
      Ports& of_host = ports[port->host];
      ++of_host.bound;
      if (context_.registry.StatusOf(*port) == PortStatus::kActive) ++of_host.active;
    }
    const std::map<HostId, HostSummary> summaries = context_.registry.Summaries();
    for (const auto& [id, host] : snapshot.state.hosts) {
      v1::HostStatus& out = *reply.add_hosts();
      out.set_host_id(id.str());
      if (host->tunnel_v4) out.add_tunnel_addresses(host->tunnel_v4->ToString());
      if (host->tunnel_v6) out.add_tunnel_addresses(host->tunnel_v6->ToString());
      out.set_ports(ports[id].bound);
      out.set_active_ports(ports[id].active);
      const auto summary = summaries.find(id);
      if (summary == summaries.end()) continue;
      out.set_connected(summary->second.connected);
      out.set_agent_version(summary->second.agent_version);
      out.set_rejected(static_cast<uint32_t>(summary->second.rejected));
      if (summary->second.applied) *out.mutable_applied() = model::EncodeRevision(*summary->second.applied);
    }
  }

  static void AddCounts(const Snapshot& snapshot, v1::ControllerStatusResponse& reply) {
    std::map<model::Kind, uint32_t> counts;
    for (const auto& [key, resource] : snapshot.resources) ++counts[key.kind];
    for (const model::Kind kind : model::kAllKinds) {
      v1::KindCount& out = *reply.add_counts();
      out.set_kind(static_cast<v1::ResourceKind>(kind));
      out.set_count(counts[kind]);
    }
  }

  const ServiceContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeApiService(const ServiceContext& context) {
  return std::make_unique<ApiService>(context);
}

}  // namespace kasane::controller
