#include "ctl/import/import_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kasane/v1/controller.pb.h"
#include "kasane/v1/resources.pb.h"
#include "model/features.h"
#include "model/files/document.h"
#include "model/not_enforced.h"
#include "model/references.h"
#include "model/resource_name.h"

namespace kasane::ctl {
namespace {

// The controller bounds paths: of a very long file name the end is enough.
std::string InFile(const std::string& file, const std::string& path) {
  constexpr size_t kLongestName = 256;
  const std::string name = file.size() > kLongestName ? "..." + file.substr(file.size() - kLongestName) : file;
  return fmt::format("{}: {}", name, path);
}

// Neutron's stand-in for a prefix that no router has been delegated yet.
bool IsProvisional(const v1::Subnet& subnet) { return subnet.cidr() == "::/64"; }

std::string Described(const ImportItem& item, const model::ResourceKey& key) {
  return item.name.empty() ? ToString(key) : fmt::format("{} ({})", ToString(key), item.name);
}

}  // namespace

struct ImportPlan::Candidate {
  ImportItem item;
  v1::Resource resource;
  std::optional<model::ResourceKey> key;
  std::optional<model::AnyResource> value;  // Decoded. Absent: it is left out.
};

ImportPlan::ImportPlan(ImportPlan&&) noexcept = default;
ImportPlan& ImportPlan::operator=(ImportPlan&&) noexcept = default;
ImportPlan::~ImportPlan() = default;

bool ImportPlan::empty() const { return candidates_.empty() && others_.empty(); }

ImportPlan::ImportPlan(std::vector<files::ResourceFile> files) {
  for (files::ResourceFile& file : files) AddFile(std::move(file));
  TakeProvisionalSubnets();
  for (Candidate& candidate : candidates_) Decode(candidate);
  LeaveOutDependents();
}

void ImportPlan::AddFile(files::ResourceFile file) {
  const size_t first = candidates_.size();
  for (size_t i = 0; i < file.items.size(); ++i) {
    v1::ApplyItem& item = file.items[i];
    Candidate& added = candidates_.emplace_back();
    added.key = model::DecodeKey(item.resource());
    added.item.path = InFile(file.name, item.path());
    added.item.kind = item.path().substr(0, item.path().find('['));
    added.item.line = file.lines[i];
    if (added.key) added.item.id = added.key->id;
    added.item.name = model::NameOf(item.resource());
    added.resource = std::move(*item.mutable_resource());
    by_path_.emplace(added.item.path, candidates_.size() - 1);
    if (!added.key) {
      LeaveOut(added, "it has no id");
    } else if (const auto [same, is_new] = by_key_.emplace(*added.key, candidates_.size() - 1); !is_new) {
      added.item.left_out =
          fmt::format("its id is also that of {}, which is taken", candidates_[same->second].item.path);
    }
  }
  for (files::FieldNotEnforced& field : file.not_enforced) {
    candidates_[first + field.item].item.shortfalls.push_back(
        {std::move(field.feature), std::move(field.detail)});
  }
  for (files::OtherResource& other : file.others) {
    others_.push_back({.kind = std::move(other.section),
                       .id = std::move(other.id),
                       .name = std::move(other.name),
                       .path = InFile(file.name, other.path),
                       .line = other.line,
                       .shortfalls = {},
                       .left_out = std::move(other.detail)});
  }
  for (files::UnusedField& field : file.unused) {
    files::UnusedField& sum = unused_[field.path];
    sum.path = field.path;
    sum.metadata = field.metadata;
    sum.count += field.count;
  }
  TakeFormFaults(file.faults, file.name);
}

// A value of the wrong type was not read: what it stands in is handled as if its value were wrong.
void ImportPlan::TakeFormFaults(const std::vector<model::Fault>& faults, const std::string& file) {
  std::vector<model::Fault> of_resources;
  for (const model::Fault& fault : faults) {
    const std::string path = InFile(file, fault.path);
    if (Find(path)) {
      of_resources.push_back({path, fault.message});
    } else {
      others_.push_back({.kind = fault.path.substr(0, fault.path.find_first_of("[.")),
                         .id = "",
                         .name = "",
                         .path = path,
                         .line = 0,
                         .shortfalls = {},
                         .left_out = fault.message});
    }
  }
  TakeEach(of_resources);
}

void ImportPlan::TakeProvisionalSubnets() {
  std::set<std::string> provisional;
  for (Candidate& candidate : candidates_) {
    if (!candidate.resource.has_subnet() || !IsProvisional(candidate.resource.subnet())) continue;
    provisional.insert(candidate.item.id);
    candidate.item.left_out = "no prefix has been delegated to it yet; import again when one has";
  }
  if (provisional.empty()) return;
  for (Candidate& candidate : candidates_) {
    if (!candidate.resource.has_port()) continue;
    auto& ips = *candidate.resource.mutable_port()->mutable_fixed_ips();
    const auto kept = std::remove_if(
        ips.begin(), ips.end(), [&](const v1::FixedIp& ip) { return provisional.contains(ip.subnet_id()); });
    if (kept == ips.end()) continue;
    ips.erase(kept, ips.end());
    const bool is_interface = candidate.resource.port().device_owner().starts_with("network:router_interface");
    if (is_interface && ips.empty()) {
      LeaveOut(candidate, "its subnet's prefix has not been delegated yet; import again when it has");
    } else {
      candidate.item.shortfalls.push_back(
          {std::string(model::feature::kPrefixDelegation),
           "Its address on a subnet whose prefix is not delegated yet is left out."});
    }
  }
}

void ImportPlan::Decode(Candidate& candidate) {
  // Of a part that was taken out nothing is left to be at fault, so that the second time shows what else is.
  constexpr int kMaxRounds = 4;
  for (int round = 0; round < kMaxRounds && !candidate.item.left_out; ++round) {
    std::vector<model::Fault> faults;
    candidate.value = model::Decode(candidate.resource, "", faults);
    if (candidate.value) return;
    std::vector<PartFault> parts;
    for (model::Fault& fault : faults) parts.push_back({std::move(fault.path), std::move(fault.message)});
    Take(candidate, parts);
    if (round == kMaxRounds - 1 && !candidate.item.left_out)
      LeaveOut(candidate, fmt::format("{}: {}", parts.front().path, parts.front().message));
  }
}

void ImportPlan::Take(Candidate& candidate, const std::vector<PartFault>& faults) {
  Repaired repaired = Repair(candidate.resource, faults);
  if (!repaired.ok) {
    const PartFault& cause = *repaired.cause;
    return LeaveOut(candidate,
                    cause.path.empty() ? cause.message : fmt::format("{}: {}", cause.path, cause.message));
  }
  candidate.item.name = model::NameOf(candidate.resource);
  for (Shortfall& shortfall : repaired.shortfalls) candidate.item.shortfalls.push_back(std::move(shortfall));
}

void ImportPlan::LeaveOut(Candidate& candidate, std::string reason) {
  candidate.item.left_out = std::move(reason);
  candidate.value.reset();
  if (candidate.key) new_gone_.insert(*candidate.key);
}

void ImportPlan::LeaveOutDependents() {
  while (!new_gone_.empty()) {
    const std::set<model::ResourceKey> gone = std::exchange(new_gone_, {});
    for (Candidate& candidate : candidates_) {
      if (candidate.item.left_out || !candidate.value) continue;
      std::vector<PartFault> faults;
      ForEachReference(*candidate.value, [&](const model::Reference& reference) {
        const model::ResourceKey key{reference.kind, reference.id};
        if (!reference.must_exist || !gone.contains(key)) return;
        faults.push_back(
            {FieldPath(reference),
             fmt::format("{} is left out as well", Described(candidates_[by_key_.at(key)].item, key))});
      });
      if (faults.empty()) continue;
      Take(candidate, faults);
      Decode(candidate);
    }
  }
}

std::optional<std::pair<size_t, std::string>> ImportPlan::Find(const std::string& path) const {
  for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.find_last_of(".[", end - 1)) {
    const auto found = by_path_.find(std::string_view(path).substr(0, end));
    if (found == by_path_.end()) continue;
    return std::pair(found->second, path.substr(std::min(path.size(), end + 1)));
  }
  return std::nullopt;
}

