#include "agent/sync/sync_client.h"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "agent/sync/encode.h"
#include "agent/sync/stream_end.h"
#include "base/check.h"
#include "base/log.h"
#include "kasane/v1/state.grpc.pb.h"

namespace kasane::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Batches that were passed on and not handled, beyond which no more are read.
constexpr int kMaxUnhandledBatches = 64;
constexpr int kMaxMessageBytes = 64 * 1024 * 1024;

// What an event of the completion queue is about.
enum class Tag : intptr_t { kWake = 1, kStarted, kRead, kWritten, kFinished };

void* AsPointer(Tag tag) { return reinterpret_cast<void*>(tag); }

// Notes of other threads for the client's own.
struct HelloNote {
  std::vector<model::HeldResource> held;
};
struct VerdictsNote {
  std::vector<model::Verdict> verdicts;
};
struct AppliedNote {
  AppliedReport applied;
};
struct ObservedNote {
  std::vector<model::AddressClaim> observed;
};
struct HandledNote {};
struct RefuseNote {
  std::string reason;
};
struct Note {
  uint64_t stream = 0;
  std::variant<HelloNote, VerdictsNote, AppliedNote, ObservedNote, HandledNote, RefuseNote> kind;
};

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// A channel of its own for each attempt: gRPC's shared back-off would otherwise come on top of ours.
std::shared_ptr<grpc::Channel> Dial(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);  // The time a connection may take.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

// One attempt. Owned and touched by the client's thread alone.
struct Stream {
  uint64_t number = 0;
  std::unique_ptr<v1::NetworkStateService::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::StreamRequest, v1::StreamResponse>> call;
  v1::StreamResponse incoming;
  grpc::Status status;

  bool starting = true;
  bool reading = false;
  bool writing = false;
  bool finishing = false;
  bool over = false;  // Nothing more is to be read.

  bool welcomed = false;
  bool synced = false;
  std::string given_up;            // Why we ended it ourselves.
  std::optional<v1::Hello> hello;  // To be sent.
  bool hello_sent = false;
  PendingReport report;
  std::optional<v1::Batch> parts;  // Of a transaction that goes on in the next batch.
  int unhandled_batches = 0;
};

}  // namespace

class SyncClient::Impl {
 public:
  Impl(SyncOptions options, Sink sink)
      : options_(std::move(options)),
        sink_(std::move(sink)),
        instance_id_(fmt::format("{:016x}", RandomSeed())),
        backoff_(options_.backoff, RandomSeed()),
        thread_([this] { Run(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      Wake();
    }
    thread_.join();
  }

  void Leave(Note note) {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    mailbox_.push_back(std::move(note));
    Wake();
  }

 private:
  // Needs mutex_. One wake-up is enough for any number of notes.
  void Wake() {
    if (std::exchange(wake_pending_, true)) return;
    alarm_.Set(&queue_, gpr_now(GPR_CLOCK_MONOTONIC), AsPointer(Tag::kWake));
  }

  // ---- all below: the client's thread ----

  void Run() {
    Open();
    for (;;) {
      void* tag = nullptr;
      bool ok = false;
      switch (queue_.AsyncNext(&tag, &ok, GrpcDeadline())) {
        case grpc::CompletionQueue::SHUTDOWN:
          return;
        case grpc::CompletionQueue::TIMEOUT:
          OnTimer();
          break;
        case grpc::CompletionQueue::GOT_EVENT:
          OnEvent(static_cast<Tag>(reinterpret_cast<intptr_t>(tag)), ok);
          break;
      }
    }
  }

  gpr_timespec GrpcDeadline() const {
    if (!timer_) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    const auto left = std::chrono::ceil<milliseconds>(*timer_ - Clock::now());
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(left.count(), GPR_TIMESPAN));
  }

  void OnTimer() {
    timer_.reset();
    if (stream_ == nullptr) {
      Open();
    } else if (!stream_->welcomed) {
      GiveUp(fmt::format("no answer to Hello within {} ms; trying again", options_.welcome_timeout.count()));
    }
  }

  void OnEvent(Tag tag, bool ok) {
    if (tag == Tag::kWake) {
      OnWake();
      return;
    }
    KASANE_CHECK(stream_ != nullptr);
    switch (tag) {
      case Tag::kWake:
        break;
      case Tag::kStarted:
        OnStarted(ok);
        break;
      case Tag::kRead:
        OnRead(ok);
        break;
      case Tag::kWritten:
        stream_->writing = false;
        if (!ok) stream_->over = true;
        break;
      case Tag::kFinished:
        OnFinished();
        return;
    }
    Advance();
  }

