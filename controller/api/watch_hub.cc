#include "controller/api/watch_hub.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "controller/api/messages.h"
#include "controller/api/page.h"
#include "kasane/v1/controller.grpc.pb.h"
#include "rpc/status.h"

namespace kasane::controller {
namespace {

constexpr size_t kMaxWatchers = 256;
// Events that may wait for one watcher. A single transaction may have more.
constexpr size_t kMaxWaiting = 16 * 1024;
// Keys of past changes that are remembered, for watchers that resume.
constexpr size_t kMaxRemembered = 64 * 1024;
// Events of a transaction beyond which they are rendered one by one as they are sent, by each watcher.
constexpr size_t kMaxRendered = 1024;

using Reactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;

// What one transaction or one report caused. Shared by all watchers.
struct Events {
  struct Event {
    model::ResourceKey key;
    bool deleted = false;
    std::optional<grpc::ByteBuffer> bytes;  // Absent: to be rendered from `snapshot`.
  };

  bool of_commit = false;
  model::Revision revision;  // After it.
  std::shared_ptr<const Snapshot>
      snapshot;  // Null if all events are rendered: a slow watcher must not keep it.
  std::vector<Event> list;

  uint64_t counter() const { return revision.counter; }
};

grpc::ByteBuffer Serialized(const v1::WatchResponse& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  grpc::SerializationTraits<v1::WatchResponse>::Serialize(message, &bytes, &own);
  return bytes;
}

v1::WatchResponse Render(const Renderer& renderer, const model::ResourceKey& key, bool deleted) {
  v1::WatchResponse message;
  if (deleted) {
    *message.mutable_deleted() = model::EncodeKey(key);
  } else {
    *message.mutable_upsert() = renderer.Render(key);
  }
  return message;
}

// What is sent before `synced`: all of a snapshot, or what changed since a revision.
class Beginning {
 public:
  // `changed`: null for all.
  Beginning(const std::shared_ptr<const Snapshot>& snapshot, const HostRegistry& registry,
            std::optional<std::set<model::ResourceKey>> changed)
      : renderer_(snapshot, registry), changed_(std::move(changed)), position_(snapshot->resources.begin()) {
    if (changed_) next_changed_ = changed_->begin();
  }

  // Nothing: that was all.
  std::optional<v1::WatchResponse> Next(const std::set<model::Kind>& kinds) {
    return changed_ ? NextChanged(kinds) : NextOfAll(kinds);
  }
  const model::Revision& revision() const { return renderer_.snapshot().revision; }

 private:
  std::optional<v1::WatchResponse> NextOfAll(const std::set<model::Kind>& kinds) {
    const auto& resources = renderer_.snapshot().resources;
    while (position_ != resources.end() && kinds.count(position_->first.kind) == 0) ++position_;
    if (position_ == resources.end()) return std::nullopt;
    return Render(renderer_, (position_++)->first, false);
  }

  std::optional<v1::WatchResponse> NextChanged(const std::set<model::Kind>& kinds) {
    while (next_changed_ != changed_->end() && kinds.count(next_changed_->kind) == 0) ++next_changed_;
    if (next_changed_ == changed_->end()) return std::nullopt;
    const model::ResourceKey& key = *next_changed_++;
    return Render(renderer_, key, renderer_.snapshot().resources.count(key) == 0);
  }

  Renderer renderer_;
  std::optional<std::set<model::ResourceKey>> changed_;
  std::map<model::ResourceKey, std::shared_ptr<const v1::Resource>>::const_iterator position_;
  std::set<model::ResourceKey>::const_iterator next_changed_;
};

// One Watch call: the beginning, then `synced`, then what was pushed.
class Watcher : public Reactor {
 public:
  Watcher(std::set<model::Kind> kinds, const HostRegistry& registry, std::function<void(Watcher*)> on_done)
      : kinds_(std::move(kinds)), registry_(registry), on_done_(std::move(on_done)) {}

