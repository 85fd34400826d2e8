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
#include <utility>
#include <vector>

#include "base/status.h"

namespace kasane::lab {
namespace {

absl::Status SystemError(std::string_view what) {
  return Error(absl::StatusCode::kInternal, "{}: {}", what, std::strerror(errno));
}

absl::StatusOr<int> OpenSocket(int family, int type) {
  const int fd = socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
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
  if (bound != 0 || (type == SOCK_STREAM && listen(fd, SOMAXCONN) != 0)) {
    return SystemError(fmt::format("port {}", kProbePort));
  }
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

// Answers the first segment of a connection, and ends it.
void AnswerConnection(int fd, const std::string& name) {
  std::array<char, 64> nonce;
  const ssize_t size = recv(fd, nonce.data(), nonce.size(), MSG_DONTWAIT);
  if (size > 0) {
    const std::string answer = name + " " + std::string(nonce.data(), static_cast<size_t>(size));
    send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  close(fd);
}

// What is polled: the listening sockets first, then the connections that have not asked yet.
class Sockets {
 public:
  absl::Status Open() {
    for (const auto& [family, type] : {std::pair(AF_INET, SOCK_DGRAM), std::pair(AF_INET6, SOCK_DGRAM),
                                       std::pair(AF_INET, SOCK_STREAM), std::pair(AF_INET6, SOCK_STREAM)}) {
      ASSIGN_OR_RETURN(const int fd, OpenSocket(family, type));
      fds_.push_back({fd, POLLIN, 0});
    }
    return absl::OkStatus();
  }

  // Returns on an error only.
  absl::Status Serve(const std::string& name) {
    while (poll(fds_.data(), fds_.size(), -1) >= 0 || errno == EINTR) {
      std::vector<pollfd> next(fds_.begin(), fds_.begin() + kListening);
      for (size_t i = 0; i < fds_.size(); ++i) {
        const bool ready = fds_[i].revents != 0;
        if (i < kDatagrams && ready) Answer(fds_[i].fd, name);
        if (i >= kDatagrams && i < kListening && ready) {
          const int connection = accept4(fds_[i].fd, nullptr, nullptr, SOCK_CLOEXEC);
          if (connection >= 0) next.push_back({connection, POLLIN, 0});
        }
        if (i >= kListening && ready) AnswerConnection(fds_[i].fd, name);
        if (i >= kListening && !ready) next.push_back(fds_[i]);
      }
      fds_ = std::move(next);
    }
    return SystemError("poll");
  }

 private:
  static constexpr size_t kDatagrams = 2;
  static constexpr size_t kListening = 4;
  std::vector<pollfd> fds_;
};

}  // namespace

absl::Status RunResponder(const std::string& name, int ready_fd) {
  Sockets sockets;
  RETURN_IF_ERROR(sockets.Open());
  if (ready_fd >= 0) {
    if (write(ready_fd, "r", 1) != 1) return SystemError("telling that it is ready");
    close(ready_fd);
  }
  return sockets.Serve(name);
}

}  // namespace kasane::lab
