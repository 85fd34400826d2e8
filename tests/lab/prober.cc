#include "tests/lab/prober.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <utility>

#include "base/status.h"
#include "tests/lab/netns.h"
#include "tests/lab/probe_socket.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Datagrams may be lost; a fence probe without an answer is sent again.
constexpr milliseconds kRetry{100};
// One VM's probes and how far its rounds are.
class Sender {
 public:
  Sender(ProbeSocket v4, ProbeSocket v6) : v4_(std::move(v4)), v6_(std::move(v6)) {}

  void Add(size_t probe) { probes_.push_back(probe); }
  const ProbeSocket& v4() const { return v4_; }
  const ProbeSocket& v6() const { return v6_; }
  const std::vector<size_t>& probes() const { return probes_; }

  std::set<size_t> waiting;  // Fence probes of this round that are not answered yet.
  int complete = 0;          // Rounds.
  bool fenced = false;       // At least one fence probe is still counted on.
  Clock::time_point retry;

  bool Done() const { return complete >= kRounds || !fenced; }

 private:
  ProbeSocket v4_;
  ProbeSocket v6_;
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
      ASSIGN_OR_RETURN(ProbeSocket v4, ProbeSocket::Open(IpFamily::kV4));
      ASSIGN_OR_RETURN(ProbeSocket v6, ProbeSocket::Open(IpFamily::kV6));
      senders_.emplace_back(std::move(v4), std::move(v6));
    }
    for (const bool fence : {false, true}) {
      for (size_t i = 0; i < probes_.size(); ++i) {
        if (probes_[i].fence == fence) senders_[probes_[i].vm].Add(i);
      }
    }
    return absl::OkStatus();
  }

  std::vector<ProbeResult> Run() {
    for (Sender& sender : senders_) StartRound(sender);
    while (!AllDone() && Clock::now() < deadline_) {
      Wait();
      for (Sender& sender : senders_) Advance(sender);
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

  void StartRound(Sender& sender) {
    sender.waiting.clear();
    sender.fenced = false;
    for (const size_t probe : sender.probes()) {
      Send(sender, probe);
      if (probes_[probe].fence && !given_up_[probe]) sender.waiting.insert(probe);
    }
    sender.fenced = !sender.waiting.empty();
    sender.retry = Clock::now() + kRetry;
  }

  void Advance(Sender& sender) {
    Receive(sender);
    if (sender.Done()) return;
    const auto now = Clock::now();
    if (sender.waiting.empty()) {
      ++sender.complete;
      if (!sender.Done()) StartRound(sender);
      return;
    }
    if (now < sender.retry) return;
    if (now >= patience_) GiveUpSilent(sender);
    for (const size_t probe : sender.waiting) Send(sender, probe);
    sender.retry = now + kRetry;
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

  void Send(const Sender& sender, size_t index) {
    const Probe& probe = probes_[index];
    const std::string nonce = fmt::format("{:x}.{:x}.{:x}", run_, index, sender.complete);
    results_[index].sent.Update((probe.to.is_v4() ? sender.v4() : sender.v6()).Send(probe.to, nonce));
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
    const auto take = [this](const ProbeAnswer& answer) { Take(answer); };
    sender.v4().Receive(take);
    sender.v6().Receive(take);
  }

  // The nonce is "RUN.PROBE.ROUND". Only an answer from the address that was asked counts, as for any client.
  void Take(const ProbeAnswer& answer) {
    std::array<uint64_t, 3> numbers{};
    const char* at = answer.nonce.data();
    const char* const end = at + answer.nonce.size();
    for (uint64_t& number : numbers) {
      const auto parsed = std::from_chars(at, end, number, 16);
      if (parsed.ec != std::errc()) return;
      at = parsed.ptr == end ? end : parsed.ptr + 1;
    }
    const auto [run, index, round] = numbers;
    if (run != run_ || index >= probes_.size() || probes_[index].to != answer.from) return;
    results_[index].answered_by.insert(answer.name);
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
