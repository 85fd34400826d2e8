// What all checks of a validation share: the states before and after, what the request touches, and how a
// fault is reported. Internal to validation.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "controller/validate/validate.h"

namespace kasane::controller::validation {

// Ids by kind, each with the index of the request item that has it.
class ItemIndex {
 public:
  // False if the id was there already; then the first item stays.
  bool Add(const model::ResourceKey& key, size_t item);
  std::optional<size_t> Find(model::Kind kind, const std::string& id) const;
  bool Any(model::Kind kind) const;

 private:
  std::array<absl::flat_hash_map<std::string, size_t>, std::size(model::kAllKinds) + 1> by_kind_;
};

bool Exists(const model::NetworkState& state, model::Kind kind, const std::string& id);

class Context {
 public:
  // Builds the state after; reports ids given twice and deletions of what does not exist.
  Context(const model::NetworkState& before, const std::vector<RequestItem>& items);

  const model::NetworkState& before() const { return before_; }
  const model::NetworkState& after() const { return after_; }
  const std::vector<RequestItem>& items() const { return items_; }

  // The item that changes or deletes this resource.
  std::optional<size_t> Touching(model::Kind kind, const std::string& id) const {
    return touched_.Find(kind, id);
  }
  // It is in the request but could not be decoded.
  bool IsUnreadable(model::Kind kind, const std::string& id) const {
    return unreadable_.Find(kind, id).has_value();
  }
  bool HasUnreadable(model::Kind kind) const { return unreadable_.Any(kind); }
  bool IsDeleted(model::Kind kind, const std::string& id) const;

  // Reports `message` about `field` of the resource `key`. If the resource is in the request, at its own
  // path. Else, if there is a `cause`, at the path of that item and naming the stored resource. Else it is
  // no fault of this request, and nothing is reported.
  void Fail(const model::ResourceKey& key, std::string_view name, std::optional<size_t> cause,
            std::string_view field, std::string message);
  void Warn(size_t item, const model::ResourceKey& key, std::string_view field, std::string message);
  // Reports about an item as a whole.
  void FailItem(size_t item, const model::ResourceKey& key, std::string message);

  // "port 23a5701f (web1)", and where it stands if it is in the request: "port 23a5701f (web1, ports[3])".
  std::string Describe(model::Kind kind, const std::string& id, std::string_view name) const;

  Judgement Take();

 private:
  const model::NetworkState& before_;
  const std::vector<RequestItem>& items_;
  model::NetworkState after_;
  ItemIndex touched_;
  ItemIndex unreadable_;
  Judgement judgement_;
};

// The item that is to blame when two resources clash: the later of those in the request. Absent: neither is.
std::optional<size_t> Later(std::optional<size_t> a, std::optional<size_t> b);

// The checks, each over the whole state after (their .cc files say what they find).
void CheckReferences(Context& context);
void CheckAddresses(Context& context);
void CheckUniqueness(Context& context);
void CheckRouters(Context& context);

}  // namespace kasane::controller::validation
