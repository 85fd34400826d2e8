#include "controller/stream/host_sync.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kasane/v1/state.pb.h"
#include "model/scope.h"

namespace kasane::controller {
namespace {

// Splits what is added into batches of about `max_bytes`.
class Splitter {
 public:
  Splitter(const model::Revision& revision, size_t max_bytes)
      : revision_(model::EncodeRevision(revision)), max_bytes_(max_bytes) {}

  void Upsert(const v1::Resource& resource) {
    Room(resource.ByteSizeLong()).mutable_upserts()->Add()->CopyFrom(resource);
  }
  void Delete(const model::ResourceKey& key) {
    v1::ResourceKey encoded = model::EncodeKey(key);
    const size_t size = encoded.ByteSizeLong();
    *Room(size).add_deletes() = std::move(encoded);
  }
  std::vector<v1::Batch> Take() { return std::move(batches_); }

 private:
  v1::Batch& Room(size_t size) {
    if (batches_.empty() || size > max_bytes_ - std::min(max_bytes_, bytes_)) {
      *batches_.emplace_back().mutable_revision() = revision_;
      bytes_ = 0;
    }
    bytes_ += size;
    return batches_.back();
  }

  v1::Revision revision_;
  const size_t max_bytes_;
  std::vector<v1::Batch> batches_;
  size_t bytes_ = 0;
};

}  // namespace

HostSync::Sent HostSync::Scope(const Snapshot& snapshot) const {
  Sent scope;
  for (const model::ResourceKey& key : model::ComputeScope(snapshot.state, host_)) {
    scope.emplace_hint(scope.end(), key, snapshot.resources.at(key));
  }
  return scope;
}

std::vector<v1::Batch> HostSync::Start(const std::shared_ptr<const Snapshot>& snapshot,
                                       const std::map<model::ResourceKey, model::Revision>& held) {
  sent_ = Scope(*snapshot);
  Splitter splitter(snapshot->revision, kBatchBytes);
  for (const auto& [key, resource] : sent_) {
    const auto it = held.find(key);
    if (it == held.end() || it->second != model::DecodeRevision(resource->revision()))
      splitter.Upsert(*resource);
  }
  for (const auto& [key, revision] : held) {
    if (sent_.count(key) == 0) splitter.Delete(key);
  }
  return splitter.Take();
}

std::vector<v1::Batch> HostSync::Next(const std::shared_ptr<const Snapshot>& snapshot,
                                      const std::optional<std::vector<model::ResourceKey>>& touched) {
  if (!MayConcern(touched)) return {};
  Sent scope = Scope(*snapshot);
  Splitter splitter(snapshot->revision, in_parts_ ? kBatchBytes : std::numeric_limits<size_t>::max());
  for (const auto& [key, resource] : scope) {
    const auto it = sent_.find(key);
    if (it == sent_.end() || it->second != resource) splitter.Upsert(*resource);
  }
  for (const auto& [key, resource] : sent_) {
    if (scope.count(key) == 0) splitter.Delete(key);
  }
  sent_ = std::move(scope);
  std::vector<v1::Batch> batches = splitter.Take();
  for (size_t i = 0; i + 1 < batches.size(); ++i) batches[i].set_more(true);
  return batches;
}

// A resource enters a scope by a reference between it and what is in there, or as a port bound to the host.
// So if nothing touched was sent, and no touched port names the host, nothing enters or leaves.
bool HostSync::MayConcern(const std::optional<std::vector<model::ResourceKey>>& touched) const {
  if (!touched) return true;
  return std::any_of(touched->begin(), touched->end(), [&](const model::ResourceKey& key) {
    return sent_.count(key) != 0 || (key.kind == model::Kind::kHost && key.id == host_.str());
  });
}

}  // namespace kasane::controller
