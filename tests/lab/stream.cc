#include "tests/lab/stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/lab/layout.h"
#include "tests/lab/netns.h"
#include "tests/lab/probe_socket.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

// The first probe may wait for a neighbour to be resolved, and the last for a slow machine.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kFencePace{20};

class Stream {
 public:
  Stream(ProbeSocket socket, const StreamOptions& options, int stop)
      : socket_(std::move(socket)), options_(options), stop_(stop) {}

  absl::StatusOr<StreamResult> Run(const std::function<void()>& streaming) {
    RETURN_IF_ERROR(SendUntilAnswered());
    streaming();
    RETURN_IF_ERROR(SendUntilStopped());
    const uint64_t counted = sent_;
    RETURN_IF_ERROR(SendUntilAnswered());
    const auto end = answered_.begin() + static_cast<std::ptrdiff_t>(counted);
    return StreamResult{
        counted - first_,
        static_cast<uint64_t>(std::count(answered_.begin() + static_cast<std::ptrdiff_t>(first_), end, true))};
  }

 private:
  absl::Status Send() {
    answered_.push_back(false);
    return socket_.Send(options_.to, std::to_string(sent_++));
  }

  void Receive() {
    socket_.Receive([this](const ProbeAnswer& answer) {
      uint64_t number = 0;
      std::from_chars(answer.nonce.data(), answer.nonce.data() + answer.nonce.size(), number);
      if (number < answered_.size()) answered_[number] = true;
    });
  }

  // Waits for an answer, for a signal if `stoppable`, or for the time. True if a signal came.
  bool Wait(Clock::time_point until, bool stoppable) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time = {seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    std::array<pollfd, 2> fds = {pollfd{socket_.fd(), POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    ppoll(fds.data(), stoppable ? 2 : 1, &time, nullptr);
    Receive();
    return fds[1].revents != 0;
  }

  // Probes, not counted, until one of them is answered.
  absl::Status SendUntilAnswered() {
    const uint64_t begin = sent_;
    const auto deadline = Clock::now() + kPatience;
    while (std::find(answered_.begin() + static_cast<std::ptrdiff_t>(begin), answered_.end(), true) ==
           answered_.end()) {
      if (Clock::now() >= deadline) {
        return Error(absl::StatusCode::kDeadlineExceeded, "{} does not answer {}", options_.to, options_.from);
      }
      RETURN_IF_ERROR(Send());
      const auto next = Clock::now() + kFencePace;
      while (Clock::now() < next && !answered_.back()) Wait(next, /*stoppable=*/false);
    }
    first_ = begin == 0 ? sent_ : first_;
    return absl::OkStatus();
  }

  absl::Status SendUntilStopped() {
    const auto pace = std::chrono::duration_cast<Clock::duration>(std::chrono::seconds(1)) / options_.rate;
    for (auto next = Clock::now(); true; next += pace) {
      RETURN_IF_ERROR(Send());
      while (Clock::now() < next) {
        if (Wait(next, /*stoppable=*/true)) return absl::OkStatus();
      }
      if (Wait(Clock::now(), /*stoppable=*/true)) return absl::OkStatus();
    }
  }

  ProbeSocket socket_;
  const StreamOptions& options_;
  const int stop_;
  uint64_t sent_ = 0;
  uint64_t first_ = 0;          // The first probe that counts.
  std::vector<bool> answered_;  // By number.
};

}  // namespace

absl::StatusOr<StreamResult> RunStreamUntil(const StreamOptions& options, int stop,
                                            const std::function<void()>& streaming) {
  if (options.rate == 0 || options.rate > 100000) return Invalid("--rate {}: use 1 to 100000", options.rate);
  RETURN_IF_ERROR(EnterNetns(Layout(options.lab).Namespace(options.from)));
  ASSIGN_OR_RETURN(ProbeSocket socket, ProbeSocket::Open(options.to.family()));
  return Stream(std::move(socket), options, stop).Run(streaming);
}

absl::StatusOr<StreamResult> RunStream(const StreamOptions& options) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int stop = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  auto result = RunStreamUntil(options, stop, [] {
    fmt::print("streaming\n");
    std::fflush(stdout);
  });
  close(stop);
  return result;
}

}  // namespace kasane::lab