bool ImportPlan::TakeEach(const std::vector<model::Fault>& faults) {
  std::map<size_t, std::vector<PartFault>> by_candidate;
  for (const model::Fault& fault : faults) {
    const auto found = Find(fault.path);
    if (found) by_candidate[found->first].push_back({found->second, fault.message});
  }
  bool progress = false;
  for (auto& [index, parts] : by_candidate) {
    Candidate& candidate = candidates_[index];
    if (candidate.item.left_out) continue;
    Take(candidate, parts);
    if (candidate.value) Decode(candidate);
    progress = true;
  }
  return progress;
}

bool ImportPlan::TakeFaults(const std::vector<model::Fault>& faults) {
  const bool progress = TakeEach(faults);
  LeaveOutDependents();
  return progress;
}

void ImportPlan::NoteNotEnforced() {
  model::NetworkState state;
  for (const Candidate& candidate : candidates_) {
    if (!candidate.item.left_out && candidate.value) Upsert(state, *candidate.value);
  }
  for (model::NotEnforcedItem& item : model::NotEnforced(state)) {
    candidates_[by_key_.at(item.key)].item.shortfalls.push_back(
        {std::move(item.feature), std::move(item.detail)});
  }
}

v1::ApplyRequest ImportPlan::Request(bool dry_run) const {
  v1::ApplyRequest request;
  request.mutable_options()->set_dry_run(dry_run);
  for (const Candidate& candidate : candidates_) {
    if (candidate.item.left_out) continue;
    v1::ApplyItem& item = *request.add_items();
    *item.mutable_resource() = candidate.resource;
    item.set_path(candidate.item.path);
  }
  return request;
}

std::vector<const ImportItem*> ImportPlan::Items() const {
  std::vector<const ImportItem*> out;
  for (const Candidate& candidate : candidates_) out.push_back(&candidate.item);
  for (const ImportItem& item : others_) out.push_back(&item);
  return out;
}

}  // namespace kasane::ctl
