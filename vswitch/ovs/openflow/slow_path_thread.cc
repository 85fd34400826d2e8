#include "vswitch/ovs/openflow/slow_path_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "vswitch/ovs/shim/ovs_shim.h"
#include "vswitch/ovs/shim/shim_text.h"

namespace kasane::ovs {
namespace {

constexpr int kOpenMs = 2000;
constexpr int kRetryMs = 100;      // Of a connection that fails; doubled ...
constexpr int kMaxRetryMs = 3200;  // ... up to this.
constexpr int kPatience = 5;  // Failures in a row before there is a problem: a switch that restarts has fewer.

std::vector<uint8_t> Bytes(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {bytes, bytes + size};
}

PacketIn FromShim(const kovs_packet_in& packet) {
  PacketIn in;
  in.frame = Bytes(packet.frame, packet.size);
  in.userdata = Bytes(packet.userdata, packet.userdata_size);
  in.in_port = packet.in_port;
  in.metadata = packet.metadata;
  std::copy(std::begin(packet.registers), std::end(packet.registers), in.registers.begin());
  const IpAddress v6 = IpAddress::V6(std::span<const uint8_t, 16>(packet.tunnel_source_v6));
  if (packet.tunnel_source_v4 != 0) {
    in.tunnel_source = IpAddress::V4(packet.tunnel_source_v4);
  } else if (!v6.IsUnspecified()) {
    in.tunnel_source = v6;
  }
  return in;
}

}  // namespace

void SlowPathThread::Close::operator()(kovs_packets* packets) const { kovs_packets_close(packets); }

SlowPathThread::SlowPathThread(std::string openflow_socket, std::unique_ptr<SlowPathWorker> worker)
    : socket_(std::move(openflow_socket)), worker_(std::move(worker)) {}

void SlowPathThread::Start(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  thread_.Start([this] { Run(); });
}

void SlowPathThread::SwitchIsThere() {
  connect_now_ = true;
  thread_.Wake();
}

std::string SlowPathThread::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void SlowPathThread::SetProblem(std::string problem) {
  {
    const std::lock_guard lock(mutex_);
    if (problem == problem_) return;
    problem_ = std::move(problem);
  }
  on_change_();
}

void SlowPathThread::Disconnected(std::string error) {
  packets_.reset();
  const int delay = std::min(kRetryMs << std::min(failures_, kPatience), kMaxRetryMs);
  connect_at_ = kovs_now_ms() + delay;
  if (++failures_ < kPatience) return;
  SetProblem(
      fmt::format("the switch hands no packets to the agent ({}): duplicate addresses are not detected and "
                  "routers send no ICMP errors; tried again every {} s",
                  error, kMaxRetryMs / 1000));
}

void SlowPathThread::Connect() {
  ShimText error;
  packets_.reset(kovs_packets_open(socket_.c_str(), kOpenMs, error.out()));
  if (!packets_) return Disconnected(error.str());
  failures_ = 0;
  SetProblem("");
}

void SlowPathThread::Handle(const PacketIn& in) { Send(worker_->Handle(in, std::chrono::steady_clock::now())); }

void SlowPathThread::Send(const std::vector<PacketOut>& packets) {
  for (const PacketOut& out : packets) {
    // An answer that does not fit in the queue is lost, as on any wire: who asked asks again.
    ShimText error;
    kovs_packets_send(packets_.get(), out.frame.data(), out.frame.size(), out.actions.c_str(), error.out());
    if (const std::string text = error.str(); !text.empty())
      log::Error("bug: a packet of the agent's cannot be sent", {{"actions", out.actions}, {"reason", text}});
  }
}

void SlowPathThread::Run() {
  while (!thread_.stopping()) {
    const bool now = connect_now_.exchange(false);
    if (!packets_ && (now || kovs_now_ms() >= connect_at_)) Connect();
    const auto handle = [](void* self, const kovs_packet_in* packet) {
      static_cast<SlowPathThread*>(self)->Handle(FromShim(*packet));
    };
    if (packets_ && !kovs_packets_run(packets_.get(), handle, this)) Disconnected("the connection broke");
    const auto released = worker_->ReleaseWaiting(std::chrono::steady_clock::now());
    if (packets_) Send(released);
    kovs_poll_fd(thread_.wake_fd());
    if (const auto expiry = worker_->NextExpiry()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*expiry - std::chrono::steady_clock::now());
      kovs_poll_timer(static_cast<int>(std::max<int64_t>(0, left.count())));
    }
    if (packets_) {
      kovs_packets_wait(packets_.get());
    } else {
      kovs_poll_timer(static_cast<int>(std::max<int64_t>(0, connect_at_ - kovs_now_ms())));
    }
    if (!thread_.stopping() && !connect_now_) kovs_poll_block();
    thread_.Drain();
  }
  packets_.reset();
}

}  // namespace kasane::ovs