  void Start(const std::shared_ptr<const Snapshot>& snapshot,
             std::optional<std::set<model::ResourceKey>> changed) {
    const std::lock_guard lock(mutex_);
    counter_ = snapshot->revision.counter;
    beginning_.emplace(snapshot, registry_, std::move(changed));
    Advance();
  }

  void Push(const std::shared_ptr<const Events>& events) {
    const std::lock_guard lock(mutex_);
    // The snapshot has it already. (A status is read after its change, so one of the same counter is new.)
    if (events->of_commit ? events->counter() <= counter_ : events->counter() < counter_) return;
    if (end_ || events->list.empty()) return;
    if (waiting_ != 0 && waiting_ + events->list.size() > kMaxWaiting) {
      EndWith({grpc::StatusCode::RESOURCE_EXHAUSTED,
               "more than " + std::to_string(kMaxWaiting) +
                   " events wait for this watcher; watch again, and read faster"});
      return;
    }
    waiting_ += events->list.size();
    queue_.push_back(events);
    Advance();
  }

  void End(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    EndWith(std::move(status));
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) EndWith(grpc::Status::CANCELLED);
    Advance();
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override { on_done_(this); }  // Deletes this.

 private:
  // All below need mutex_.

  void EndWith(grpc::Status status) {
    if (!end_) end_ = std::move(status);
    queue_.clear();
    waiting_ = 0;
    renderer_.reset();
    Advance();
  }

  // Starts the next write, or the end, unless a write is under way.
  void Advance() {
    if (writing_ || finished_) return;
    if (end_) {
      finished_ = true;
      Finish(*end_);
    } else if (Fill()) {
      writing_ = true;
      StartWrite(&message_);
    }
  }

  // Puts the next event into message_. False: there is none.
  bool Fill() {
    if (beginning_) {
      FillBeginning();
      return true;
    }
    while (!queue_.empty()) {
      if (FillFrom(*queue_.front())) return true;
      queue_.pop_front();
      index_ = 0;
      sent_any_ = false;
      renderer_.reset();
    }
    return false;
  }

  void FillBeginning() {
    std::optional<v1::WatchResponse> next = beginning_->Next(kinds_);
    if (!next) {
      next.emplace();
      *next->mutable_synced() = model::EncodeRevision(beginning_->revision());
      beginning_.reset();
    }
    message_ = Serialized(*next);
  }

  // The next event of the transaction that is wanted; behind the last one, that it is complete.
  bool FillFrom(const Events& events) {
    while (index_ < events.list.size()) {
      const Events::Event& event = events.list[index_++];
      --waiting_;
      if (kinds_.count(event.key.kind) == 0) continue;
      sent_any_ = true;
      message_ = event.bytes ? *event.bytes : RenderNow(events, event);
      return true;
    }
    if (!events.of_commit || !sent_any_) return false;
    sent_any_ = false;
    v1::WatchResponse committed;
    *committed.mutable_committed() = model::EncodeRevision(events.revision);
    message_ = Serialized(committed);
    return true;
  }

  grpc::ByteBuffer RenderNow(const Events& events, const Events::Event& event) {
    if (!renderer_) renderer_.emplace(events.snapshot, registry_);
    return Serialized(Render(*renderer_, event.key, event.deleted));
  }

  const std::set<model::Kind> kinds_;
  const HostRegistry& registry_;
  const std::function<void(Watcher*)> on_done_;

  std::mutex mutex_;
  uint64_t counter_ = 0;
  std::optional<Beginning> beginning_;  // Until all of it was sent.
  std::deque<std::shared_ptr<const Events>> queue_;
  std::optional<Renderer> renderer_;  // Of the front of queue_, if that is rendered here.
  size_t index_ = 0;                  // Next event of the front of queue_.
  bool sent_any_ = false;             // Of the front of queue_.
  size_t waiting_ = 0;                // Events in queue_.
  grpc::ByteBuffer message_;          // Must live until OnWriteDone.
  bool writing_ = false;
  bool finished_ = false;
  std::optional<grpc::Status> end_;
};

// The keys that the last changes of this run concerned.
class History {
 public:
  explicit History(model::Revision start) : known_after_(start.counter), timeline_(std::move(start.timeline)) {}

