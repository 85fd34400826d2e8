#include "tests/lab/controller_client.h"

#include <grpcpp/grpcpp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <utility>

#include "base/status.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "model/fault_details.h"

namespace kasane::lab {
namespace {

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return Error(static_cast<absl::StatusCode>(status.error_code()), "controller: {}", status.error_message());
}

// A transaction that is refused for what is in it has the faults in the status's details.
template <typename Response>
absl::StatusOr<Transaction> TransactionOf(const grpc::Status& status, const Response& response) {
  Transaction transaction;
  transaction.faults = model::DecodeFaultDetails(status.error_details()).faults;
  if (transaction.faults.empty()) RETURN_IF_ERROR(FromGrpc(status));
  transaction.revision = response.revision().counter();
  return transaction;
}

void SetDeadline(grpc::ClientContext& context, std::chrono::milliseconds deadline) {
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  context.set_wait_for_ready(true);
}

// All pages.
absl::StatusOr<v1::ListResponse> ListAll(v1::ControllerService::Stub& stub, v1::ListRequest request,
                                         std::chrono::milliseconds deadline) {
  v1::ListResponse all;
  do {
    grpc::ClientContext context;
    SetDeadline(context, deadline);
    v1::ListResponse page;
    RETURN_IF_ERROR(FromGrpc(stub.List(&context, request, &page)));
    request.set_page_token(page.next_page_token());
    all.MergeFrom(page);
  } while (!request.page_token().empty());
  return all;
}

PortState StateOf(v1::PortStatus status) {
  switch (status) {
    case v1::PORT_STATUS_ACTIVE:
      return PortState::kActive;
    case v1::PORT_STATUS_BUILD:
      return PortState::kBuild;
    case v1::PORT_STATUS_DOWN:
    case v1::PORT_STATUS_NOT_APPLICABLE:
      return PortState::kDown;
    default:
      return PortState::kAbsent;
  }
}

PortProgress ProgressOf(const v1::ResourceWithStatus& resource) {
  PortProgress progress;
  progress.state = StateOf(resource.port_status());
  for (const v1::HostRejection& rejection : resource.rejections()) {
    for (const v1::Fault& fault : rejection.faults()) {
      progress.rejections.push_back(
          fmt::format("{}: {}: {}", rejection.host_id(), fault.path(), fault.message()));
    }
  }
  return progress;
}

}  // namespace

std::string_view Label(PortState state) {
  switch (state) {
    case PortState::kAbsent:
      return "absent";
    case PortState::kDown:
      return "DOWN";
    case PortState::kBuild:
      return "BUILD";
    case PortState::kActive:
      return "ACTIVE";
  }
  return "";
}

struct ControllerClient::Stubs {
  std::unique_ptr<v1::ControllerService::Stub> controller;
};

ControllerClient::ControllerClient(const std::string& endpoint) : stubs_(std::make_shared<Stubs>()) {
  grpc::ChannelArguments arguments;
  // The controller may still be starting; the channel must not sit out gRPC's long back-off then.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  stubs_->controller = v1::ControllerService::NewStub(
      grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments));
}

ControllerClient::~ControllerClient() = default;

absl::StatusOr<std::vector<model::Fault>> ControllerClient::Apply(const files::ResourceFile& file,
                                                                  std::chrono::milliseconds deadline) {
  ASSIGN_OR_RETURN(Transaction transaction, Apply({file.items.begin(), file.items.end()}, deadline));
  return std::move(transaction.faults);
}

absl::StatusOr<Transaction> ControllerClient::Apply(const std::vector<v1::ApplyItem>& items,
                                                    std::chrono::milliseconds deadline) {
  v1::ApplyRequest request;
  for (const v1::ApplyItem& item : items) *request.add_items() = item;
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  v1::ApplyResponse reply;
  const grpc::Status status = stubs_->controller->Apply(&context, request, &reply);
  return TransactionOf(status, reply);
}

absl::StatusOr<Transaction> ControllerClient::Delete(const std::vector<model::ResourceKey>& keys,
                                                     std::chrono::milliseconds deadline) {
  v1::DeleteRequest request;
  for (const model::ResourceKey& key : keys) *request.add_items()->mutable_key() = model::EncodeKey(key);
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  v1::DeleteResponse reply;
  const grpc::Status status = stubs_->controller->Delete(&context, request, &reply);
  return TransactionOf(status, reply);
}

