// Deadlines within a server's call: a peer that says nothing for too long loses the call.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <memory>
#include <mutex>

namespace kasane::rpc {

// Lets a call be cancelled from any thread, and no longer than the guard lives.
class CallGuard {
 public:
  explicit CallGuard(grpc::ServerContext* call) : canceller_(std::make_shared<Canceller>(call)) {}
  ~CallGuard() { canceller_->Release(); }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

  class Canceller {
   public:
    explicit Canceller(grpc::ServerContext* call) : call_(call) {}
    void Cancel() {
      const std::lock_guard lock(mutex_);
      if (call_ != nullptr) call_->TryCancel();
    }
    void Release() {
      const std::lock_guard lock(mutex_);
      call_ = nullptr;
    }

   private:
    std::mutex mutex_;
    grpc::ServerContext* call_;
  };

  const std::shared_ptr<Canceller>& canceller() const { return canceller_; }

 private:
  std::shared_ptr<Canceller> canceller_;
};

// Cancels the call unless it is destroyed within the time.
class CallDeadline {
 public:
  CallDeadline(const CallGuard& guard, std::chrono::seconds patience) {
    alarm_.Set(std::chrono::system_clock::now() + patience, [canceller = guard.canceller()](bool expired) {
      if (expired) canceller->Cancel();
    });
  }

 private:
  grpc::Alarm alarm_;
};

}  // namespace kasane::rpc
