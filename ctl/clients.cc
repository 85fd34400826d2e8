#include "ctl/clients.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "base/ip_address.h"
#include "base/status.h"
#include "kasane/v1/agent.grpc.pb.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "model/fault_details.h"
#include "rpc/status.h"

namespace kasane::ctl {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& target) {
  grpc::ChannelArguments arguments;
  // A proxy for the web has no business between an operator and the controller.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

void SetDeadline(grpc::ClientContext& context, double seconds) {
  const auto span =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  context.set_deadline(std::chrono::system_clock::now() + span);
}

// One unary call. Codes of gRPC and absl are the same numbers.
template <typename Reply, typename Stub, typename Request>
absl::StatusOr<Reply> Call(Stub& stub,
                           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                           const Request& request, double timeout_seconds) {
  grpc::ClientContext context;
  SetDeadline(context, timeout_seconds);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (status.ok()) return reply;
  return rpc::FromRpc(status);
}

// gRPC wraps the reason in text of its own: "...; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect
// to remote host: Connection refused".
std::string_view LastReason(std::string_view message) {
  const size_t colon = message.rfind(": ");
  return colon == std::string_view::npos ? message : message.substr(colon + 2);
}

absl::Status ExplainController(const absl::Status& status, const Globals& globals) {
  const std::string& address = globals.controller;
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return Error(status.code(),
                   "no controller at {}: {}; is kasane-controller running there? --controller names another",
                   address, LastReason(Std(status.message())));
    case absl::StatusCode::kDeadlineExceeded:
      return Error(status.code(),
                   "the controller at {} did not answer within {} s; is it overloaded or the network cut? "
                   "--timeout waits longer",
                   address, globals.timeout_seconds);
    case absl::StatusCode::kUnimplemented:
      return Error(status.code(), "{} does not offer this call; is it a kasane-controller of this version?",
                   address);
    default:
      if (!rpc::DetailsOf(status).empty()) return status;
      return Annotate(status, fmt::format("controller {}", address));
  }
}

absl::Status ExplainAgent(const absl::Status& status, const Globals& globals) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return Error(status.code(), "{}", DiagnoseSocket(globals.agent));
    case absl::StatusCode::kDeadlineExceeded:
      return Error(status.code(), "the agent at {} did not answer within {} s; --timeout waits longer",
                   globals.agent, globals.timeout_seconds);
    case absl::StatusCode::kUnimplemented:
      return Error(status.code(), "the agent at {} does not offer this call; is it of this version?",
                   globals.agent);
    default:
      return Annotate(status, "agent");
  }
}

}  // namespace

absl::StatusOr<std::string> ControllerTarget(const std::string& address, bool insecure) {
  const size_t colon = address.rfind(':');
  uint16_t port = 0;
  if (colon == std::string::npos || colon == 0) {
    return Invalid("controller '{}' is not HOST:PORT such as 127.0.0.1:6650", address);
  }
  const char* end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end || port == 0) {
    return Invalid("controller '{}' has no port 1 to 65535 behind the last ':'", address);
  }
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const auto ip = IpAddress::Parse(host);
  if (!ip.ok() && host.find(':') != std::string::npos) {
    return Invalid("controller '{}' is not HOST:PORT; write an IPv6 address in brackets, as in [::1]:6650",
                   address);
  }
  const bool loopback = ip.ok() ? ip->IsLoopback() : host == "localhost";
  if (!loopback && !insecure) {
    return Invalid(
        "controller {} is not on this machine, and the connection would neither be encrypted nor "
        "authenticated: "
        "anyone on the way could read and change the network state; --insecure allows it",
        address);
  }
  if (!ip.ok()) return fmt::format("dns:///{}:{}", host, port);
  return ip->is_v4() ? fmt::format("ipv4:{}:{}", *ip, port) : fmt::format("ipv6:[{}]:{}", *ip, port);
}

std::string DiagnoseSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fmt::format("the agent's socket path {} is too long: at most {} bytes", path,
                       sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int error = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  close(fd);
  switch (error) {
    case 0:
      return fmt::format("the agent at {} broke the connection; see its log", path);
    case ENOENT:
      return fmt::format("no agent at {}: there is no such socket; is kasaned running? --agent names another",
                         path);
    case ECONNREFUSED:
      return fmt::format("no agent at {}: nobody listens on the socket; start kasaned again", path);
    case EACCES:
      return fmt::format("no access to {}: permission denied; run as root or as a member of the socket's group",
                         path);
    default:
      return fmt::format("no agent at {}: {}", path, std::strerror(error));
  }
}

// ---- controller

