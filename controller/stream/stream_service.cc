#include "controller/stream/stream_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "base/log.h"
#include "controller/store/admit_host.h"
#include "controller/store/claims.h"
#include "controller/stream/host_sync.h"
#include "controller/validate/limits.h"
#include "kasane/v1/state.grpc.pb.h"
#include "model/protocol.h"
#include "rpc/bounded_service.h"
#include "rpc/call_deadline.h"

namespace kasane::controller {
namespace {

constexpr auto kHelloPatience = std::chrono::seconds(10);
constexpr auto kGoodbyePatience = std::chrono::seconds(5);  // To send why a stream is ended.
constexpr size_t kMaxInstanceId = 64;
constexpr size_t kMaxVersionText = 64;
constexpr int kMaxCapabilities = 64;
constexpr size_t kMaxCapabilityText = 64;
constexpr int kMaxFaultsKept = 64;  // Of one verdict.

using Stream = rpc::BytesStream<v1::StreamResponse>;

// A Hello, decoded.
struct Greeting {
  std::shared_ptr<const model::Host> host;  // With the addresses that it announces.
  std::string instance_id;
  std::string agent_version;
  uint32_t protocol_version = 0;  // The newest that both sides speak.
  std::vector<std::string> capabilities;
  std::map<model::ResourceKey, model::Revision> held;
};

// An agent of before the range said one version.
absl::StatusOr<uint32_t> ChooseVersion(const v1::Hello& hello) {
  const uint32_t oldest = hello.protocol_version();
  const uint32_t newest = hello.max_protocol_version() == 0 ? oldest : hello.max_protocol_version();
  constexpr model::ProtocolRange kOurs = model::kSpokenProtocols;
  const uint32_t chosen = std::min(newest, kOurs.newest);
  if (oldest >= 1 && oldest <= newest && chosen >= std::max(oldest, kOurs.oldest)) return chosen;
  return Error(
      absl::StatusCode::kFailedPrecondition,
      "the agent speaks versions {} to {} of the state protocol, this controller {} to {}; upgrade the {}",
      oldest, newest, kOurs.oldest, kOurs.newest, newest < kOurs.oldest ? "agent" : "controller");
}

absl::StatusOr<std::vector<std::string>> DecodeCapabilities(const v1::Hello& hello) {
  if (hello.capabilities_size() > kMaxCapabilities) {
    return Invalid("hello.capabilities: {} of them; at most {} are taken", hello.capabilities_size(),
                   kMaxCapabilities);
  }
  std::vector<std::string> capabilities;
  for (const std::string& capability : hello.capabilities()) {
    if (capability.size() > kMaxCapabilityText)
      return Invalid("hello.capabilities: one has more than {} bytes", kMaxCapabilityText);
    capabilities.push_back(capability);
  }
  return capabilities;
}

absl::StatusOr<std::shared_ptr<const model::Host>> DecodeAnnouncedHost(const v1::Hello& hello) {
  v1::Resource resource;
  resource.mutable_host()->set_id(hello.host_id());
  *resource.mutable_host()->mutable_tunnel_addresses() = hello.tunnel_addresses();
  std::vector<model::Fault> faults;
  const std::optional<model::AnyResource> decoded = Decode(resource, "hello", faults);
  if (decoded) return std::get<std::shared_ptr<const model::Host>>(*decoded);
  std::string text;
  for (const model::Fault& fault : faults) text += (text.empty() ? "" : "; ") + ToString(fault);
  return Invalid("{}", text);
}

absl::StatusOr<Greeting> DecodeHello(const v1::Hello& hello) {
  Greeting greeting;
  ASSIGN_OR_RETURN(greeting.protocol_version, ChooseVersion(hello));
  ASSIGN_OR_RETURN(greeting.capabilities, DecodeCapabilities(hello));
  ASSIGN_OR_RETURN(greeting.host, DecodeAnnouncedHost(hello));
  if (hello.instance_id().empty() || hello.instance_id().size() > kMaxInstanceId) {
    return Invalid("hello.instance_id: must have 1 to {} bytes", kMaxInstanceId);
  }
  greeting.instance_id = hello.instance_id();
  greeting.agent_version = hello.agent_version().substr(0, kMaxVersionText);
  for (int i = 0; i < hello.held_size(); ++i) {
    const std::optional<model::ResourceKey> key = model::DecodeKey(hello.held(i).key());
    if (!key) return Invalid("hello.held[{}].key: names no kind or no id", i);
    greeting.held[*key] = model::DecodeRevision(hello.held(i).revision());
  }
  return greeting;
}

// One call, from Hello to its end.
class AgentCall {
 public:
  AgentCall(const StreamContext& context, HostAdmission& admission, rpc::MemoryBudget& memory,
            grpc::ServerContext* call, Stream* stream)
      : context_(context), admission_(admission), memory_(memory), call_(call), stream_(stream), guard_(call) {}

