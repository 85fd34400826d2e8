#include "tests/lab/probe_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/status.h"
#include "tests/lab/responder.h"

namespace kasane::lab {
namespace {

// Room for every probe of a VM while its kernel still resolves neighbours.
constexpr int kBuffer = 8 << 20;

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

}  // namespace

absl::StatusOr<ProbeSocket> ProbeSocket::Open(IpFamily family) {
  ProbeSocket result(
      socket(family == IpFamily::kV4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (result.fd_ < 0) return Error(absl::StatusCode::kInternal, "socket: {}", std::strerror(errno));
  setsockopt(result.fd_, SOL_SOCKET, SO_SNDBUFFORCE, &kBuffer, sizeof kBuffer);
  setsockopt(result.fd_, SOL_SOCKET, SO_RCVBUFFORCE, &kBuffer, sizeof kBuffer);
  return result;
}

ProbeSocket::ProbeSocket(ProbeSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ProbeSocket::~ProbeSocket() {
  if (fd_ >= 0) close(fd_);
}

absl::Status ProbeSocket::Send(const IpAddress& to, const std::string& nonce) const {
  const SocketAddress address = ToSocketAddress(to);
  const ssize_t sent = sendto(fd_, nonce.data(), nonce.size(), 0,
                              reinterpret_cast<const sockaddr*>(&address.storage), address.length);
  if (sent >= 0 || errno == ENETUNREACH || errno == EAGAIN) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kInternal, "a probe to {} could not be sent: {}", to, std::strerror(errno));
}

void ProbeSocket::Receive(const std::function<void(const ProbeAnswer&)>& take) const {
  std::array<char, 512> buffer;
  while (true) {
    sockaddr_storage peer = {};
    socklen_t length = sizeof peer;
    const ssize_t size =
        recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&peer), &length);
    if (size < 0) return;
    const std::string_view text(buffer.data(), static_cast<size_t>(size));
    const size_t space = text.rfind(' ');
    if (space == std::string_view::npos) continue;
    take({std::string(text.substr(0, space)), text.substr(space + 1), FromSocketAddress(peer)});
  }
}

}  // namespace kasane::lab
