#include "tests/lab/raw_socket.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status.h"

namespace kasane::lab {
namespace {

constexpr int kBufferBytes = 16 << 20;
constexpr size_t kLargestFrame = 65536 + 64;

// The kernel takes a tag out of the frame and tells of it beside it.
void PutTagBack(const msghdr& message, std::vector<uint8_t>& frame) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(const_cast<msghdr*>(&message), header)) {
    if (header->cmsg_level != SOL_PACKET || header->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata data = {};
    std::memcpy(&data, CMSG_DATA(header), sizeof data);
    if ((data.tp_status & TP_STATUS_VLAN_VALID) == 0 || frame.size() < 12) continue;
    const uint16_t type = (data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? data.tp_vlan_tpid : ETH_P_8021Q;
    const std::array<uint8_t, 4> tag = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type),
                                        static_cast<uint8_t>(data.tp_vlan_tci >> 8),
                                        static_cast<uint8_t>(data.tp_vlan_tci)};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  }
}

}  // namespace

absl::StatusOr<RawSocket> RawSocket::Open(const std::string& interface) {
  RawSocket out(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (out.fd_ < 0) return FromErrno("packet socket");
  const int on = 1;
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  packet_mreq all = {address.sll_ifindex, PACKET_MR_PROMISC, 0, {}};
  if (setsockopt(out.fd_, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on) != 0 ||
      setsockopt(out.fd_, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) != 0 ||
      setsockopt(out.fd_, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof kBufferBytes) != 0 ||
      bind(out.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(out.fd_, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0) {
    return FromErrno("packet socket on " + interface);
  }
  return out;
}

RawSocket::RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RawSocket::~RawSocket() {
  if (fd_ >= 0) close(fd_);
}

absl::Status RawSocket::Send(const std::vector<uint8_t>& frame) const {
  if (send(fd_, frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size())) return absl::OkStatus();
  return FromErrno(fmt::format("sending a frame of {} bytes", frame.size()));
}

absl::StatusOr<std::vector<RawFrame>> RawSocket::Receive() const {
  std::vector<RawFrame> frames;
  static thread_local std::vector<uint8_t> buffer(kLargestFrame);
  while (true) {
    alignas(cmsghdr) std::array<char, 128> control;
    sockaddr_ll from = {};
    iovec data = {buffer.data(), buffer.size()};
    msghdr message = {};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(fd_, &message, 0);
    if (size < 0) break;
    RawFrame frame{{buffer.begin(), buffer.begin() + size}, from.sll_pkttype == PACKET_OUTGOING};
    PutTagBack(message, frame.bytes);
    frames.push_back(std::move(frame));
  }
  tpacket_stats stats = {};
  socklen_t length = sizeof stats;
  if (getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0 && stats.tp_drops != 0) {
    return Error(absl::StatusCode::kResourceExhausted, "{} frames did not fit into the capture's buffer",
                 stats.tp_drops);
  }
  return frames;
}

}  // namespace kasane::lab
