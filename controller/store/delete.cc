#include "controller/store/delete.h"

#include <optional>
#include <utility>

#include "base/status.h"
#include "controller/store/apply.h"
#include "controller/store/claims.h"
#include "controller/store/fault_report.h"
#include "controller/validate/validate.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::controller {
namespace {

// The deletions of what is there, with the faults that can be found without looking at others.
struct Deletions {
  std::vector<RequestItem> items;
  RequestFaults faults;
};

class Builder {
 public:
  Builder(const Snapshot& before, absl::FunctionRef<bool(const HostId&)> is_connected)
      : before_(before), is_connected_(is_connected) {}

  void Add(const v1::DeleteItem& item, int index) {
    const size_t position = out_.items.size();
    RequestItem deletion;
    deletion.path = fmt::format("items[{}]", index);
    deletion.key = model::DecodeKey(item.key());
    deletion.deletion = true;
    if (!deletion.key) {
      out_.faults.invalid.push_back(
          {position, {}, deletion.path + ".key", "names no kind or no id; give both"});
      out_.items.push_back(std::move(deletion));
      return;
    }
    const auto it = before_.resources.find(*deletion.key);
    const v1::Resource* stored = it == before_.resources.end() ? nullptr : it->second.get();
    const std::string mismatch = item.has_expected_revision()
                                     ? RevisionMismatch(model::DecodeRevision(item.expected_revision()), stored)
                                     : std::string();
    if (!mismatch.empty()) {
      out_.faults.mismatched.push_back({position, *deletion.key, deletion.path, mismatch});
    } else if (stored == nullptr) {
      return;
    } else if (deletion.key->kind == model::Kind::kHost && is_connected_(HostId(deletion.key->id))) {
      out_.faults.invalid.push_back(
          {position, *deletion.key, deletion.path,
           fmt::format("the agent of host {} is connected; stop it first", deletion.key->id)});
    }
    if (stored != nullptr) out_.items.push_back(std::move(deletion));
  }

  Deletions Take() { return std::move(out_); }

 private:
  const Snapshot& before_;
  const absl::FunctionRef<bool(const HostId&)> is_connected_;
  Deletions out_;
};

std::vector<Change> ListDeletions(const Snapshot& before, const v1::DeleteRequest& request,
                                  v1::DeleteResponse& response) {
  std::vector<Change> changes;
  for (const v1::DeleteItem& item : request.items()) {
    const model::ResourceKey key = *model::DecodeKey(item.key());
    const auto stored = before.resources.find(key);
    v1::ChangedResource& listed = *response.add_changes();
    *listed.mutable_key() = item.key();
    listed.set_change(v1::CHANGE_UNCHANGED);
    if (stored == before.resources.end()) continue;
    listed.set_name(NameOfStored(*stored->second));
    listed.set_change(v1::CHANGE_DELETED);
    changes.push_back({key, nullptr, std::nullopt});
  }
  return changes;
}

}  // namespace

absl::Status Delete(StateHub& hub, absl::FunctionRef<bool(const HostId&)> is_connected,
                    const v1::DeleteRequest& request, size_t max_listed, v1::DeleteResponse& response) {
  const auto commit = [&](const Snapshot& before) -> absl::StatusOr<std::vector<Change>> {
    Builder builder(before, is_connected);
    for (int i = 0; i < request.items_size(); ++i) builder.Add(request.items(i), i);
    Deletions deletions = builder.Take();
    RequestFaults& faults = deletions.faults;
    faults.invalid = Merged(std::move(faults.invalid), Validate(before.state, deletions.items).faults);
    if (!faults.empty() && !request.dry_run()) return FaultStatus(faults, "nothing was deleted");
    const bool applies = faults.empty();
    response.set_faults_omitted(
        AppendFaults(InOrder(std::move(faults)), max_listed, *response.mutable_faults()));
    if (!applies) return std::vector<Change>();
    std::vector<Change> changes = ListDeletions(before, request, response);
    DropStaleClaims(before, changes);
    return request.dry_run() ? std::vector<Change>() : std::move(changes);
  };
  ASSIGN_OR_RETURN(const std::shared_ptr<const Snapshot> after, hub.Transact(commit));
  *response.mutable_revision() = model::EncodeRevision(after->revision);
  return absl::OkStatus();
}

}  // namespace kasane::controller
