// The thread that takes packets from br-int to a SlowPathWorker and the answers back, over an OpenFlow
// connection of its own that is made anew whenever it breaks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/loop_thread.h"
#include "vswitch/ovs/openflow/slow_path_worker.h"

struct kovs_packets;

namespace kasane::ovs {

class SlowPathThread {
 public:
  SlowPathThread(std::string openflow_socket, std::unique_ptr<SlowPathWorker> worker);
  SlowPathThread(const SlowPathThread&) = delete;
  SlowPathThread& operator=(const SlowPathThread&) = delete;

  // Called once. `on_change` is called from the thread when Problem() changed.
  void Start(std::function<void()> on_change);
  void Stop() { thread_.Stop(); }  // No callback is running or comes after it returns.
  void SwitchIsThere();            // Connect now, if there is no connection. Any thread.

  SlowPathWorker& worker() { return *worker_; }
  void ViewChanged() { thread_.Wake(); }  // Packets that waited for it go on. Any thread.
  std::string Problem() const;            // Why packets do not reach the agent; empty if they do, or soon will.

 private:
  struct Close {
    void operator()(kovs_packets* packets) const;
  };

  void Run();
  void Connect();
  void Disconnected(std::string error);
  void SetProblem(std::string problem);
  void Handle(const PacketIn& in);
  void Send(const std::vector<PacketOut>& packets);

  const std::string socket_;
  const std::unique_ptr<SlowPathWorker> worker_;
  std::atomic<bool> connect_now_ = false;
  std::function<void()> on_change_;

  mutable std::mutex mutex_;  // Guards problem_.
  std::string problem_;

  // Of the thread alone.
  std::unique_ptr<kovs_packets, Close> packets_;
  int64_t connect_at_ = 0;
  int failures_ = 0;

  LoopThread thread_;
};

}  // namespace kasane::ovs
