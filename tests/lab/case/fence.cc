#include "tests/lab/case/fence.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <string_view>

#include "base/status.h"
#include "tests/lab/case/frame_text.h"
#include "tests/lab/netns.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint16_t kFencePort = 19302;  // Of nothing else in a lab.
constexpr std::string_view kMagic = "kasane-fence ";
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kRetry{300};
constexpr size_t kUdpData = 14 + 40 + 8;

// Any port may send from the link-local address of its MAC to the link's group of all nodes.
absl::StatusOr<FrameBytes> FenceFrame(const MacAddress& mac, const std::string& text) {
  return FrameFromText(
      fmt::format("udp(eth_src={}, eth_dst=33:33:00:00:00:01, src={}, dst=ff02::1, ttl=1, sport={}, dport={}, "
                  "payload=\"{}\")",
                  mac, IpAddress::LinkLocal(mac), kFencePort, kFencePort, text));
}

// "TOKEN FROM", or empty: it is no fence.
std::string_view FenceText(const std::vector<uint8_t>& frame) {
  if (frame.size() < kUdpData + kMagic.size() || frame[12] != 0x86 || frame[13] != 0xdd) return {};
  if (frame[20] != packet::kProtoUdp || frame[56] != kFencePort >> 8 || frame[57] != (kFencePort & 0xff))
    return {};
  const std::string_view data(reinterpret_cast<const char*>(frame.data()) + kUdpData, frame.size() - kUdpData);
  return data.substr(0, kMagic.size()) == kMagic ? data.substr(kMagic.size()) : std::string_view();
}

socklen_t MakeSockaddr(const IpAddress& ip, sockaddr_storage& storage) {
  if (ip.is_v4()) {
    auto& out = reinterpret_cast<sockaddr_in&>(storage);
    out.sin_family = AF_INET;
    out.sin_port = htons(kFencePort);
    std::memcpy(&out.sin_addr, ip.bytes().data(), 4);
    return sizeof out;
  }
  auto& out = reinterpret_cast<sockaddr_in6&>(storage);
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(kFencePort);
  std::memcpy(&out.sin6_addr, ip.bytes().data(), 16);
  return sizeof out;
}

}  // namespace

Fences::~Fences() {
  for (const auto& [host, fd] : hosts_) close(fd);
}

absl::Status Fences::Open() {
  for (const Hypervisor& host : resources_.plan().hosts) {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(host.node)));
    const int fd =
        socket(host.vtep.address().is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_storage own = {};
    const socklen_t length = MakeSockaddr(host.vtep.address(), own);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&own), length) != 0) {
      return Error(absl::StatusCode::kInternal, "a socket on {} of {}: {}", host.vtep.address(), host.node,
                   std::strerror(errno));
    }
    hosts_[host.node] = fd;
  }
  return absl::OkStatus();
}

std::vector<Fences::Pair> Fences::UnderlayPairs() const {
  std::vector<Pair> pairs;
  for (const auto& [from, fd] : hosts_) {
    for (const auto& [to, other] : hosts_) {
      if (from != to && forwards(from) && forwards(to)) pairs.emplace_back(from, to);
    }
  }
  return pairs;
}

// From one VM of each network and host to every other VM of the network.
std::vector<Fences::Pair> Fences::NetworkPairs() const {
  std::vector<Pair> pairs;
  std::set<std::pair<NetworkId, std::string>> represented;
  const auto passes = [&](const Vm& vm) { return resources_.IsUp(vm) && forwards(HostOf(vm)); };
  for (const Vm& from : resources_.plan().vms) {
    if (!passes(from)) continue;
    const NetworkId& network = resources_.PortOf(from)->network;
    if (!represented.emplace(network, HostOf(from)).second) continue;
    for (const Vm& to : resources_.plan().vms) {
      if (&to != &from && passes(to) && resources_.PortOf(to)->network == network)
        pairs.emplace_back(from.node, to.node);
    }
  }
  return pairs;
}