  void Open() {
    stream_ = std::make_unique<Stream>();
    stream_->number = ++last_stream_;
    stream_->stub = v1::NetworkStateService::NewStub(Dial(options_.target));
    stream_->call = stream_->stub->PrepareAsyncStream(&stream_->context, &queue_);
    stream_->call->StartCall(AsPointer(Tag::kStarted));
    timer_ = Clock::now() + options_.welcome_timeout;
  }

  void OnStarted(bool ok) {
    stream_->starting = false;
    if (!ok) {
      stream_->over = true;
    } else if (!stopped_) {
      sink_(StreamOpened{stream_->number});
    }
  }

  // Starts whatever may be started now.
  void Advance() {
    Stream& stream = *stream_;
    if (stream.starting || stream.finishing) return;
    if (!stream.over && !stream.reading && stream.unhandled_batches < kMaxUnhandledBatches) {
      stream.reading = true;
      stream.call->Read(&stream.incoming, AsPointer(Tag::kRead));
    }
    if (!stream.over && !stream.writing) WriteNext(stream);
    if (stream.over && !stream.reading && !stream.writing) {
      stream.finishing = true;
      stream.call->Finish(&stream.status, AsPointer(Tag::kFinished));
    }
  }

  static void WriteNext(Stream& stream) {
    v1::StreamRequest message;
    if (stream.hello) {
      *message.mutable_hello() = *std::move(stream.hello);
      stream.hello.reset();
      stream.hello_sent = true;
    } else if (stream.hello_sent && !stream.report.empty()) {
      *message.mutable_report() = EncodeReport(std::exchange(stream.report, {}));
    } else {
      return;
    }
    stream.writing = true;
    stream.call->Write(message, AsPointer(Tag::kWritten));
  }

  void OnRead(bool ok) {
    stream_->reading = false;
    if (!ok || stopped_) {
      stream_->over = true;
      return;
    }
    const v1::StreamResponse& message = stream_->incoming;
    if (!stream_->welcomed && !message.has_welcome()) {
      GiveUp(
          "its first message is no Welcome: what answers there is no controller that this agent "
          "understands; trying again");
      return;
    }
    switch (message.kind_case()) {
      case v1::StreamResponse::kWelcome:
        OnWelcome(message.welcome());
        break;
      case v1::StreamResponse::kBatch:
        OnBatch(*stream_->incoming.mutable_batch());
        break;
      case v1::StreamResponse::kSyncComplete:
        stream_->synced = true;
        sink_(SyncCompleted{stream_->number, model::DecodeRevision(message.sync_complete().revision())});
        break;
      case v1::StreamResponse::KIND_NOT_SET:
        log::Debug("the controller sent a message of a kind that this version does not know; ignored");
        break;
    }
  }

  // The loop gets whole transactions.
  void OnBatch(v1::Batch& batch) {
    std::optional<v1::Batch>& parts = stream_->parts;
    const bool more = batch.more();
    if (parts) {
      parts->mutable_upserts()->MergeFrom(batch.upserts());
      parts->mutable_deletes()->MergeFrom(batch.deletes());
    } else {
      parts.emplace(std::move(batch));
    }
    if (more) return;
    parts->clear_more();
    ++stream_->unhandled_batches;
    sink_(
        BatchArrived{stream_->number, std::make_shared<const v1::Batch>(*std::exchange(parts, std::nullopt))});
  }

  void OnWelcome(const v1::Welcome& welcome) {
    if (std::exchange(stream_->welcomed, true)) {
      GiveUp("it sent a second Welcome; trying again");
      return;
    }
    timer_.reset();
    const uint32_t version = std::max(welcome.protocol_version(), 1U);  // Version 1 did not say it.
    if (!options_.protocols.Contains(version)) {
      GiveUp(
          fmt::format("it chose version {} of the state protocol, this agent speaks {} to {}; install matching "
                      "versions",
                      version, options_.protocols.oldest, options_.protocols.newest));
      return;
    }
    sink_(Welcomed{
        stream_->number, welcome.store_id(), {welcome.timelines().begin(), welcome.timelines().end()}});
  }

