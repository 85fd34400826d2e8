#include "tests/lab/case/vm_probe.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "tests/lab/case/icmp_error.h"
#include "tests/lab/netns.h"
#include "tests/lab/responder.h"

namespace kasane::lab {
namespace {

constexpr size_t kTokenBytes = 24;

struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// In the VM's namespace: a link-local address needs the interface's number.
Address MakeAddress(const IpAddress& ip, uint16_t port) {
  Address out;
  if (ip.is_v4()) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, ip.bytes().data(), 4);
    out.length = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, ip.bytes().data(), 16);
    if (ip.IsLinkLocal()) v6.sin6_scope_id = if_nametoindex("eth0");
    out.length = sizeof v6;
  }
  return out;
}

IpAddress FromAddress(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    return IpAddress::V4(ntohl(v4.sin_addr.s_addr));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  return IpAddress::V6(std::span<const uint8_t, 16>(v6.sin6_addr.s6_addr, 16));
}

class Socket {
 public:
  Socket(int family, int type, int protocol)
      : fd_(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  void Set(int level, int option, int value) const { setsockopt(fd_, level, option, &value, sizeof value); }

 private:
  int fd_;
};

// Bytes of an ICMP message, its IP header left out, and whom it comes from.
struct IcmpMessage {
  IpAddress from;
  std::vector<uint8_t> bytes;
};

// A raw ICMP socket: the echo requests go out here, replies and all errors come in.
class IcmpSocket {
 public:
  explicit IcmpSocket(IpFamily family)
      : v4_(family == IpFamily::kV4),
        socket_(v4_ ? AF_INET : AF_INET6, SOCK_RAW,
                v4_ ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6)) {}

  const Socket& socket() const { return socket_; }

