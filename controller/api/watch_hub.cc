#include "controller/api/watch_hub.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "controller/api/messages.h"
#include "kasane/v1/controller.grpc.pb.h"

namespace kasane::controller {
namespace {

constexpr size_t kMaxWatchers = 256;
// Events that may wait for one watcher. A single transaction may have more.
constexpr size_t kMaxWaiting = 16 * 1024;

struct Event {
  model::Kind kind;
  v1::WatchResponse message;
};

// What one transaction or one report caused. Shared by all watchers.
struct Events {
  uint64_t counter = 0;  // Of the snapshot that they were rendered from.
  bool of_commit = false;
  std::vector<Event> list;
};

using Reactor = grpc::ServerWriteReactor<v1::WatchResponse>;

// One Watch call: the resources of a snapshot, then `synced`, then what was pushed.
class Watcher : public Reactor {
 public:
  Watcher(std::set<model::Kind> kinds, std::function<void(Watcher*)> on_done)
      : kinds_(std::move(kinds)), on_done_(std::move(on_done)) {}

  void Start(const std::shared_ptr<const Snapshot>& snapshot, const HostRegistry& registry) {
    const std::lock_guard lock(mutex_);
    counter_ = snapshot->revision.counter;
    initial_.emplace(snapshot, registry);
    position_ = snapshot->resources.begin();
    Advance();
  }

  void Push(const std::shared_ptr<const Events>& events) {
    const std::lock_guard lock(mutex_);
    // The snapshot has it already. (A status is read after its change, so one of the same counter is new.)
    if (events->of_commit ? events->counter <= counter_ : events->counter < counter_) return;
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
    if (initial_) return FillInitial();
    while (!queue_.empty()) {
      const std::vector<Event>& list = queue_.front()->list;
      while (index_ < list.size()) {
        const Event& event = list[index_++];
        --waiting_;
        if (!Wants(event.kind)) continue;
        message_ = event.message;
        return true;
      }
      queue_.pop_front();
      index_ = 0;
    }
    return false;
  }

  bool FillInitial() {
    const auto& resources = initial_->snapshot().resources;
    while (position_ != resources.end() && !Wants(position_->first.kind)) ++position_;
    message_.Clear();
    if (position_ != resources.end()) {
      *message_.mutable_upsert() = initial_->Render(position_->first);
      ++position_;
    } else {
      *message_.mutable_synced() = model::EncodeRevision(initial_->snapshot().revision);
      initial_.reset();
    }
    return true;
  }

  bool Wants(model::Kind kind) const { return kinds_.empty() || kinds_.count(kind) != 0; }

  const std::set<model::Kind> kinds_;  // Empty: all.
  const std::function<void(Watcher*)> on_done_;

  std::mutex mutex_;
  uint64_t counter_ = 0;
  std::optional<Renderer> initial_;  // Until all of the snapshot was sent.
  std::map<model::ResourceKey, std::shared_ptr<const v1::Resource>>::const_iterator position_;
  std::deque<std::shared_ptr<const Events>> queue_;
  size_t index_ = 0;           // Next event of the front of queue_.
  size_t waiting_ = 0;         // Events in queue_.
  v1::WatchResponse message_;  // Must live until OnWriteDone.
  bool writing_ = false;
  bool finished_ = false;
  std::optional<grpc::Status> end_;
};

// A call that is refused at once.
class Refusal : public Reactor {
 public:
  explicit Refusal(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

std::optional<std::set<model::Kind>> KindsOf(const v1::WatchRequest& request) {
  std::set<model::Kind> kinds;
  for (const int kind : request.kinds()) {
    if (kind < v1::RESOURCE_KIND_HOST || kind > v1::RESOURCE_KIND_ADDRESS_CLAIM) return std::nullopt;
    kinds.insert(static_cast<model::Kind>(kind));
  }
  return kinds;
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
  Impl(StateHub& hub, const HostRegistry& registry) : hub_(hub), registry_(registry) {}

  Reactor* Watch(const v1::WatchRequest& request) {
    auto kinds = KindsOf(request);
    if (!kinds)
      return new Refusal({grpc::StatusCode::INVALID_ARGUMENT, "kinds: not a kind that is known here"});
    const std::lock_guard lock(mutex_);
    if (stopped_) return new Refusal(Stopping());
    if (watchers_.size() >= kMaxWatchers) {
      return new Refusal({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watchers; end one first"});
    }
    auto watcher = std::make_unique<Watcher>(*std::move(kinds), [this](Watcher* done) { Remove(done); });
    Watcher* raw = watcher.get();
    watchers_.emplace(raw, std::move(watcher));
    raw->Start(hub_.snapshot(), registry_);
    return raw;
  }

  void OnCommit(const Committed& committed) {
    const std::lock_guard lock(mutex_);
    if (watchers_.empty()) return;
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
    if (watchers_.empty()) return;
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
    events->counter = snapshot->revision.counter;
    events->of_commit = of_commit;
    const Renderer renderer(snapshot, registry_);
    for (const model::ResourceKey& key : upserts) {
      events->list.push_back({key.kind, {}});
      *events->list.back().message.mutable_upsert() = renderer.Render(key);
    }
    for (const model::ResourceKey& key : deletes) {
      events->list.push_back({key.kind, {}});
      *events->list.back().message.mutable_deleted() = model::EncodeKey(key);
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
  bool stopped_ = false;
};

WatchHub::WatchHub(StateHub& hub, const HostRegistry& registry)
    : impl_(std::make_unique<Impl>(hub, registry)) {}
WatchHub::~WatchHub() = default;

grpc::ServerWriteReactor<v1::WatchResponse>* WatchHub::Watch(const v1::WatchRequest& request) {
  return impl_->Watch(request);
}
void WatchHub::OnCommit(const Committed& committed) { impl_->OnCommit(committed); }
void WatchHub::OnPortStatus(const std::vector<PortId>& ports) { impl_->OnPortStatus(ports); }
void WatchHub::Stop() { impl_->Stop(); }

}  // namespace kasane::controller