  void OnFinished() {
    const uint64_t number = stream_->number;
    vswitch::Problem problem = DescribeStreamEnd(options_.address, options_.host_id,
                                                 stream_->status.error_code(), stream_->status.error_message());
    if (!stream_->given_up.empty()) problem.message = stream_->given_up;
    if (stream_->synced && stream_->given_up.empty()) backoff_.Reset();
    stream_.reset();
    if (stopped_) {
      queue_.Shutdown();
      return;
    }
    timer_ = Clock::now() + backoff_.Next();
    sink_(StreamClosed{number, std::move(problem)});
  }

  void GiveUp(std::string reason) {
    stream_->given_up = std::move(reason);
    stream_->over = true;
    stream_->context.TryCancel();
    Advance();
  }

  void OnWake() {
    std::vector<Note> notes;
    {
      const std::lock_guard lock(mutex_);
      wake_pending_ = false;
      notes.swap(mailbox_);
      if (stopping_ && !stopped_) {
        stopped_ = true;
        timer_.reset();
      }
    }
    if (stopped_) {
      if (stream_ == nullptr) {
        queue_.Shutdown();
      } else {
        GiveUp("kasaned stops");
      }
      return;
    }
    for (Note& note : notes) {
      if (stream_ != nullptr && note.stream == stream_->number) Follow(note);
    }
  }

  void Follow(Note& note) {
    Stream& stream = *stream_;
    if (auto* hello = std::get_if<HelloNote>(&note.kind)) {
      stream.hello = EncodeHello(options_, instance_id_, hello->held);
    } else if (auto* verdicts = std::get_if<VerdictsNote>(&note.kind)) {
      for (model::Verdict& verdict : verdicts->verdicts) {
        model::ResourceKey key = verdict.key;
        stream.report.verdicts.insert_or_assign(std::move(key), std::move(verdict));
      }
    } else if (auto* applied = std::get_if<AppliedNote>(&note.kind)) {
      stream.report.applied = std::move(applied->applied);
    } else if (auto* observed = std::get_if<ObservedNote>(&note.kind)) {
      for (model::AddressClaim& claim : observed->observed) {
        AddressClaimId id = claim.id;
        stream.report.observed.insert_or_assign(std::move(id), std::move(claim));
      }
    } else if (std::holds_alternative<HandledNote>(note.kind)) {
      --stream.unhandled_batches;
    } else if (auto* refuse = std::get_if<RefuseNote>(&note.kind)) {
      GiveUp(std::move(refuse->reason));
      return;
    }
    Advance();
  }

  const SyncOptions options_;
  const Sink sink_;
  const std::string instance_id_;
  grpc::CompletionQueue queue_;

  std::mutex mutex_;
  std::vector<Note> mailbox_;  // Guarded by mutex_, as the next three.
  bool wake_pending_ = false;
  bool stopping_ = false;
  grpc::Alarm alarm_;

  // The client's thread alone.
  Backoff backoff_;
  std::unique_ptr<Stream> stream_;  // Null while backing off.
  uint64_t last_stream_ = 0;
  std::optional<Clock::time_point> timer_;  // End of back-off, or of patience for Welcome.
  bool stopped_ = false;

  std::thread thread_;  // Last: it uses all of the above.
};

SyncClient::SyncClient(SyncOptions options, Sink sink)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(sink))) {}

SyncClient::~SyncClient() = default;

void SyncClient::SayHello(uint64_t stream, std::vector<model::HeldResource> held) {
  impl_->Leave({stream, HelloNote{std::move(held)}});
}

void SyncClient::ReportVerdicts(uint64_t stream, std::vector<model::Verdict> verdicts) {
  impl_->Leave({stream, VerdictsNote{std::move(verdicts)}});
}

void SyncClient::ReportApplied(uint64_t stream, AppliedReport applied) {
  impl_->Leave({stream, AppliedNote{std::move(applied)}});
}

void SyncClient::ReportObserved(uint64_t stream, std::vector<model::AddressClaim> observed) {
  impl_->Leave({stream, ObservedNote{std::move(observed)}});
}

void SyncClient::BatchHandled(uint64_t stream) { impl_->Leave({stream, HandledNote{}}); }

void SyncClient::Refuse(uint64_t stream, std::string reason) {
  impl_->Leave({stream, RefuseNote{std::move(reason)}});
}

}  // namespace kasane::agent