  void Add(const Events& events) {
    std::vector<model::ResourceKey> keys;
    for (const Events::Event& event : events.list) keys.push_back(event.key);
    size_ += keys.size();
    entries_.push_back({events.counter(), events.of_commit, std::move(keys)});
    while (size_ > kMaxRemembered) {
      size_ -= entries_.front().keys.size();
      known_after_ = entries_.front().counter;
      if (!entries_.front().of_commit) ++known_after_;  // Who has this counter may have missed it.
      entries_.pop_front();
    }
  }

  // What changed since a watcher knew `revision`; a status that changed at that revision may be among it.
  std::optional<std::set<model::ResourceKey>> Since(const model::Revision& revision, uint64_t present) const {
    if (revision.timeline != timeline_ || revision.counter < known_after_ || revision.counter > present)
      return std::nullopt;
    std::set<model::ResourceKey> changed;
    for (const Entry& entry : entries_) {
      const bool missed =
          entry.of_commit ? entry.counter > revision.counter : entry.counter >= revision.counter;
      if (missed) changed.insert(entry.keys.begin(), entry.keys.end());
    }
    return changed;
  }

 private:
  struct Entry {
    uint64_t counter;
    bool of_commit;
    std::vector<model::ResourceKey> keys;
  };

  uint64_t known_after_;  // Everything since this counter is in entries_.
  const std::string timeline_;
  std::deque<Entry> entries_;
  size_t size_ = 0;
};

// A call that is refused at once.
class Refusal : public Reactor {
 public:
  explicit Refusal(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

// The filter's kinds; it may give nothing else.
absl::StatusOr<std::set<model::Kind>> KindsOfWatch(const v1::WatchRequest& request) {
  const v1::ResourceFilter& filter = request.filter();
  if (!filter.network_id().empty() || !filter.host_id().empty() || !filter.project_id().empty()) {
    return Invalid("filter: a watch takes kinds only; ask for the others with List");
  }
  return KindsOf(filter);
}

// The router of an interface port, whose rendering shows the port.
void NoteRouter(const model::NetworkState& state, const model::ResourceKey& key,
                std::set<model::ResourceKey>& routers) {
  if (key.kind != model::Kind::kPort) return;
  const auto it = state.ports.find(PortId(key.id));
  if (it == state.ports.end() || it->second->role != model::PortRole::kRouterInterface) return;
  routers.insert({model::Kind::kRouter, it->second->device_id});
}

}  // namespace

class WatchHub::Impl {
 public:
  Impl(StateHub& hub, const HostRegistry& registry)
      : hub_(hub), registry_(registry), history_(hub.snapshot()->revision) {}

