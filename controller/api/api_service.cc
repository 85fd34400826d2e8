#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/log.h"
#include "controller/api/api_service.h"
#include "controller/api/messages.h"
#include "controller/api/page.h"
#include "controller/api/response_parts.h"
#include "controller/store/apply.h"
#include "controller/store/delete.h"
#include "controller/validate/limits.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "rpc/bounded_service.h"
#include "rpc/call_deadline.h"

namespace kasane::controller {
namespace {

using Base =
    rpc::BoundedService<v1::ControllerService::WithRawCallbackMethod_Watch<v1::ControllerService::Service>>;
using ImportStream = rpc::BytesStream<v1::ImportResponse>;

constexpr auto kImportPatience = std::chrono::seconds(60);  // For the next part of an Import.
constexpr size_t kPageBytes = 2 * kMiB;
constexpr uint32_t kPageSize = 500;
constexpr uint32_t kMaxPageSize = 5'000;
constexpr uint32_t kKeyPageSize = 5'000;
constexpr uint32_t kMaxKeyPageSize = 20'000;

// Of the service, found in its file.
const google::protobuf::ServiceDescriptor& Descriptor() {
  return *v1::ApplyRequest::descriptor()->file()->FindServiceByName("ControllerService");
}

template <typename Response>
void LogWrite(std::string_view what, const std::string& peer, size_t resources, bool dry_run,
              const Response& response, const absl::Status& status) {
  if (!status.ok()) {
    log::Error(what, {{"peer", peer}, {"resources", std::to_string(resources)}, {"error", Message(status)}});
    return;
  }
  log::Info(what, {{"peer", peer},
                   {"resources", std::to_string(resources)},
                   {"faults", std::to_string(response.faults_size() + response.faults_omitted())},
                   {"dry_run", dry_run ? "yes" : "no"},
                   {"counter", std::to_string(response.revision().counter())}});
}

size_t PageSize(uint32_t asked, uint32_t usual, uint32_t most) {
  return std::min(asked == 0 ? usual : asked, most);
}

class ApiService final : public Base {
 public:
  ApiService(const ApiContext& context, rpc::MemoryBudget& memory)
      : Base(Descriptor(), memory), context_(context) {
    const auto bind = [this](auto method) {
      return [this, method](grpc::ServerContext& call, auto& request, auto& response) {
        return (this->*method)(call, request, response);
      };
    };
    Unary<v1::ApplyRequest, v1::ApplyResponse>("Apply", kWriteLimits, bind(&ApiService::DoApply));
    Unary<v1::DeleteRequest, v1::DeleteResponse>("Delete", kWriteLimits, bind(&ApiService::DoDelete));
    Unary<v1::GetRequest, v1::GetResponse>("Get", kReadLimits, bind(&ApiService::DoGet));
    Unary<v1::ListRequest, v1::ListResponse>("List", kReadLimits, bind(&ApiService::DoList));
    Unary<v1::ListKeysRequest, v1::ListKeysResponse>("ListKeys", kReadLimits, bind(&ApiService::DoListKeys));
    Unary<v1::ControllerStatusRequest, v1::ControllerStatusResponse>("ControllerStatus", kReadLimits,
                                                                     bind(&ApiService::DoStatus));
    Streaming<v1::ImportResponse>(
        "Import", [this](grpc::ServerContext& call, ImportStream& stream) { return DoImport(call, stream); });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext*,
                                                    const grpc::ByteBuffer* request) override {
    grpc::ByteBuffer bytes = *request;
    v1::WatchRequest parsed;
    const auto lease = rpc::ParseInto(bytes, kReadLimits, budget(), parsed);
    return lease.ok() ? context_.watch_hub.Watch(parsed) : context_.watch_hub.Refuse(lease.status());
  }

 private:
  absl::Status DoApply(grpc::ServerContext& call, v1::ApplyRequest& request, v1::ApplyResponse& response) {
    ApplyInput input;
    for (v1::ApplyItem& item : *request.mutable_items()) RETURN_IF_ERROR(input.Add(std::move(item)));
    return ApplyAll(call, std::move(input), request.options(), {kMaxListedFaults, kMaxItems}, response);
  }

