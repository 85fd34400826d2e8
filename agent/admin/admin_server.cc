#include "agent/admin/admin_server.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "kasane/v1/agent.grpc.pb.h"

namespace kasane::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxMessageBytes = 1 << 20;  // A request; the largest holds one frame.
constexpr mode_t kSocketMode = 0660;

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), Message(status)};
}

template <typename Reply>
grpc::Status Answer(absl::StatusOr<Reply> result, Reply* reply) {
  if (!result.ok()) return ToGrpc(result.status());
  *reply = *std::move(result);
  return grpc::Status::OK;
}

class Service final : public v1::AgentService::Service {
 public:
  Service(inspect::AgentIdentity identity, AdminServer::SnapshotSource snapshot,
          AdminServer::NameSource datapath_name, AdminServer::AcceptStore accept_store,
          vswitch::Inspector& inspector)
      : identity_(std::move(identity)),
        snapshot_(std::move(snapshot)),
        datapath_name_(std::move(datapath_name)),
        accept_store_(std::move(accept_store)),
        inspector_(inspector) {}

  grpc::Status AgentStatus(grpc::ServerContext* /*context*/, const v1::AgentStatusRequest* /*request*/,
                           v1::AgentStatusResponse* reply) override {
    const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
    *reply = inspect::StatusReply(identity_, datapath_name_(), uptime, *snapshot_());
    return grpc::Status::OK;
  }

  grpc::Status ListPorts(grpc::ServerContext* /*context*/, const v1::ListPortsRequest* /*request*/,
                         v1::ListPortsResponse* reply) override {
    *reply = inspect::PortsReply(*snapshot_());
    return grpc::Status::OK;
  }

  grpc::Status ListTunnels(grpc::ServerContext* /*context*/, const v1::ListTunnelsRequest* /*request*/,
                           v1::ListTunnelsResponse* reply) override {
    *reply = inspect::TunnelsReply(*snapshot_());
    return grpc::Status::OK;
  }

  grpc::Status ListNetworks(grpc::ServerContext* /*context*/, const v1::ListNetworksRequest* /*request*/,
                            v1::ListNetworksResponse* reply) override {
    *reply = inspect::NetworksReply(*snapshot_());
    return grpc::Status::OK;
  }

  grpc::Status ListRouters(grpc::ServerContext* /*context*/, const v1::ListRoutersRequest* /*request*/,
                           v1::ListRoutersResponse* reply) override {
    *reply = inspect::RoutersReply(*snapshot_());
    return grpc::Status::OK;
  }

  grpc::Status ListFlows(grpc::ServerContext* /*context*/, const v1::ListFlowsRequest* request,
                         v1::ListFlowsResponse* reply) override {
    absl::StatusOr<std::vector<vswitch::InstalledEntry>> entries = inspector_.Dump();
    if (!entries.ok()) return ToGrpc(entries.status());
    return Answer(inspect::FlowsReply(*snapshot_(), *entries, request->owner()), reply);
  }

  grpc::Status ListTables(grpc::ServerContext* /*context*/, const v1::ListTablesRequest* request,
                          v1::ListTablesResponse* reply) override {
    return Answer(inspect::TablesReply(*snapshot_(), *request), reply);
  }

  grpc::Status ListDrops(grpc::ServerContext* /*context*/, const v1::ListDropsRequest* request,
                         v1::ListDropsResponse* reply) override {
    absl::StatusOr<std::vector<vswitch::InstalledEntry>> entries = inspector_.Dump();
    if (!entries.ok()) return ToGrpc(entries.status());
    return Answer(inspect::DropsReply(*snapshot_(), *entries, *request), reply);
  }

  grpc::Status CompareFlows(grpc::ServerContext* /*context*/, const v1::CompareFlowsRequest* /*request*/,
                            v1::CompareFlowsResponse* reply) override {
    absl::StatusOr<std::vector<vswitch::Discrepancy>> discrepancies = inspector_.Compare(*snapshot_()->view);
    if (!discrepancies.ok()) return ToGrpc(discrepancies.status());
    *reply = inspect::CompareReply(*discrepancies);
    return grpc::Status::OK;
  }

  grpc::Status Trace(grpc::ServerContext* /*context*/, const v1::TraceRequest* request,
                     v1::TraceResponse* reply) override {
    return Answer(TracedReply(*snapshot_(), *request), reply);
  }

  grpc::Status Resolve(grpc::ServerContext* /*context*/, const v1::ResolveRequest* request,
                       v1::ResolveResponse* reply) override {
    return Answer(ResolvedReply(*snapshot_(), *request), reply);
  }

  grpc::Status AcceptStore(grpc::ServerContext* /*context*/, const v1::AcceptStoreRequest* /*request*/,
                           v1::AcceptStoreResponse* /*reply*/) override {
    if (!snapshot_()->foreign_store) {
      return {grpc::StatusCode::FAILED_PRECONDITION,
              "there is nothing to accept: this agent has not refused the controller's database"};
    }
    accept_store_();
    return grpc::Status::OK;
  }

 private:
  const inspect::AgentIdentity identity_;
  const AdminServer::SnapshotSource snapshot_;
  const AdminServer::NameSource datapath_name_;
  const AdminServer::AcceptStore accept_store_;
  vswitch::Inspector& inspector_;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

class AdminServer::Impl {
 public:
  Impl(inspect::AgentIdentity identity, SnapshotSource snapshot, NameSource datapath_name,
       AcceptStore accept_store, vswitch::Inspector& inspector)
      : service_(std::move(identity), std::move(snapshot), std::move(datapath_name), std::move(accept_store),
                 inspector) {}

  ~Impl() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));  // gRPC removes the socket.
  }

  absl::Status Listen(const std::string& path) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    // gRPC offers no mode: the mask makes the socket come into being with it.
    const mode_t mask = umask(0777 & ~kSocketMode);
    server_ = builder.BuildAndStart();
    umask(mask);
    if (server_ != nullptr) return absl::OkStatus();
    return Error(absl::StatusCode::kUnavailable,
                 "admin socket {} cannot be bound: the directory must exist and be writable for this user",
                 path);
  }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(
    std::unique_ptr<AdminSocket> socket, inspect::AgentIdentity identity, SnapshotSource snapshot,
    NameSource datapath_name, AcceptStore accept_store, vswitch::Inspector& inspector) {
  auto impl = std::make_unique<Impl>(std::move(identity), std::move(snapshot), std::move(datapath_name),
                                     std::move(accept_store), inspector);
  RETURN_IF_ERROR(impl->Listen(socket->path()));
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

}  // namespace kasane::agent