struct ControllerClient::Impl {
  Globals globals;
  std::unique_ptr<v1::ControllerService::Stub> stub;

  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Do(grpc::Status (v1::ControllerService::Stub::*method)(grpc::ClientContext*,
                                                                               const Request&, Reply*),
                           const Request& request) {
    absl::StatusOr<Reply> reply = Call<Reply>(*stub, method, request, globals.timeout_seconds);
    if (!reply.ok()) return ExplainController(reply.status(), globals);
    return reply;
  }
};

namespace {

// What the controller takes in one Apply, with room to spare; more goes by Import.
constexpr int kMaxItemsOfApply = 5'000;
constexpr size_t kMaxBytesOfApply = size_t{2} << 20;
constexpr int kItemsPerPart = 1'000;
constexpr size_t kBytesPerPart = size_t{1} << 20;
constexpr double kImportSeconds = 300;

// A response with the faults that `status` tells of, or the status if it tells of none. Of many it tells the
// first only: `ask_all`, a dry run, tells all.
template <typename Response, typename AskAll>
absl::StatusOr<Response> WithFaults(const absl::Status& status, AskAll ask_all) {
  const model::FaultDetails details = model::DecodeFaultDetails(rpc::DetailsOf(status));
  if (details.faults.empty()) return status;
  if (details.total > details.faults.size()) {
    absl::StatusOr<Response> all = ask_all();
    if (!all.ok() || !all->faults().empty()) return all;
  }
  Response response;
  for (const model::Fault& fault : details.faults) {
    v1::Fault& out = *response.add_faults();
    out.set_path(fault.path);
    out.set_message(fault.message);
  }
  response.set_faults_omitted(static_cast<uint32_t>(details.total - details.faults.size()));
  return response;
}

}  // namespace

ControllerClient::ControllerClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControllerClient::ControllerClient(ControllerClient&&) noexcept = default;
ControllerClient& ControllerClient::operator=(ControllerClient&&) noexcept = default;
ControllerClient::~ControllerClient() = default;

absl::StatusOr<ControllerClient> ControllerClient::Dial(const Globals& globals) {
  ASSIGN_OR_RETURN(const std::string target, ControllerTarget(globals.controller, globals.insecure));
  auto impl = std::make_unique<Impl>();
  impl->globals = globals;
  impl->stub = v1::ControllerService::NewStub(Connect(target));
  return ControllerClient(std::move(impl));
}

absl::StatusOr<v1::ApplyResponse> ControllerClient::Apply(const v1::ApplyRequest& request) {
  const bool large = request.items_size() > kMaxItemsOfApply || request.ByteSizeLong() > kMaxBytesOfApply;
  auto response = large ? Import(request) : impl_->Do(&v1::ControllerService::Stub::Apply, request);
  if (response.ok() || request.options().dry_run()) return response;
  return WithFaults<v1::ApplyResponse>(response.status(), [&] {
    v1::ApplyRequest dry = request;
    dry.mutable_options()->set_dry_run(true);
    return Apply(dry);
  });
}

absl::StatusOr<v1::DeleteResponse> ControllerClient::Delete(const v1::DeleteRequest& request) {
  auto response = impl_->Do(&v1::ControllerService::Stub::Delete, request);
  if (response.ok() || request.dry_run()) return response;
  return WithFaults<v1::DeleteResponse>(response.status(), [&] {
    v1::DeleteRequest dry = request;
    dry.set_dry_run(true);
    return Delete(dry);
  });
}

absl::StatusOr<v1::ApplyResponse> ControllerClient::Import(const v1::ApplyRequest& request) {
  grpc::ClientContext context;
  SetDeadline(context, std::max(impl_->globals.timeout_seconds, kImportSeconds));
  const auto stream = impl_->stub->Import(&context);
  v1::ImportRequest part;
  *part.mutable_options() = request.options();
  size_t bytes = 0;
  bool open = true;
  for (const v1::ApplyItem& item : request.items()) {
    bytes += item.ByteSizeLong();
    *part.add_items() = item;
    if (part.items_size() < kItemsPerPart && bytes < kBytesPerPart) continue;
    open = stream->Write(part);
    if (!open) break;  // The controller has refused it already.
    part.Clear();
    bytes = 0;
  }
  part.set_last(true);
  if (open) stream->Write(part);
  stream->WritesDone();
  v1::ApplyResponse response;
  v1::ImportResponse answer;
  while (stream->Read(&answer)) response.MergeFrom(answer.result());
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return ExplainController(rpc::FromRpc(status), impl_->globals);
  return response;
}