  ~AgentCall() {
    if (session_ != nullptr) context_.registry.Disconnect(session_);
  }

  absl::Status Run() {
    absl::Status status = Begin();
    if (!status.ok()) {
      log::Warning("agent refused", {{"peer", call_->peer()}, {"reason", Message(status)}});
      return status;
    }
    log::Info("agent connected", {{"host", session_->host.str()},
                                  {"peer", session_->peer},
                                  {"version", session_->agent_version},
                                  {"protocol", std::to_string(session_->protocol_version)},
                                  {"held", std::to_string(held_.size())}});
    status = Serve();
    log::Info("agent disconnected", {{"host", session_->host.str()}, {"reason", Message(status)}});
    return status;
  }

 private:
  absl::Status Begin() {
    ASSIGN_OR_RETURN(Greeting greeting, ReadHello());
    HostSession session;
    session.host = greeting.host->id;
    session.instance_id = greeting.instance_id;
    session.peer = call_->peer();
    session.agent_version = greeting.agent_version;
    session.protocol_version = greeting.protocol_version;
    session.capabilities = greeting.capabilities;
    session.cancel = [canceller = guard_.canceller()] { canceller->Cancel(); };
    ASSIGN_OR_RETURN(session_, context_.registry.Connect(std::move(session)));
    held_ = std::move(greeting.held);
    return admission_.Admit(*greeting.host);
  }

  absl::StatusOr<Greeting> ReadHello() {
    const rpc::CallDeadline deadline(guard_, kHelloPatience);
    grpc::ByteBuffer bytes;
    if (!stream_->Read(&bytes)) return Error(absl::StatusCode::kCancelled, "it ended before its Hello");
    v1::StreamRequest message;
    ASSIGN_OR_RETURN(const auto lease, rpc::ParseInto(bytes, kAgentLimits, memory_, message));
    if (!message.has_hello()) return Invalid("the first message must be Hello");
    return DecodeHello(message.hello());
  }

  absl::Status Serve() {
    std::jthread writer([this](std::stop_token stop) { WriteAll(std::move(stop)); });
    absl::Status status = ReadReports();
    writer.request_stop();
    std::optional<rpc::CallDeadline> goodbye;
    if (status.code() == absl::StatusCode::kCancelled) {
      guard_.canceller()->Cancel();  // Frees a writer that is blocked.
    } else {
      goodbye.emplace(guard_, kGoodbyePatience);
    }
    writer.join();
    return status;
  }

  // ---- the reading thread

  absl::Status ReadReports() {
    grpc::ByteBuffer bytes;
    while (stream_->Read(&bytes)) {
      v1::StreamRequest message;
      ASSIGN_OR_RETURN(const auto lease, rpc::ParseInto(bytes, kAgentLimits, memory_, message));
      if (!message.has_report())
        return Invalid("after Hello only reports are taken; say Hello on a new stream");
      if (message.report().verdicts_size() != 0) TakeVerdicts(message.report());
      if (message.report().observed_size() != 0) TakeObservedClaims(message.report());
      if (message.report().has_applied()) TakeApplied(message.report().applied());
    }
    return Error(absl::StatusCode::kCancelled, "the stream ended");
  }

  void TakeVerdicts(const v1::Report& report) {
    std::vector<HostVerdict> verdicts;
    for (const v1::Verdict& verdict : report.verdicts()) {
      const std::optional<model::ResourceKey> key = model::DecodeKey(verdict.key());
      if (!key) continue;
      HostVerdict decoded{*key, model::DecodeRevision(verdict.revision()), {}};
      for (int i = 0; i < std::min(verdict.faults_size(), kMaxFaultsKept); ++i) {
        decoded.faults.push_back({verdict.faults(i).path(), verdict.faults(i).message()});
      }
      if (!decoded.faults.empty()) {
        log::Warning("host rejects a resource", {{"host", session_->host.str()},
                                                 {"resource", ToString(*key)},
                                                 {"revision", std::to_string(decoded.revision.counter)},
                                                 {"faults", std::to_string(verdict.faults_size())},
                                                 {"first", ToString(decoded.faults.front())}});
      }
      verdicts.push_back(std::move(decoded));
    }
    context_.registry.ReportVerdicts(*session_, verdicts);
  }

