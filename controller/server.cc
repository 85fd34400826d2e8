#include "controller/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "controller/api/api_service.h"
#include "controller/api/watch_hub.h"
#include "controller/store/state_hub.h"
#include "controller/store/store.h"
#include "controller/stream/host_registry.h"
#include "controller/stream/port_fact_writer.h"
#include "controller/stream/stream_service.h"
#include "controller/validate/limits.h"

namespace kasane::controller {
namespace {

constexpr auto kFactWindow = std::chrono::milliseconds(200);
constexpr int kKeepaliveMs = 10'000;         // A peer that is silent for so long is asked whether it lives,
constexpr int kKeepaliveTimeoutMs = 10'000;  // and taken for dead after so long without an answer.
constexpr int kMinPeerPingMs = 5'000;        // Agents ask every 10 s; refuse only those that ask all the time.

}  // namespace

class ControllerServer::Impl {
 public:
  Impl(std::unique_ptr<Store> store, std::unique_ptr<StateHub> hub, const std::vector<PortFact>& facts)
      : store_(std::move(store)),
        hub_(std::move(hub)),
        registry_(facts),
        watch_hub_(*hub_, registry_),
        fact_writer_(registry_, *store_, kFactWindow),
        request_memory_(kRequestMemory),
        api_service_(MakeApiService({*hub_, registry_, watch_hub_}, request_memory_)),
        stream_service_(MakeStreamService(
            {*hub_, registry_, [this](const std::vector<PortId>& ports) { watch_hub_.OnPortStatus(ports); }},
            request_memory_)) {
    hub_->AddObserver(&registry_);
    hub_->AddObserver(&watch_hub_);
  }

  ~Impl() {
    if (server_ == nullptr) return;
    watch_hub_.Stop();
    registry_.CancelAll();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    server_->Wait();
  }

  absl::Status Listen(const rpc::ListenAddress& listen) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(listen.ToString(), grpc::InsecureServerCredentials(), &port);
    SetLimits(builder);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // Two controllers must not share a port.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPeerPingMs);
    builder.RegisterService(api_service_.get());
    builder.RegisterService(stream_service_.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      RETURN_IF_ERROR(rpc::TryListen(listen));
      return Error(absl::StatusCode::kUnavailable, "cannot listen on {}", listen.ToString());
    }
    address_ = {listen.ip, static_cast<uint16_t>(port)};
    return absl::OkStatus();
  }

  static void SetLimits(grpc::ServerBuilder& builder) {
    builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
    grpc::ResourceQuota quota("kasane-controller");
    quota.Resize(kTransportMemory);
    quota.SetMaxThreads(kMaxThreads);
    builder.SetResourceQuota(quota);
  }

  void LogStart(const std::string& store) const {
    const std::shared_ptr<const Snapshot> snapshot = hub_->snapshot();
    log::Info("listening", {{"address", address_.ToString()},
                            {"store", store},
                            {"store_id", store_->store_id()},
                            {"timeline", store_->timelines().back()},
                            {"counter", std::to_string(snapshot->revision.counter)},
                            {"resources", std::to_string(snapshot->resources.size())}});
  }

  const rpc::ListenAddress& address() const { return address_; }

 private:
  // In the order of use: each refers to those before it.
  std::unique_ptr<Store> store_;
  std::unique_ptr<StateHub> hub_;
  HostRegistry registry_;
  WatchHub watch_hub_;
  PortFactWriter fact_writer_;
  rpc::MemoryBudget request_memory_;
  std::unique_ptr<grpc::Service> api_service_;
  std::unique_ptr<grpc::Service> stream_service_;
  std::unique_ptr<grpc::Server> server_;
  rpc::ListenAddress address_;
};

ControllerServer::ControllerServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControllerServer::~ControllerServer() = default;

absl::StatusOr<std::unique_ptr<ControllerServer>> ControllerServer::Start(const rpc::ListenAddress& listen,
                                                                          const std::string& path) {
  RETURN_IF_ERROR(rpc::TryListen(listen));
  ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open(path));
  ASSIGN_OR_RETURN(StoreContents contents, store->Load());
  ASSIGN_OR_RETURN(std::unique_ptr<StateHub> hub,
                   StateHub::Load(*store, contents.counter, std::move(contents.resources)));
  auto impl = std::make_unique<Impl>(std::move(store), std::move(hub), contents.port_facts);
  RETURN_IF_ERROR(impl->Listen(listen));
  impl->LogStart(path);
  return std::unique_ptr<ControllerServer>(new ControllerServer(std::move(impl)));
}

const rpc::ListenAddress& ControllerServer::address() const { return impl_->address(); }

}  // namespace kasane::controller