  std::vector<IcmpMessage> Receive() const {
    std::vector<IcmpMessage> messages;
    std::vector<uint8_t> buffer(65536);
    while (true) {
      sockaddr_storage from = {};
      socklen_t length = sizeof from;
      const ssize_t size =
          recvfrom(socket_.fd(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
      if (size < 0) return messages;
      const size_t header = v4_ ? size_t{4} * (buffer[0] & 0x0f) : 0;
      if (static_cast<size_t>(size) < header + 8) continue;
      messages.push_back(
          {FromAddress(from), {buffer.begin() + static_cast<std::ptrdiff_t>(header), buffer.begin() + size}});
    }
  }

  // Errors that quote a packet to `to`.
  void TakeError(const IcmpMessage& message, const IpAddress& to, ProbeOutcome& outcome) const {
    const std::vector<uint8_t>& icmp = message.bytes;
    const size_t at = 8 + (v4_ ? 16U : 24U);
    const size_t length = v4_ ? 4 : 16;
    if (icmp.size() < at + length || std::memcmp(&icmp[at], to.bytes().data(), length) != 0) return;
    const uint32_t info = uint32_t{icmp[4]} << 24 | uint32_t{icmp[5]} << 16 | uint32_t{icmp[6]} << 8 | icmp[7];
    const std::string text = IcmpErrorText(v4_ ? IpFamily::kV4 : IpFamily::kV6, icmp[0], icmp[1], info);
    if (text.empty()) return;
    outcome.errors.insert(text);
    outcome.error_sources.insert(message.from.ToString());
  }

 private:
  const bool v4_;
  Socket socket_;
};

void SetFragmentation(const Socket& socket, bool v4, bool df) {
  if (v4) {
    socket.Set(IPPROTO_IP, IP_MTU_DISCOVER, df ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
  } else {
    socket.Set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, df ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT);
    socket.Set(IPPROTO_IPV6, IPV6_DONTFRAG, df ? 1 : 0);
  }
}

class Probe : public VmProbe {
 public:
  Probe(const ProbeStep& step, const IpAddress& to) : step_(step), to_(to), icmp_(to.family()) {
    static std::atomic<uint64_t> next{0};
    token_ = fmt::format("{:024x}", (uint64_t{static_cast<uint32_t>(getpid())} << 32) + ++next)
                 .substr(0, kTokenBytes);
  }

 protected:
  std::string Data() const {
    std::string data = token_;
    data.resize(step_.size, 'x');
    return data;
  }
  // "NAME TOKEN..."
  void TakeAnswer(const std::string& answer, ProbeOutcome& outcome) {
    const size_t blank = answer.find(' ');
    if (blank == std::string::npos || answer.compare(blank + 1, kTokenBytes, token_) != 0) return;
    outcome.answered_by.insert(answer.substr(0, blank));
    answered_ = true;
  }
  void TakeErrors(ProbeOutcome& outcome) const {
    for (const IcmpMessage& message : icmp_.Receive()) icmp_.TakeError(message, to_, outcome);
  }

  const ProbeStep& step_;
  const IpAddress to_;
  const IcmpSocket icmp_;
};

class Ping final : public Probe {
 public:
  Ping(const ProbeStep& step, const IpAddress& to) : Probe(step, to), address_(MakeAddress(to, 0)) {
    const Socket& socket = icmp_.socket();
    SetFragmentation(socket, to.is_v4(), step.df);
    const int ttl = static_cast<int>(step.ttl);
    if (to.is_v4()) {
      socket.Set(IPPROTO_IP, IP_TTL, ttl);
    } else {
      socket.Set(IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl);
    }
  }

  absl::Status Send() override {
    std::vector<uint8_t> echo = {static_cast<uint8_t>(to_.is_v4() ? 8 : 128), 0, 0, 0, 0x4b, 0x53, 0, 1};
    const std::string data = Data();
    echo.insert(echo.end(), data.begin(), data.end());
    if (to_.is_v4()) {
      uint32_t sum = 0;
      for (size_t i = 0; i < echo.size(); ++i) sum += i % 2 == 0 ? uint32_t{echo[i]} << 8 : uint32_t{echo[i]};
      while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
      echo[2] = static_cast<uint8_t>(~sum >> 8);
      echo[3] = static_cast<uint8_t>(~sum);
    }
    if (sendto(icmp_.socket().fd(), echo.data(), echo.size(), 0, address_.get(), address_.length) >= 0)
      return absl::OkStatus();
    if (errno == ENETUNREACH || errno == EHOSTUNREACH || errno == ENOBUFS) return absl::OkStatus();  // Silence.
    return FromErrno(fmt::format("sending an echo request to {}", to_));
  }

  void Receive(ProbeOutcome& outcome) override {
    for (const IcmpMessage& message : icmp_.Receive()) {
      const std::string data(message.bytes.begin() + 8, message.bytes.end());
      const bool reply = message.bytes[0] == (to_.is_v4() ? 0 : 129);
      if (reply && message.from == to_ && data == Data()) answered_ = true;
      if (!reply) icmp_.TakeError(message, to_, outcome);
    }
  }

  std::vector<int> fds() const override { return {icmp_.socket().fd()}; }

 private:
  const Address address_;
};

class Datagram final : public Probe {
 public:
  Datagram(const ProbeStep& step, const IpAddress& to)
      : Probe(step, to),
        socket_(to.is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM, 0),
        address_(MakeAddress(to, kProbePort)) {
    SetFragmentation(socket_, to.is_v4(), false);
  }

  absl::Status Send() override {
    const std::string data = Data();
    if (sendto(socket_.fd(), data.data(), data.size(), 0, address_.get(), address_.length) >= 0)
      return absl::OkStatus();
    if (errno == ENETUNREACH || errno == EHOSTUNREACH) return absl::OkStatus();
    return FromErrno(fmt::format("sending a datagram to {}", to_));
  }

  void Receive(ProbeOutcome& outcome) override {
    std::array<char, 512> buffer;
    while (true) {
      sockaddr_storage from = {};
      socklen_t length = sizeof from;
      const ssize_t size =
          recvfrom(socket_.fd(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
      if (size < 0) break;
      if (FromAddress(from) == to_) TakeAnswer({buffer.data(), static_cast<size_t>(size)}, outcome);
    }
    TakeErrors(outcome);
  }

  std::vector<int> fds() const override { return {socket_.fd(), icmp_.socket().fd()}; }

 private:
  const Socket socket_;
  const Address address_;
};

class Connection final : public Probe {
 public:
  Connection(const ProbeStep& step, const IpAddress& to)
      : Probe(step, to),
        socket_(to.is_v4() ? AF_INET : AF_INET6, SOCK_STREAM, 0),
        address_(MakeAddress(to, kProbePort)) {}

  absl::Status Send() override {
    if (connect(socket_.fd(), address_.get(), address_.length) == 0 || errno == EINPROGRESS ||
        errno == ENETUNREACH || errno == EHOSTUNREACH) {
      return absl::OkStatus();
    }
    return FromErrno(fmt::format("connecting to {}", to_));
  }

  void Receive(ProbeOutcome& outcome) override {
    TakeErrors(outcome);
    sockaddr_storage peer = {};
    socklen_t length = sizeof peer;
    if (getpeername(socket_.fd(), reinterpret_cast<sockaddr*>(&peer), &length) != 0)
      return;  // Not connected yet.
    if (!asked_) asked_ = send(socket_.fd(), token_.data(), token_.size(), MSG_NOSIGNAL) > 0;
    std::array<char, 512> buffer;
    const ssize_t size = recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (size > 0) TakeAnswer({buffer.data(), static_cast<size_t>(size)}, outcome);
  }

  std::vector<int> fds() const override { return {socket_.fd(), icmp_.socket().fd()}; }

 private:
  const Socket socket_;
  const Address address_;
  bool asked_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VmProbe>> VmProbe::Open(const std::string& netns, const ProbeStep& step,
                                                       const IpAddress& to) {
  ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(netns));
  std::unique_ptr<VmProbe> probe;
  if (step.kind == ProbeKind::kPing) probe = std::make_unique<Ping>(step, to);
  if (step.kind == ProbeKind::kUdp) probe = std::make_unique<Datagram>(step, to);
  if (step.kind == ProbeKind::kTcp) probe = std::make_unique<Connection>(step, to);
  for (const int fd : probe->fds()) {
    if (fd < 0) return FromErrno("a socket for the probe");
  }
  return probe;
}

}  // namespace kasane::lab
