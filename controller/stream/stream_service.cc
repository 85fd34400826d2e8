#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "controller/api/services.h"
#include "controller/store/transactions.h"
#include "controller/stream/claims.h"
#include "controller/stream/host_sync.h"
#include "kasane/v1/state.grpc.pb.h"
#include "rpc/status.h"

namespace kasane::controller {
namespace {

constexpr auto kHelloPatience = std::chrono::seconds(10);
constexpr auto kGoodbyePatience = std::chrono::seconds(5);  // To send why a stream is ended.
constexpr int kMaxHeld = 1'000'000;
constexpr size_t kMaxInstanceId = 64;
constexpr size_t kMaxVersionText = 64;
constexpr int kMaxFaultsKept = 64;  // Of one verdict.

using Stream = grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>;

// Cancels a call from any thread, and no longer than it lives.
class Canceller {
 public:
  explicit Canceller(grpc::ServerContext* call) : call_(call) {}

  void Cancel() {
    const std::lock_guard lock(mutex_);
    if (call_ != nullptr) call_->TryCancel();
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    call_ = nullptr;
  }

 private:
  std::mutex mutex_;
  grpc::ServerContext* call_;
};

// Cancels a call unless it is destroyed within the time.
class Deadline {
 public:
  Deadline(std::shared_ptr<Canceller> canceller, std::chrono::seconds patience) {
    alarm_.Set(std::chrono::system_clock::now() + patience, [canceller = std::move(canceller)](bool expired) {
      if (expired) canceller->Cancel();
    });
  }

 private:
  grpc::Alarm alarm_;
};

// A Hello, decoded.
struct Greeting {
  std::shared_ptr<const model::Host> host;  // With the addresses that it announces.
  std::string instance_id;
  std::string agent_version;
  std::map<model::ResourceKey, model::Revision> held;
};

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
  if (hello.protocol_version() != model::kProtocolVersion) {
    return Error(
        absl::StatusCode::kFailedPrecondition,
        "the agent speaks version {} of the state protocol, this controller version {}; install matching "
        "versions",
        hello.protocol_version(), model::kProtocolVersion);
  }
  Greeting greeting;
  ASSIGN_OR_RETURN(greeting.host, DecodeAnnouncedHost(hello));
  if (hello.instance_id().empty() || hello.instance_id().size() > kMaxInstanceId) {
    return Invalid("hello.instance_id: must have 1 to {} bytes", kMaxInstanceId);
  }
  greeting.instance_id = hello.instance_id();
  greeting.agent_version = hello.agent_version().substr(0, kMaxVersionText);
  if (hello.held_size() > kMaxHeld) {
    return Invalid("hello.held: {} resources; at most {} are taken", hello.held_size(), kMaxHeld);
  }
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
  AgentCall(const ServiceContext& context, grpc::ServerContext* call, Stream* stream)
      : context_(context), call_(call), stream_(stream), canceller_(std::make_shared<Canceller>(call)) {}

  ~AgentCall() {
    if (session_ != nullptr) context_.registry.Disconnect(session_);
    canceller_->Release();
  }

  grpc::Status Run() {
    absl::Status status = Begin();
    if (!status.ok()) {
      log::Warning("agent refused", {{"peer", call_->peer()}, {"reason", Message(status)}});
      return rpc::ToRpc(status);
    }
    log::Info("agent connected", {{"host", session_->host.str()},
                                  {"peer", session_->peer},
                                  {"version", session_->agent_version},
                                  {"held", std::to_string(held_.size())}});
    status = Serve();
    log::Info("agent disconnected", {{"host", session_->host.str()}, {"reason", Message(status)}});
    return rpc::ToRpc(status);
  }

 private:
  absl::Status Begin() {
    ASSIGN_OR_RETURN(const v1::Hello hello, ReadHello());
    ASSIGN_OR_RETURN(Greeting greeting, DecodeHello(hello));
    ASSIGN_OR_RETURN(session_, context_.registry.Connect({greeting.host->id, greeting.instance_id,
                                                          call_->peer(), greeting.agent_version, "",
                                                          [canceller = canceller_] { canceller->Cancel(); }}));
    held_ = std::move(greeting.held);
    return AdmitHost(context_.hub, *greeting.host);
  }

  absl::StatusOr<v1::Hello> ReadHello() {
    const Deadline deadline(canceller_, kHelloPatience);
    v1::StreamRequest message;
    if (!stream_->Read(&message)) return Error(absl::StatusCode::kCancelled, "it ended before its Hello");
    if (!message.has_hello()) return Invalid("the first message must be Hello");
    return std::move(*message.mutable_hello());
  }

  absl::Status Serve() {
    std::jthread writer([this](std::stop_token stop) { WriteAll(std::move(stop)); });
    absl::Status status = ReadReports();
    writer.request_stop();
    std::optional<Deadline> goodbye;
    if (status.code() == absl::StatusCode::kCancelled) {
      canceller_->Cancel();  // Frees a writer that is blocked.
    } else {
      goodbye.emplace(canceller_, kGoodbyePatience);
    }
    writer.join();
    return status;
  }

  // ---- the reading thread

  absl::Status ReadReports() {
    v1::StreamRequest message;
    while (stream_->Read(&message)) {
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
    if (!changed.empty()) context_.watch_hub.OnPortStatus(changed);
  }

  // ---- the writing thread

  void WriteAll(std::stop_token stop) {
    HostSync sync(session_->host);
    std::shared_ptr<const Snapshot> snapshot = context_.hub.snapshot();
    if (!WriteFirst(sync, snapshot)) return;
    uint64_t counter = snapshot->revision.counter;
    while ((snapshot = context_.hub.WaitNewer(counter, stop)) != nullptr) {
      std::optional<v1::Batch> batch = sync.Next(snapshot, context_.hub.TouchedSince(counter));
      counter = snapshot->revision.counter;
      if (batch && !WriteBatch(*std::move(batch))) return;
    }
  }

  bool WriteFirst(HostSync& sync, const std::shared_ptr<const Snapshot>& snapshot) {
    v1::StreamResponse message;
    v1::Welcome& welcome = *message.mutable_welcome();
    welcome.set_store_id(context_.hub.store().store_id());
    for (const std::string& timeline : context_.hub.store().timelines()) welcome.add_timelines(timeline);
    *welcome.mutable_current() = model::EncodeRevision(snapshot->revision);
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

  const ServiceContext& context_;
  grpc::ServerContext* call_;
  Stream* stream_;
  const std::shared_ptr<Canceller> canceller_;
  std::shared_ptr<HostSession> session_;
  std::map<model::ResourceKey, model::Revision> held_;  // The writer's, once it runs.
};

class StreamService final : public v1::NetworkStateService::Service {
 public:
  explicit StreamService(const ServiceContext& context) : context_(context) {}

  grpc::Status Stream(grpc::ServerContext* call, controller::Stream* stream) override {
    return AgentCall(context_, call, stream).Run();
  }

 private:
  const ServiceContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeStreamService(const ServiceContext& context) {
  return std::make_unique<StreamService>(context);
}

}  // namespace kasane::controller
