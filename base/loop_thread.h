// A thread that loops until it is stopped: it sleeps in a poll of its own, and others wake it.
//
//   thread_.Start([this] {
//     while (!thread_.stopping()) { thread_.Drain(); ...; poll(thread_.wake_fd(), ...); }
//   });
//
// Declare it last: its destructor joins, so that nothing which the loop uses is gone before.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "base/wake_fd.h"

namespace kasane {

class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() { Stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  bool valid() const { return wake_.valid(); }  // False: there are no file descriptors left.

  // Called once. `loop` returns soon after stopping() is true.
  void Start(std::function<void()> loop) { thread_ = std::thread(std::move(loop)); }

  // The loop has returned when it returns. Also without Start, and again. Not from the loop.
  void Stop() {
    stop_ = true;
    Wake();
    if (thread_.joinable()) thread_.join();
  }
  void Wake() { wake_.Wake(); }  // Any thread.

  // For the loop.
  bool stopping() const { return stop_; }
  int wake_fd() const { return wake_.fd(); }  // Readable from Wake() until Drain().
  void Drain() { wake_.Drain(); }

 private:
  WakeFd wake_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace kasane
