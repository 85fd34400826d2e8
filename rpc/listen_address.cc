#include "rpc/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/status.h"

namespace kasane::rpc {
namespace {

absl::StatusOr<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return Invalid("\"{}\" is not a port", text);
  return port;
}

// Binds a socket of the address's family. 0, or errno.
int Bind(int fd, const ListenAddress& address) {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  if (address.ip.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    std::copy(address.ip.bytes().begin(), address.ip.bytes().end(), reinterpret_cast<uint8_t*>(&v4->sin_addr));
    size = sizeof(sockaddr_in);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    std::copy(address.ip.bytes().begin(), address.ip.bytes().end(), v6->sin6_addr.s6_addr);
    size = sizeof(sockaddr_in6);
  }
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd, reinterpret_cast<const sockaddr*>(&storage), size) != 0) return errno;
  return listen(fd, 1) != 0 ? errno : 0;
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return Invalid("\"{}\" has no port; write HOST:PORT, as in 127.0.0.1:6650", text);
  }
  std::string_view host = text.substr(0, colon);
  ListenAddress address;
  ASSIGN_OR_RETURN(address.port, ParsePort(text.substr(colon + 1)));
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  const absl::StatusOr<IpAddress> ip = IpAddress::Parse(host);
  if (!ip.ok() || ip->is_v6() != bracketed) {
    return Invalid("\"{}\" does not begin with an address; write 127.0.0.1:6650 or [::1]:6650", text);
  }
  address.ip = *ip;
  return address;
}

std::string ListenAddress::ToString() const {
  return ip.is_v6() ? fmt::format("[{}]:{}", ip, port) : fmt::format("{}:{}", ip, port);
}

absl::Status TryListen(const ListenAddress& address) {
  const int fd = socket(address.ip.is_v4() ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int error = fd < 0 ? errno : Bind(fd, address);
  if (fd >= 0) close(fd);
  switch (error) {
    case 0:
      return absl::OkStatus();
    case EADDRINUSE:
      return Error(absl::StatusCode::kUnavailable,
                   "{} is in use by another program; stop that one, or choose another address with --listen",
                   address.ToString());
    case EADDRNOTAVAIL:
      return Error(absl::StatusCode::kUnavailable,
                   "{} is no address of this machine; choose one that is with --listen", address.ToString());
    default:
      return Error(absl::StatusCode::kUnavailable,
                   "cannot listen on {}: {}; choose another address with --listen", address.ToString(),
                   std::strerror(error));
  }
}

}  // namespace kasane::rpc