absl::StatusOr<v1::ListResponse> ControllerClient::List(const v1::ListRequest& request) {
  v1::ListResponse all;
  v1::ListRequest next = request;
  do {
    ASSIGN_OR_RETURN(v1::ListResponse page, impl_->Do(&v1::ControllerService::Stub::List, next));
    *next.mutable_page_token() = std::move(*page.mutable_next_page_token());
    page.clear_next_page_token();
    all.MergeFrom(page);
  } while (!next.page_token().empty());
  return all;
}
absl::StatusOr<v1::ControllerStatusResponse> ControllerClient::Status() {
  return impl_->Do(&v1::ControllerService::Stub::ControllerStatus, v1::ControllerStatusRequest());
}

absl::Status ControllerClient::Watch(const v1::WatchRequest& request,
                                     const std::function<void(const v1::WatchResponse&)>& on_event) {
  grpc::ClientContext context;
  const auto reader = impl_->stub->Watch(&context, request);
  v1::WatchResponse event;
  while (reader->Read(&event)) on_event(event);
  const grpc::Status status = reader->Finish();
  if (status.ok())
    return Error(absl::StatusCode::kUnavailable, "the controller at {} ended the watch",
                 impl_->globals.controller);
  return ExplainController(rpc::FromRpc(status), impl_->globals);
}

// ---- agent

struct AgentClient::Impl {
  Globals globals;
  std::unique_ptr<v1::AgentService::Stub> stub;

  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Do(grpc::Status (v1::AgentService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                          Reply*),
                           const Request& request) {
    absl::StatusOr<Reply> reply = Call<Reply>(*stub, method, request, globals.timeout_seconds);
    if (!reply.ok()) return ExplainAgent(reply.status(), globals);
    return reply;
  }
};

AgentClient::AgentClient(const Globals& globals) : impl_(std::make_unique<Impl>()) {
  impl_->globals = globals;
  impl_->stub = v1::AgentService::NewStub(Connect("unix:" + globals.agent));
}
AgentClient::AgentClient(AgentClient&&) noexcept = default;
AgentClient& AgentClient::operator=(AgentClient&&) noexcept = default;
AgentClient::~AgentClient() = default;

absl::StatusOr<v1::AgentStatusResponse> AgentClient::Status() {
  return impl_->Do(&v1::AgentService::Stub::AgentStatus, v1::AgentStatusRequest());
}
absl::StatusOr<v1::ListPortsResponse> AgentClient::ListPorts() {
  return impl_->Do(&v1::AgentService::Stub::ListPorts, v1::ListPortsRequest());
}
absl::StatusOr<v1::ListTunnelsResponse> AgentClient::ListTunnels() {
  return impl_->Do(&v1::AgentService::Stub::ListTunnels, v1::ListTunnelsRequest());
}
absl::StatusOr<v1::ListNetworksResponse> AgentClient::ListNetworks() {
  return impl_->Do(&v1::AgentService::Stub::ListNetworks, v1::ListNetworksRequest());
}
absl::StatusOr<v1::ListRoutersResponse> AgentClient::ListRouters() {
  return impl_->Do(&v1::AgentService::Stub::ListRouters, v1::ListRoutersRequest());
}
absl::StatusOr<v1::ListFlowsResponse> AgentClient::ListFlows(const v1::ListFlowsRequest& request) {
  return impl_->Do(&v1::AgentService::Stub::ListFlows, request);
}
absl::StatusOr<v1::ListTablesResponse> AgentClient::ListTables(const v1::ListTablesRequest& request) {
  return impl_->Do(&v1::AgentService::Stub::ListTables, request);
}
absl::StatusOr<v1::ListDropsResponse> AgentClient::ListDrops(const v1::ListDropsRequest& request) {
  return impl_->Do(&v1::AgentService::Stub::ListDrops, request);
}
absl::StatusOr<v1::CompareFlowsResponse> AgentClient::CompareFlows() {
  return impl_->Do(&v1::AgentService::Stub::CompareFlows, v1::CompareFlowsRequest());
}
absl::StatusOr<v1::TraceResponse> AgentClient::Trace(const v1::TraceRequest& request) {
  return impl_->Do(&v1::AgentService::Stub::Trace, request);
}
absl::StatusOr<v1::AcceptStoreResponse> AgentClient::AcceptStore() {
  return impl_->Do(&v1::AgentService::Stub::AcceptStore, v1::AcceptStoreRequest());
}
absl::StatusOr<v1::ResolveResponse> AgentClient::Resolve(const v1::ResolveRequest& request) {
  return impl_->Do(&v1::AgentService::Stub::Resolve, request);
}

}  // namespace kasane::ctl
