#include "inspect/lookup.h"

#include <algorithm>
#include <string>

#include "base/edit_distance.h"
#include "base/status.h"

namespace kasane::inspect {
namespace {

constexpr size_t kMaxListed = 10;

std::string Describe(const Candidate& candidate) {
  std::string text = fmt::format("{} {}", Label(candidate.owner.kind), candidate.owner.id);
  if (!candidate.name.empty()) text += fmt::format(" ({})", candidate.name);
  return text;
}

absl::Status Ambiguous(std::string_view text, const std::vector<Candidate>& found) {
  std::string list;
  for (size_t i = 0; i < std::min(found.size(), kMaxListed); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", Describe(found[i]));
  }
  if (found.size() > kMaxListed) list += fmt::format(" and {} more", found.size() - kMaxListed);
  return Error(absl::StatusCode::kFailedPrecondition, "\"{}\" is ambiguous, it may be: {}", text, list);
}

template <typename Predicate>
std::vector<Candidate> Select(const std::vector<Candidate>& candidates, Predicate predicate) {
  std::vector<Candidate> found;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(found), predicate);
  return found;
}

std::string_view Similar(std::string_view text, const std::vector<Candidate>& candidates) {
  NearestName nearest(text);
  for (const Candidate& candidate : candidates) {
    if (!candidate.name.empty()) nearest.Offer(candidate.name);
    if (!candidate.owner.id.empty()) nearest.Offer(candidate.owner.id);
  }
  return nearest.result();
}

}  // namespace

absl::StatusOr<Candidate> LookUp(std::string_view text, const std::vector<Candidate>& candidates,
                                 std::string_view what) {
  std::vector<Candidate> found = Select(candidates, [&](const Candidate& c) { return c.owner.id == text; });
  if (found.empty() && !text.empty()) {
    found = Select(candidates, [&](const Candidate& c) { return c.name == text; });
  }
  if (found.empty() && text.size() >= kMinPrefix) {
    found = Select(candidates, [&](const Candidate& c) { return c.owner.id.starts_with(text); });
  }
  if (found.size() > 1) return Ambiguous(text, found);
  if (found.size() == 1) return found.front();
  return Error(absl::StatusCode::kNotFound,
               "no {} has the id or name \"{}\", or an id that begins with it ({} or more characters){}", what,
               text, kMinPrefix, DidYouMean(Similar(text, candidates)));
}

std::vector<Candidate> LocalPortCandidates(const vswitch::HostView& view) {
  std::vector<Candidate> candidates;
  for (const auto& [id, port] : view.ports)
    candidates.push_back({{vswitch::OwnerKind::kPort, id.str()}, port.name});
  return candidates;
}

std::vector<Candidate> OwnerCandidates(const vswitch::HostView& view) {
  std::vector<Candidate> candidates = LocalPortCandidates(view);
  for (const auto& [id, endpoint] : view.endpoints) {
    candidates.push_back({{vswitch::OwnerKind::kPort, id.str()}, endpoint.name});
  }
  for (const auto& [id, network] : view.networks) {
    candidates.push_back({{vswitch::OwnerKind::kNetwork, id.str()}, network.name});
  }
  for (const auto& [id, router] : view.routers) {
    candidates.push_back({{vswitch::OwnerKind::kRouter, id.str()}, router.name});
  }
  for (const auto& [id, host] : view.hosts) candidates.push_back({{vswitch::OwnerKind::kHost, id.str()}, ""});
  candidates.push_back(
      {{vswitch::OwnerKind::kPipeline, ""}, std::string(Label(vswitch::OwnerKind::kPipeline))});
  return candidates;
}

std::string OwnerName(const vswitch::HostView& view, const vswitch::Owner& owner) {
  const auto name_in = [](const auto& map, const auto& id) {
    const auto found = map.find(id);
    return found == map.end() ? std::string() : found->second.name;
  };
  switch (owner.kind) {
    case vswitch::OwnerKind::kPort: {
      const PortId id(owner.id);
      if (view.ports.contains(id)) return name_in(view.ports, id);
      if (view.endpoints.contains(id)) return name_in(view.endpoints, id);
      return name_in(view.reserved, id);
    }
    case vswitch::OwnerKind::kNetwork:
      return name_in(view.networks, NetworkId(owner.id));
    case vswitch::OwnerKind::kRouter:
      return name_in(view.routers, RouterId(owner.id));
    case vswitch::OwnerKind::kPipeline:
      return std::string(Label(owner.kind));
    case vswitch::OwnerKind::kHost:
      return "";
  }
  return "";
}

}  // namespace kasane::inspect