absl::StatusOr<ControllerProgress> ControllerClient::Progress(std::chrono::milliseconds deadline) {
  ControllerProgress progress;
  ASSIGN_OR_RETURN(const v1::ListResponse reply, ListAll(*stubs_->controller, v1::ListRequest(), deadline));
  std::vector<model::Fault> ignored;
  for (const v1::ResourceWithStatus& resource : reply.resources()) {
    const auto decoded = Decode(resource.resource(), "", ignored);
    if (!decoded) continue;
    Upsert(progress.state, *decoded);
    const model::ResourceKey key = model::KeyOf(*decoded);
    progress.revisions[key] = resource.resource().revision().counter();
    if (key.kind == model::Kind::kPort) progress.ports[PortId(key.id)] = ProgressOf(resource);
  }
  ASSIGN_OR_RETURN(const std::vector<HostProgress> hosts, Hosts(deadline));
  for (const HostProgress& host : hosts) progress.hosts[HostId(host.id)] = host;
  return progress;
}

absl::StatusOr<std::vector<HostProgress>> ControllerClient::Hosts(std::chrono::milliseconds deadline) {
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  v1::ControllerStatusResponse reply;
  RETURN_IF_ERROR(
      FromGrpc(stubs_->controller->ControllerStatus(&context, v1::ControllerStatusRequest(), &reply)));
  std::vector<HostProgress> hosts;
  for (const v1::HostStatus& host : reply.hosts()) {
    hosts.push_back(
        {host.host_id(), host.connected(), host.ports(), host.active_ports(), host.applied().counter()});
  }
  return hosts;
}

absl::StatusOr<std::map<PortId, PortProgress>> ControllerClient::Ports(std::chrono::milliseconds deadline) {
  v1::ListRequest request;
  request.mutable_filter()->add_kinds(v1::RESOURCE_KIND_PORT);
  ASSIGN_OR_RETURN(const v1::ListResponse reply, ListAll(*stubs_->controller, request, deadline));
  std::map<PortId, PortProgress> ports;
  for (const v1::ResourceWithStatus& resource : reply.resources()) {
    ports[PortId(resource.resource().port().id())] = ProgressOf(resource);
  }
  return ports;
}

struct PortWatch::State {
  std::shared_ptr<ControllerClient::Stubs> stubs;
  grpc::ClientContext context;
  int fd = -1;
  std::thread reader;

  mutable std::mutex mutex;  // Guards what follows.
  std::map<PortId, PortProgress> ports;
  absl::Status status;

  void Signal() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof one);
  }

  void Read() {
    v1::WatchRequest request;
    request.mutable_filter()->add_kinds(v1::RESOURCE_KIND_PORT);
    auto stream = stubs->controller->Watch(&context, request);
    for (v1::WatchResponse event; stream->Read(&event);) {
      const std::lock_guard lock(mutex);
      if (event.has_upsert()) {
        ports[PortId(event.upsert().resource().port().id())] = ProgressOf(event.upsert());
      } else if (event.has_deleted()) {
        ports.erase(PortId(event.deleted().id()));
      }
      Signal();
    }
    const absl::Status end = FromGrpc(stream->Finish());
    const std::lock_guard lock(mutex);
    status = end.ok() ? absl::UnavailableError("controller: ended the watch") : end;
    Signal();
  }
};

PortWatch::PortWatch(const ControllerClient& client) : state_(std::make_unique<State>()) {
  state_->stubs = client.stubs_;
  state_->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  state_->context.set_wait_for_ready(true);
  state_->reader = std::thread([state = state_.get()] { state->Read(); });
}

PortWatch::~PortWatch() {
  state_->context.TryCancel();
  state_->reader.join();
  close(state_->fd);
}

int PortWatch::fd() const { return state_->fd; }

std::map<PortId, PortProgress> PortWatch::Take() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(state_->fd, &count, sizeof count);
  const std::lock_guard lock(state_->mutex);
  return state_->ports;
}

absl::Status PortWatch::status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}

}  // namespace kasane::lab
