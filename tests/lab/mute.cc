#include "tests/lab/mute.h"

#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/status.h"

namespace kasane::lab {
namespace {

struct QdiscRequest {
  nlmsghdr header;
  tcmsg message;
  struct {
    rtattr header;
    char text[8];
  } kind;
  struct {
    rtattr header;
    tc_fifo_qopt options;
  } options;
};

// Sends a request and reads its acknowledgement.
absl::Status Ask(const QdiscRequest& request) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return FromErrno("netlink");
  struct {
    nlmsghdr header;
    nlmsgerr error;
    char rest[512];
  } answer = {};
  const bool asked =
      send(fd, &request, request.header.nlmsg_len, 0) >= 0 && recv(fd, &answer, sizeof answer, 0) > 0;
  const int saved = errno;
  close(fd);
  errno = asked ? -answer.error.error : saved;
  return errno == 0 ? absl::OkStatus() : FromErrno("the interface's queue");
}

absl::Status Ask(unsigned long what, const std::string& interface, ifreq& request) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return FromErrno("socket");
  std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  const bool done = ioctl(fd, what, &request) == 0;
  const int saved = errno;
  close(fd);
  errno = saved;
  return done ? absl::OkStatus() : FromErrno("setting up " + interface);
}

}  // namespace

absl::Status SetMuted(const std::string& interface, bool muted) {
  QdiscRequest request = {};
  request.header.nlmsg_type = muted ? RTM_NEWQDISC : RTM_DELQDISC;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (muted ? NLM_F_CREATE | NLM_F_REPLACE : 0);
  request.message.tcm_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  request.message.tcm_parent = TC_H_ROOT;
  request.kind.header = {sizeof request.kind.header + sizeof "pfifo", TCA_KIND};
  std::memcpy(request.kind.text, "pfifo", sizeof "pfifo");
  request.options.header = {sizeof request.options, TCA_OPTIONS};
  request.options.options.limit = 0;
  request.header.nlmsg_len = muted ? sizeof request : offsetof(QdiscRequest, kind);
  return Ask(request);
}

absl::Status SetMtu(const std::string& interface, uint32_t mtu) {
  ifreq request = {};
  request.ifr_mtu = static_cast<int>(mtu);
  return Ask(SIOCSIFMTU, interface, request);
}

absl::Status DisableChecksumOffload(const std::string& interface) {
  ethtool_value value = {ETHTOOL_STXCSUM, 0};
  ifreq request = {};
  request.ifr_data = reinterpret_cast<char*>(&value);
  return Ask(SIOCETHTOOL, interface, request);
}

}  // namespace kasane::lab