absl::Status Fences::SendUnderlay(const std::string& from, const std::string& to) {
  const auto& hosts = resources_.plan().hosts;
  const auto target =
      std::find_if(hosts.begin(), hosts.end(), [&](const Hypervisor& host) { return host.node == to; });
  sockaddr_storage address = {};
  const socklen_t length = MakeSockaddr(target->vtep.address(), address);
  const std::string text = fmt::format("{}{} {}", kMagic, token_, from);
  // What is lost, or finds no neighbour yet, is sent again.
  sendto(hosts_.at(from), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&address), length);
  return absl::OkStatus();
}

absl::Status Fences::SendNetwork(const std::string& from) {
  const Vm& vm = *FindVm(resources_.plan(), from);
  ASSIGN_OR_RETURN(const FrameBytes frame, FenceFrame(vm.mac, fmt::format("{}{} {}", kMagic, token_, from)));
  return sockets_.at(from).Send(frame);
}

void Fences::DrainUnderlay() {
  std::array<char, 128> buffer;
  for (const auto& [host, fd] : hosts_) {
    for (ssize_t size = 0; (size = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      const std::string text(buffer.data(), static_cast<size_t>(size));
      const size_t blank = text.rfind(' ');
      arrived_[{text.substr(blank + 1), host}] = std::strtoull(text.c_str() + kMagic.size(), nullptr, 10);
    }
  }
}

bool Fences::TakeFence(const std::string& vm, const RawFrame& frame) {
  const std::string text(FenceText(frame.bytes));
  if (text.empty()) return false;
  if (!frame.outgoing)
    arrived_[{text.substr(text.find(' ') + 1), vm}] = std::strtoull(text.c_str(), nullptr, 10);
  return true;
}

absl::Status Fences::Drain(std::vector<CapturedFrame>& captured) {
  DrainUnderlay();
  for (const auto& [vm, socket] : sockets_) {
    ASSIGN_OR_RETURN(std::vector<RawFrame> frames, socket.Receive());
    for (RawFrame& frame : frames) {
      if (!TakeFence(vm, frame)) captured.push_back({vm, std::move(frame)});
    }
  }
  return absl::OkStatus();
}

void Fences::Wait(int milliseconds, const std::vector<int>& others) const {
  std::vector<pollfd> fds;
  for (const auto& [vm, socket] : sockets_) fds.push_back({socket.fd(), POLLIN, 0});
  for (const auto& [host, fd] : hosts_) fds.push_back({fd, POLLIN, 0});
  for (const int fd : others) fds.push_back({fd, POLLIN, 0});
  poll(fds.data(), fds.size(), milliseconds);
}

absl::Status Fences::Pass(bool underlay, std::vector<CapturedFrame>& captured) {
  ++token_;
  std::vector<Pair> missing = underlay ? UnderlayPairs() : NetworkPairs();
  const auto deadline = Clock::now() + kPatience;
  while (!missing.empty()) {
    std::set<std::string> sent;
    for (const auto& [from, to] : missing) {
      if (underlay) RETURN_IF_ERROR(SendUnderlay(from, to));
      if (!underlay && sent.insert(from).second) RETURN_IF_ERROR(SendNetwork(from));
    }
    const auto retry = Clock::now() + kRetry;
    while (!missing.empty() && Clock::now() < retry) {
      Wait(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(retry - Clock::now()).count()));
      RETURN_IF_ERROR(Drain(captured));
      std::erase_if(missing, [this](const Pair& pair) {
        const auto found = arrived_.find(pair);
        return found != arrived_.end() && found->second == token_;
      });
    }
    if (Clock::now() >= deadline && !missing.empty()) {
      return Error(absl::StatusCode::kDeadlineExceeded,
                   "a fence from {} does not reach {}, so that nothing is proved", missing.front().first,
                   missing.front().second);
    }
  }
  return absl::OkStatus();
}

absl::Status Fences::Round(std::vector<CapturedFrame>& captured) {
  for (const bool underlay : {true, true, false, false}) RETURN_IF_ERROR(Pass(underlay, captured));
  return absl::OkStatus();
}

}  // namespace kasane::lab
