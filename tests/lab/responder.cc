#include "tests/lab/responder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

absl::Status SystemError(std::string_view what) {
  return Error(absl::StatusCode::kInternal, "{}: {}", what, std::strerror(errno));
}

absl::StatusOr<int> OpenSocket(int family) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket");
  const int on = 1;
  int bound = 0;
  if (family == AF_INET) {
    sockaddr_in any = {};
    any.sin_family = AF_INET;
    any.sin_port = htons(kProbePort);
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    bound = bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any);
  } else {
    sockaddr_in6 any = {};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(kProbePort);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    bound = bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any);
  }
  if (bound != 0) return SystemError(fmt::format("UDP port {}", kProbePort));
  return fd;
}

// The received packet information names the address that was asked; sent back as it is, it sets the
// answer's source. Its interface must not be fixed: the way back may be another one (an address on lo).
void FreeInterface(msghdr& message) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
      reinterpret_cast<in_pktinfo*>(CMSG_DATA(header))->ipi_ifindex = 0;
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
      auto* info = reinterpret_cast<in6_pktinfo*>(CMSG_DATA(header));
      if (!IN6_IS_ADDR_LINKLOCAL(&info->ipi6_addr)) info->ipi6_ifindex = 0;
    }
  }
}

// Answers one datagram. What cannot be sent is lost, as datagrams are; the asker asks again.
void Answer(int fd, const std::string& name) {
  std::array<char, 64> nonce;
  alignas(cmsghdr) std::array<char, 128> control;
  sockaddr_storage peer = {};
  iovec data = {nonce.data(), nonce.size()};
  msghdr message = {};
  message.msg_name = &peer;
  message.msg_namelen = sizeof peer;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(fd, &message, 0);
  if (size < 0) return;
  FreeInterface(message);
  std::string answer = name + " " + std::string(nonce.data(), static_cast<size_t>(size));
  data = {answer.data(), answer.size()};
  sendmsg(fd, &message, 0);
}

}  // namespace

absl::Status RunResponder(const std::string& name, int ready_fd) {
  std::array<pollfd, 2> sockets;
  ASSIGN_OR_RETURN(const int v4, OpenSocket(AF_INET));
  ASSIGN_OR_RETURN(const int v6, OpenSocket(AF_INET6));
  sockets = {pollfd{v4, POLLIN, 0}, pollfd{v6, POLLIN, 0}};
  if (ready_fd >= 0) {
    if (write(ready_fd, "r", 1) != 1) return SystemError("telling that it is ready");
    close(ready_fd);
  }
  while (poll(sockets.data(), sockets.size(), -1) >= 0 || errno == EINTR) {
    for (const pollfd& socket : sockets) {
      if ((socket.revents & POLLIN) != 0) Answer(socket.fd, name);
    }
  }
  return SystemError("poll");
}

}  // namespace kasane::lab
