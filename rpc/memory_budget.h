// MemoryBudget: the memory that requests of a server may take together. A request takes its share before it is
// parsed and gives it back when its lease goes. Threads: any.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <mutex>
#include <utility>

namespace kasane::rpc {

class MemoryBudget {
 public:
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease() {
      if (budget_ != nullptr) budget_->GiveBack(bytes_);
    }
    // Puts the share of another lease of the same budget to this one.
    void Add(Lease other) {
      budget_ = other.budget_ != nullptr ? std::exchange(other.budget_, nullptr) : budget_;
      bytes_ += std::exchange(other.bytes_, 0);
    }
    size_t bytes() const { return bytes_; }

   private:
    friend class MemoryBudget;
    Lease(MemoryBudget* budget, size_t bytes) : budget_(budget), bytes_(bytes) {}
    MemoryBudget* budget_ = nullptr;
    size_t bytes_ = 0;
  };

  explicit MemoryBudget(size_t bytes) : total_(bytes) {}

  // RESOURCE_EXHAUSTED if other requests have taken too much of it.
  absl::StatusOr<Lease> Take(size_t bytes);

 private:
  void GiveBack(size_t bytes);

  const size_t total_;
  std::mutex mutex_;
  size_t taken_ = 0;
};

}  // namespace kasane::rpc