  void TakeObservedClaims(const v1::Report& report) {
    const absl::Status status = TakeObserved(context_.hub, session_->host, report);
    if (!status.ok()) {
      log::Warning("claims of a host are not stored",
                   {{"host", session_->host.str()}, {"why", Message(status)}});
    }
  }

  void TakeApplied(const v1::Applied& applied) {
    const model::Revision revision = model::DecodeRevision(applied.revision());
    const std::vector<std::string>& timelines = context_.hub.store().timelines();
    if (std::find(timelines.begin(), timelines.end(), revision.timeline) == timelines.end()) {
      log::Warning("host applied a revision of another store; ignored",
                   {{"host", session_->host.str()}, {"timeline", revision.timeline}});
      return;
    }
    HostApplied decoded{revision, {}, {}};
    for (const std::string& id : applied.active_ports()) decoded.active_ports.emplace_back(id);
    for (const std::string& id : applied.down_ports()) decoded.down_ports.emplace_back(id);
    const std::vector<PortId> changed =
        context_.registry.ReportApplied(*session_, *context_.hub.snapshot(), decoded);
    log::Debug("host applied", {{"host", session_->host.str()},
                                {"revision", std::to_string(revision.counter)},
                                {"ports_changed", std::to_string(changed.size())}});
    if (!changed.empty()) context_.on_port_status(changed);
  }

  // ---- the writing thread

  void WriteAll(std::stop_token stop) {
    HostSync sync(session_->host, InParts());
    std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    if (!WriteFirst(sync, snapshot)) return;
    uint64_t counter = snapshot->revision.counter;
    while ((snapshot = context_.hub.WaitNewer(counter, stop)) != nullptr) {
      std::vector<v1::Batch> batches = sync.Next(snapshot, context_.hub.TouchedSince(counter));
      counter = snapshot->revision.counter;
      for (v1::Batch& batch : batches) {
        if (!WriteBatch(std::move(batch))) return;
      }
    }
  }

  bool InParts() const {
    const std::vector<std::string>& capabilities = session_->capabilities;
    return std::find(capabilities.begin(), capabilities.end(), model::kBatchParts) != capabilities.end();
  }

  bool WriteFirst(HostSync& sync, const std::shared_ptr<const Snapshot>& snapshot) {
    v1::StreamResponse message;
    v1::Welcome& welcome = *message.mutable_welcome();
    welcome.set_store_id(context_.hub.store().store_id());
    for (const std::string& timeline : context_.hub.store().timelines()) welcome.add_timelines(timeline);
    *welcome.mutable_current() = model::EncodeRevision(snapshot->revision);
    if (session_->protocol_version >= model::kProtocolWithRange) {
      welcome.set_protocol_version(session_->protocol_version);
      welcome.add_capabilities(model::kBatchParts);
    }
    if (!stream_->Write(message)) return false;
    for (v1::Batch& batch : sync.Start(snapshot, held_)) {
      if (!WriteBatch(std::move(batch))) return false;
    }
    held_.clear();
    *message.mutable_sync_complete()->mutable_revision() = model::EncodeRevision(snapshot->revision);
    return stream_->Write(message);
  }

  bool WriteBatch(v1::Batch batch) {
    std::vector<model::ResourceKey> deleted;
    for (const v1::ResourceKey& key : batch.deletes()) deleted.push_back(*model::DecodeKey(key));
    context_.registry.Forget(session_->host, deleted);
    v1::StreamResponse message;
    *message.mutable_batch() = std::move(batch);
    return stream_->Write(message);
  }

  const StreamContext& context_;
  HostAdmission& admission_;
  rpc::MemoryBudget& memory_;
  grpc::ServerContext* call_;
  Stream* stream_;
  const rpc::CallGuard guard_;
  std::shared_ptr<HostSession> session_;
  std::map<model::ResourceKey, model::Revision> held_;  // The writer's, once it runs.
};

const google::protobuf::ServiceDescriptor& Descriptor() {
  return *v1::StreamRequest::descriptor()->file()->FindServiceByName("NetworkStateService");
}

class StreamService final : public rpc::BoundedService<v1::NetworkStateService::Service> {
 public:
  StreamService(StreamContext context, rpc::MemoryBudget& memory)
      : BoundedService(Descriptor(), memory), context_(std::move(context)), admission_(context_.hub) {
    Streaming<v1::StreamResponse>("Stream", [this](grpc::ServerContext& call, controller::Stream& stream) {
      return AgentCall(context_, admission_, budget(), &call, &stream).Run();
    });
  }

 private:
  const StreamContext context_;
  HostAdmission admission_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeStreamService(StreamContext context, rpc::MemoryBudget& memory) {
  return std::make_unique<StreamService>(std::move(context), memory);
}

}  // namespace kasane::controller
