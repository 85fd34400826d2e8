#include "rpc/memory_budget.h"

#include "base/status.h"

namespace kasane::rpc {

absl::StatusOr<MemoryBudget::Lease> MemoryBudget::Take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > total_ - taken_) {
    return Error(
        absl::StatusCode::kResourceExhausted,
        "requests under way take {} of the {} MiB of memory that all may have together; try again later",
        taken_ >> 20, total_ >> 20);
  }
  taken_ += bytes;
  return Lease(this, bytes);
}

void MemoryBudget::GiveBack(size_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace kasane::rpc