  absl::Status ApplyAll(grpc::ServerContext& call, ApplyInput input, const v1::ApplyOptions& options,
                        const ListedLimits& limits, v1::ApplyResponse& response) {
    const size_t items = input.size();
    absl::Status status = controller::Apply(context_.hub, std::move(input), options, limits, response);
    LogWrite("apply", call.peer(), items, options.dry_run(), response, status);
    return status;
  }

  absl::Status DoImport(grpc::ServerContext& call, ImportStream& stream) {
    v1::ApplyOptions options;
    ApplyInput input;
    rpc::MemoryBudget::Lease memory;
    const rpc::CallGuard guard(&call);
    for (bool first = true, last = false; !last; first = false) {
      v1::ImportRequest request;
      ASSIGN_OR_RETURN(rpc::MemoryBudget::Lease lease, ReadPart(guard, stream, request));
      memory.Add(std::move(lease));
      if (first) options = request.options();
      last = request.last();
      if (input.size() + static_cast<size_t>(request.items_size()) > kMaxImportItems) {
        return Error(absl::StatusCode::kResourceExhausted,
                     "more than {} items in one import; import less at once", kMaxImportItems);
      }
      for (v1::ApplyItem& item : *request.mutable_items()) RETURN_IF_ERROR(input.Add(std::move(item)));
    }
    v1::ApplyResponse response;
    RETURN_IF_ERROR(
        ApplyAll(call, std::move(input), options, {kMaxListedInImport, kMaxListedInImport}, response));
    for (const v1::ImportResponse& part : PartsOf(std::move(response))) {
      if (!stream.Write(part)) return Error(absl::StatusCode::kCancelled, "the client is gone");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<rpc::MemoryBudget::Lease> ReadPart(const rpc::CallGuard& guard, ImportStream& stream,
                                                    v1::ImportRequest& request) {
    const rpc::CallDeadline deadline(guard, kImportPatience);
    grpc::ByteBuffer bytes;
    if (!stream.Read(&bytes)) {
      return Error(absl::StatusCode::kCancelled, "the stream ended before its last part; nothing was stored");
    }
    return rpc::ParseInto(bytes, kWriteLimits, budget(), request);
  }

  absl::Status DoDelete(grpc::ServerContext& call, v1::DeleteRequest& request, v1::DeleteResponse& response) {
    const auto is_connected = [&](const HostId& host) { return context_.registry.IsConnected(host); };
    absl::Status status = controller::Delete(context_.hub, is_connected, request, kMaxListedFaults, response);
    LogWrite("delete", call.peer(), static_cast<size_t>(request.items_size()), request.dry_run(), response,
             status);
    return status;
  }

  absl::Status DoGet(grpc::ServerContext&, v1::GetRequest& request, v1::GetResponse& response) {
    const std::optional<model::ResourceKey> key = model::DecodeKey(request.key());
    if (!key) return Invalid("key: names no kind or no id; give both");
    const std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    if (snapshot->resources.count(*key) == 0) {
      return Error(absl::StatusCode::kNotFound, "there is no {}", ToString(*key));
    }
    *response.mutable_resource() = Renderer(snapshot, context_.registry).Render(*key);
    *response.mutable_revision() = model::EncodeRevision(snapshot->revision);
    return absl::OkStatus();
  }

  absl::Status DoList(grpc::ServerContext&, v1::ListRequest& request, v1::ListResponse& response) {
    const Renderer renderer(context_.hub.snapshot(), context_.registry);
    ASSIGN_OR_RETURN(const Filter filter, Filter::Make(request.filter(), renderer.snapshot()));
    const size_t most = PageSize(request.page_size(), kPageSize, kMaxPageSize);
    size_t bytes = 0;
    const auto add = [&](const model::ResourceKey& key, const v1::Resource&) {
      if (static_cast<size_t>(response.resources_size()) == most || bytes > kPageBytes) return false;
      v1::ResourceWithStatus& added = *response.add_resources();
      added = renderer.Render(key);
      bytes += added.ByteSizeLong();
      return true;
    };
    ASSIGN_OR_RETURN(*response.mutable_next_page_token(),
                     ReadPage(renderer.snapshot(), filter, request.page_token(), add));
    *response.mutable_revision() = model::EncodeRevision(renderer.snapshot().revision);
    return absl::OkStatus();
  }

  absl::Status DoListKeys(grpc::ServerContext&, v1::ListKeysRequest& request, v1::ListKeysResponse& response) {
    const std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    ASSIGN_OR_RETURN(const Filter filter, Filter::Make(request.filter(), *snapshot));
    const size_t most = PageSize(request.page_size(), kKeyPageSize, kMaxKeyPageSize);
    const auto add = [&](const model::ResourceKey& key, const v1::Resource& resource) {
      if (static_cast<size_t>(response.resources_size()) == most) return false;
      v1::ResourceHead& head = *response.add_resources();
      *head.mutable_key() = model::EncodeKey(key);
      *head.mutable_revision() = resource.revision();
      head.set_source(resource.source());
      head.set_source_revision(resource.source_revision());
      return true;
    };
    ASSIGN_OR_RETURN(*response.mutable_next_page_token(),
                     ReadPage(*snapshot, filter, request.page_token(), add));
    *response.mutable_revision() = model::EncodeRevision(snapshot->revision);
    return absl::OkStatus();
  }

  absl::Status DoStatus(grpc::ServerContext&, v1::ControllerStatusRequest&,
                        v1::ControllerStatusResponse& response) {
    const std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    response.set_store_id(context_.hub.store().store_id());
    *response.mutable_current() = model::EncodeRevision(snapshot->revision);
    response.set_version(KASANE_VERSION);
    AddHosts(*snapshot, response);
    AddCounts(*snapshot, response);
    return absl::OkStatus();
  }

  void AddHosts(const Snapshot& snapshot, v1::ControllerStatusResponse& response) const {
    struct Ports {
      uint32_t bound = 0;
      uint32_t active = 0;
    };
    std::map<HostId, Ports> ports;
    for (const auto& [id, port] : snapshot.state.ports) {
      if (!model::IsPlugged(*port)) continue;
      Ports& of_host = ports[port->host];
      ++of_host.bound;
      if (context_.registry.StatusOf(*port) == PortStatus::kActive) ++of_host.active;
    }
    const std::map<HostId, HostSummary> summaries = context_.registry.Summaries();
    for (const auto& [id, host] : snapshot.state.hosts) {
      v1::HostStatus& out = *response.add_hosts();
      out.set_host_id(id.str());
      if (host->tunnel_v4) out.add_tunnel_addresses(host->tunnel_v4->ToString());
      if (host->tunnel_v6) out.add_tunnel_addresses(host->tunnel_v6->ToString());
      out.set_ports(ports[id].bound);
      out.set_active_ports(ports[id].active);
      const auto summary = summaries.find(id);
      if (summary == summaries.end()) continue;
      out.set_connected(summary->second.connected);
      out.set_agent_version(summary->second.agent_version);
      out.set_protocol_version(summary->second.protocol_version);
      for (const std::string& capability : summary->second.capabilities) out.add_capabilities(capability);
      out.set_rejected(static_cast<uint32_t>(summary->second.rejected));
      if (summary->second.applied) *out.mutable_applied() = model::EncodeRevision(*summary->second.applied);
    }
  }

  static void AddCounts(const Snapshot& snapshot, v1::ControllerStatusResponse& response) {
    std::map<model::Kind, uint32_t> counts;
    for (const auto& [key, resource] : snapshot.resources) ++counts[key.kind];
    for (const model::Kind kind : model::kAllKinds) {
      v1::KindCount& out = *response.add_counts();
      out.set_kind(static_cast<v1::ResourceKind>(kind));
      out.set_count(counts[kind]);
    }
  }

  const ApiContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeApiService(const ApiContext& context, rpc::MemoryBudget& memory) {
  return std::make_unique<ApiService>(context, memory);
}

}  // namespace kasane::controller