  Reactor* Watch(const v1::WatchRequest& request) {
    auto kinds = KindsOfWatch(request);
    if (!kinds.ok()) return Refuse(kinds.status());
    const std::lock_guard lock(mutex_);
    if (stopped_) return new Refusal(Stopping());
    if (watchers_.size() >= kMaxWatchers) {
      return new Refusal({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watchers; end one first"});
    }
    const std::shared_ptr<const Snapshot> snapshot = hub_.snapshot();
    std::optional<std::set<model::ResourceKey>> changed;
    if (request.has_resume_after()) {
      changed = history_.Since(model::DecodeRevision(request.resume_after()), snapshot->revision.counter);
      if (!changed) {
        return new Refusal(
            {grpc::StatusCode::OUT_OF_RANGE,
             "resume_after: what changed since that revision is not known any more; watch without it"});
      }
    }
    auto watcher =
        std::make_unique<Watcher>(*std::move(kinds), registry_, [this](Watcher* done) { Remove(done); });
    Watcher* raw = watcher.get();
    watchers_.emplace(raw, std::move(watcher));
    raw->Start(snapshot, std::move(changed));
    return raw;
  }

  static Reactor* Refuse(const absl::Status& status) { return new Refusal(rpc::ToRpc(status)); }

  void OnCommit(const Committed& committed) {
    const std::lock_guard lock(mutex_);
    std::set<model::ResourceKey> upserts;
    std::set<model::ResourceKey> deletes;
    for (const model::ResourceKey& key : committed.changed) {
      (committed.after->resources.count(key) != 0 ? upserts : deletes).insert(key);
      std::set<model::ResourceKey> routers;
      NoteRouter(committed.before->state, key, routers);
      NoteRouter(committed.after->state, key, routers);
      for (const model::ResourceKey& router : routers) {
        if (committed.after->resources.count(router) != 0) upserts.insert(router);
      }
    }
    Push(committed.after, true, upserts, deletes);
  }

  void OnPortStatus(const std::vector<PortId>& ports) {
    const std::lock_guard lock(mutex_);
    // Taken after the status changed and under the mutex: see Watcher::Push.
    const std::shared_ptr<const Snapshot> snapshot = hub_.snapshot();
    std::set<model::ResourceKey> upserts;
    for (const PortId& port : ports) {
      const model::ResourceKey key{model::Kind::kPort, port.str()};
      if (snapshot->resources.count(key) != 0) upserts.insert(key);
    }
    Push(snapshot, false, upserts, {});
  }

  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [raw, watcher] : watchers_) raw->End(Stopping());
  }

 private:
  static grpc::Status Stopping() { return {grpc::StatusCode::UNAVAILABLE, "the controller is stopping"}; }

  // Needs mutex_.
  void Push(const std::shared_ptr<const Snapshot>& snapshot, bool of_commit,
            const std::set<model::ResourceKey>& upserts, const std::set<model::ResourceKey>& deletes) {
    auto events = std::make_shared<Events>();
    events->revision = snapshot->revision;
    events->of_commit = of_commit;
    for (const model::ResourceKey& key : upserts) events->list.push_back({key, false, std::nullopt});
    for (const model::ResourceKey& key : deletes) events->list.push_back({key, true, std::nullopt});
    history_.Add(*events);
    if (watchers_.empty()) return;
    if (events->list.size() <= kMaxRendered) {
      const Renderer renderer(snapshot, registry_);
      for (Events::Event& event : events->list)
        event.bytes = Serialized(Render(renderer, event.key, event.deleted));
    } else {
      events->snapshot = snapshot;
    }
    for (const auto& [raw, watcher] : watchers_) raw->Push(events);
  }

  void Remove(Watcher* watcher) {
    std::unique_ptr<Watcher> removed;
    const std::lock_guard lock(mutex_);
    const auto it = watchers_.find(watcher);
    removed = std::move(it->second);
    watchers_.erase(it);
  }

  StateHub& hub_;
  const HostRegistry& registry_;
  std::mutex mutex_;  // Before a watcher's. Held while pushing, so that all see the same order.
  std::map<Watcher*, std::unique_ptr<Watcher>> watchers_;
  History history_;
  bool stopped_ = false;
};

WatchHub::WatchHub(StateHub& hub, const HostRegistry& registry)
    : impl_(std::make_unique<Impl>(hub, registry)) {}
WatchHub::~WatchHub() = default;

grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchHub::Watch(const v1::WatchRequest& request) {
  return impl_->Watch(request);
}
grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchHub::Refuse(const absl::Status& status) {
  return Impl::Refuse(status);
}
void WatchHub::OnCommit(const Committed& committed) { impl_->OnCommit(committed); }
void WatchHub::OnPortStatus(const std::vector<PortId>& ports) { impl_->OnPortStatus(ports); }
void WatchHub::Stop() { impl_->Stop(); }

}  // namespace kasane::controller
