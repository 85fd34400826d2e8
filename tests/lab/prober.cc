#include "tests/lab/prober.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "tests/lab/netns.h"
#include "tests/lab/responder.h"
#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Datagrams may be lost; a fence probe without an answer is sent again.
constexpr milliseconds kRetry{100};
// Room for every probe of a VM while its kernel still resolves neighbours.
constexpr int kSendBuffer = 8 << 20;

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

SocketAddress ToSocketAddress(const IpAddress& address) {
  SocketAddress result;
  if (address.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(kProbePort);
    std::memcpy(&v4->sin_addr, address.bytes().data(), 4);
    result.length = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(kProbePort);
    std::memcpy(&v6->sin6_addr, address.bytes().data(), 16);
    result.length = sizeof *v6;
  }
  return result;
}

IpAddress FromSocketAddress(const sockaddr_storage& storage) {
  std::array<uint8_t, 16> bytes{};
  if (storage.ss_family == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, 16);
    return IpAddress::V6(std::span<const uint8_t, 16>(bytes));
  }
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, 4);
  return IpAddress::V4(std::span<const uint8_t, 4>(bytes.data(), 4));
}

class Socket {
 public:
  // In the calling thread's namespace.
  static absl::StatusOr<Socket> Open(int family) {
    Socket result(socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (result.fd_ < 0) return Error(absl::StatusCode::kInternal, "socket: {}", std::strerror(errno));
    setsockopt(result.fd_, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
    setsockopt(result.fd_, SOL_SOCKET, SO_RCVBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
    return result;
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }

  int fd() const { return fd_; }

 private:
  explicit Socket(int fd) : fd_(fd) {}
  int fd_;
};

// One VM's probes and how far its rounds are.
class Sender {
 public:
  Sender(Socket v4, Socket v6) : v4_(std::move(v4)), v6_(std::move(v6)) {}

  void Add(size_t probe) { probes_.push_back(probe); }
  const Socket& v4() const { return v4_; }
  const Socket& v6() const { return v6_; }
  const std::vector<size_t>& probes() const { return probes_; }

  std::set<size_t> waiting;  // Fence probes of this round that are not answered yet.
  int complete = 0;          // Rounds.
  bool fenced = false;       // At least one fence probe is still counted on.
  Clock::time_point retry;

  bool Done() const { return complete >= kRounds || !fenced; }

 private:
  Socket v4_;
  Socket v6_;
  std::vector<size_t> probes_;  // Indexes; those that nobody should answer first.
};

class Prober {
 public:
  Prober(const std::vector<Probe>& probes, milliseconds deadline)
      : probes_(probes),
        results_(probes.size()),
        given_up_(probes.size(), false),
        start_(Clock::now()),
        deadline_(start_ + deadline),
        patience_(start_ + deadline / 3),
        run_(std::random_device()()) {}

  absl::Status Open(const Layout& layout, const LabPlan& plan) {
    for (const Vm& vm : plan.vms) {
      ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout.Namespace(vm.node)));
      ASSIGN_OR_RETURN(Socket v4, Socket::Open(AF_INET));
      ASSIGN_OR_RETURN(Socket v6, Socket::Open(AF_INET6));
      senders_.emplace_back(std::move(v4), std::move(v6));
    }
    for (const bool fence : {false, true}) {
      for (size_t i = 0; i < probes_.size(); ++i) {
        if (probes_[i].fence == fence) senders_[probes_[i].vm].Add(i);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ProbeResult>> Run() {
    for (Sender& sender : senders_) RETURN_IF_ERROR(StartRound(sender));
    while (!AllDone() && Clock::now() < deadline_) {
      Wait();
      for (Sender& sender : senders_) RETURN_IF_ERROR(Advance(sender));
    }
    for (const Sender& sender : senders_) Receive(sender);  // What arrived behind the last fence.
    for (size_t i = 0; i < probes_.size(); ++i) {
      results_[i].proved =
          !results_[i].answered_by.empty() || given_up_[i] || senders_[probes_[i].vm].complete >= kRounds;
    }
    return std::move(results_);
  }

 private:
  bool AllDone() const {
    return std::all_of(senders_.begin(), senders_.end(), [](const Sender& sender) { return sender.Done(); });
  }

  absl::Status StartRound(Sender& sender) {
    sender.waiting.clear();
    sender.fenced = false;
    for (const size_t probe : sender.probes()) {
      RETURN_IF_ERROR(Send(sender, probe));
      if (probes_[probe].fence && !given_up_[probe]) sender.waiting.insert(probe);
    }
    sender.fenced = !sender.waiting.empty();
    sender.retry = Clock::now() + kRetry;
    return absl::OkStatus();
  }

  absl::Status Advance(Sender& sender) {
    Receive(sender);
    if (sender.Done()) return absl::OkStatus();
    const auto now = Clock::now();
    if (sender.waiting.empty()) {
      ++sender.complete;
      return sender.Done() ? absl::OkStatus() : StartRound(sender);
    }
    if (now < sender.retry) return absl::OkStatus();
    if (now >= patience_) GiveUpSilent(sender);
    for (const size_t probe : sender.waiting) RETURN_IF_ERROR(Send(sender, probe));
    sender.retry = now + kRetry;
    return absl::OkStatus();
  }

  // Goes on without the fence probes that nobody ever answered.
  void GiveUpSilent(Sender& sender) {
    for (auto probe = sender.waiting.begin(); probe != sender.waiting.end();) {
      if (!results_[*probe].answered_by.empty()) {
        ++probe;
        continue;
      }
      given_up_[*probe] = true;
      probe = sender.waiting.erase(probe);
    }
    sender.fenced = std::any_of(sender.probes().begin(), sender.probes().end(),
                                [&](size_t probe) { return probes_[probe].fence && !given_up_[probe]; });
  }

  absl::Status Send(const Sender& sender, size_t index) {
    const Probe& probe = probes_[index];
    const std::string nonce = fmt::format("{:x}.{:x}.{:x}", run_, index, sender.complete);
    const SocketAddress to = ToSocketAddress(probe.to);
    const int fd = probe.to.is_v4() ? sender.v4().fd() : sender.v6().fd();
    const ssize_t sent =
        sendto(fd, nonce.data(), nonce.size(), 0, reinterpret_cast<const sockaddr*>(&to.storage), to.length);
    // A VM without a route to the address cannot reach it: that is an outcome, not a failure.
    if (sent >= 0 || errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EADDRNOTAVAIL) {
      return absl::OkStatus();
    }
    return Error(absl::StatusCode::kInternal, "sending a probe to {}: {}", probe.to, std::strerror(errno));
  }

  void Wait() {
    std::vector<pollfd> sockets;
    auto until = deadline_;
    for (const Sender& sender : senders_) {
      sockets.push_back({sender.v4().fd(), POLLIN, 0});
      sockets.push_back({sender.v6().fd(), POLLIN, 0});
      if (!sender.Done()) until = std::min(until, sender.retry);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    poll(sockets.data(), sockets.size(), static_cast<int>(std::max<int64_t>(left, 0)));
  }

  void Receive(const Sender& sender) {
    for (const Socket* socket : {&sender.v4(), &sender.v6()}) {
      std::array<char, 512> buffer;
      sockaddr_storage peer = {};
      while (true) {
        socklen_t length = sizeof peer;
        const ssize_t size = recvfrom(socket->fd(), buffer.data(), buffer.size(), 0,
                                      reinterpret_cast<sockaddr*>(&peer), &length);
        if (size < 0) break;
        Take({buffer.data(), static_cast<size_t>(size)}, FromSocketAddress(peer));
      }
    }
  }

  // "NAME RUN.PROBE.ROUND". Only an answer from the address that was asked counts, as for any client.
  void Take(std::string_view answer, const IpAddress& peer) {
    const size_t space = answer.rfind(' ');
    if (space == std::string_view::npos) return;
    std::array<uint64_t, 3> numbers{};
    const char* at = answer.data() + space + 1;
    const char* const end = answer.data() + answer.size();
    for (uint64_t& number : numbers) {
      const auto parsed = std::from_chars(at, end, number, 16);
      if (parsed.ec != std::errc()) return;
      at = parsed.ptr == end ? end : parsed.ptr + 1;
    }
    const auto [run, index, round] = numbers;
    if (run != run_ || index >= probes_.size() || probes_[index].to != peer) return;
    results_[index].answered_by.insert(std::string(answer.substr(0, space)));
    Sender& sender = senders_[probes_[index].vm];
    if (round == static_cast<uint64_t>(sender.complete)) sender.waiting.erase(index);
  }

  const std::vector<Probe>& probes_;
  std::vector<ProbeResult> results_;
  std::vector<bool> given_up_;
  const Clock::time_point start_;
  const Clock::time_point deadline_;
  const Clock::time_point patience_;
  const uint64_t run_;
  std::vector<Sender> senders_;
};

}  // namespace

absl::StatusOr<std::vector<ProbeResult>> RunProbes(const Layout& layout, const LabPlan& plan,
                                                   const std::vector<Probe>& probes, milliseconds deadline) {
  Prober prober(probes, deadline);
  RETURN_IF_ERROR(prober.Open(layout, plan));
  return prober.Run();
}

}  // namespace kasane::lab
