#include "controller/api/response_parts.h"

#include <algorithm>
#include <utility>

namespace kasane::controller {
namespace {

constexpr int kElementsPerPart = 2'000;  // Of each list: some hundred kilobytes.

// Moves the first elements of `from` to `to`, which is empty.
template <typename List>
void MoveFirst(List& from, List& to) {
  if (from.size() <= kElementsPerPart) {
    to.Swap(&from);
    return;
  }
  std::vector<typename List::value_type*> taken(kElementsPerPart);
  from.ExtractSubrange(0, kElementsPerPart, taken.data());
  for (auto* element : taken) to.AddAllocated(element);
}

bool HasMore(const v1::ApplyResponse& response) {
  return response.faults_size() + response.changes_size() + response.warnings_size() +
             response.not_enforced_size() !=
         0;
}

}  // namespace

std::vector<v1::ImportResponse> PartsOf(v1::ApplyResponse whole) {
  std::vector<v1::ImportResponse> parts(1);
  v1::ApplyResponse& first = *parts.front().mutable_result();
  *first.mutable_revision() = whole.revision();
  first.set_faults_omitted(whole.faults_omitted());
  first.set_warnings_omitted(whole.warnings_omitted());
  first.set_not_enforced_omitted(whole.not_enforced_omitted());
  while (HasMore(whole)) {
    v1::ApplyResponse& part = *parts.emplace_back().mutable_result();
    MoveFirst(*whole.mutable_faults(), *part.mutable_faults());
    MoveFirst(*whole.mutable_changes(), *part.mutable_changes());
    MoveFirst(*whole.mutable_warnings(), *part.mutable_warnings());
    MoveFirst(*whole.mutable_not_enforced(), *part.mutable_not_enforced());
  }
  return parts;
}

}  // namespace kasane::controller
