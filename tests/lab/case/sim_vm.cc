#include "tests/lab/case/sim_vm.h"

#include <algorithm>
#include <array>
#include <span>

#include "tests/lab/case/icmp_error.h"
#include "tests/lab/responder.h"
#include "vswitch/packet/byte_codec.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

constexpr uint8_t kNsType = 135;
constexpr uint8_t kNaType = 136;
constexpr uint8_t kSyn = 0x02;
constexpr uint8_t kAck = 0x10;
constexpr uint8_t kPush = 0x08;
constexpr size_t kTcpHeader = 20;
const MacAddress kBroadcast({0xff, 0xff, 0xff, 0xff, 0xff, 0xff});

using packet::Append;
using packet::Get16;

}  // namespace

void SimVm::Forget() {
  neighbours_.clear();
  waiting_.clear();
  fragments_.clear();
  arrivals_.clear();
  answered_ = false;
}

bool SimVm::Owns(const IpAddress& ip) const {
  return std::any_of(vm_->addresses.begin(), vm_->addresses.end(),
                     [&](const IpPrefix& own) { return own.address() == ip; }) ||
         std::find(vm_->behind.begin(), vm_->behind.end(), ip) != vm_->behind.end() ||
         ip == IpAddress::LinkLocal(vm_->mac) || taken_.count(ip) != 0;
}

const IpAddress* SimVm::SourceFor(const IpAddress& destination) const {
  const IpAddress* first = nullptr;
  for (const IpPrefix& own : vm_->addresses) {
    if (own.family() != destination.family()) continue;
    if (first == nullptr) first = &own.address();
    if (own.Contains(destination)) return &own.address();
  }
  return first;
}

// As the kernel of a lab's VM: what is on the link, then its routes, then the link for everything.
bool SimVm::NextHop(const IpAddress& destination, IpAddress& next_hop) const {
  int best = -1;
  const auto consider = [&](const IpPrefix& prefix, const IpAddress& via) {
    if (prefix.family() != destination.family() || !prefix.Contains(destination) || prefix.length() <= best)
      return;
    best = prefix.length();
    next_hop = via;
  };
  for (const IpPrefix& own : vm_->addresses) consider(own.Network(), destination);
  for (const VmRoute& route : vm_->routes) consider(route.destination, route.via);
  if (best < 0 && SourceFor(destination) != nullptr) {
    next_hop = destination;
    return true;
  }
  return best >= 0 || (destination.is_v6() && destination.IsLinkLocal() && (next_hop = destination, true));
}

bool SimVm::Send(IpPacket packet) {
  if (packet.src.IsUnspecified()) {
    const IpAddress* source = SourceFor(packet.dst);
    if (source == nullptr) return false;
    packet.src = *source;
  }
  packet.id = next_id_++;
  SetChecksum(packet);
  const size_t bytes = Serialise(packet).size();
  if (bytes <= vm_->mtu) {
    Route(packet);
    return true;
  }
  if (packet.df) {
    arrivals_.push_back({SimArrival::Kind::kError, packet.src, fmt::format("frag_needed {}", vm_->mtu)});
    return false;
  }
  for (const IpPacket& fragment : Fragment(packet, vm_->mtu)) Route(fragment);
  return true;
}

void SimVm::Route(const IpPacket& packet) {
  IpAddress next_hop;
  if (!NextHop(packet.dst, next_hop)) return;
  const auto known = neighbours_.find(next_hop);
  if (known != neighbours_.end()) {
    return Emit(known->second, packet.src.is_v4() ? packet::kEtherIpv4 : packet::kEtherIpv6, Serialise(packet));
  }
  std::vector<IpPacket>& queue = waiting_[next_hop];
  queue.push_back(packet);
  if (queue.size() == 1) Solicit(next_hop, packet.src);
}

void SimVm::Emit(const MacAddress& destination, uint16_t ether_type, const std::vector<uint8_t>& payload) {
  Frame frame;
  Append(frame, destination.bytes());
  Append(frame, vm_->mac.bytes());
  frame.push_back(static_cast<uint8_t>(ether_type >> 8));
  frame.push_back(static_cast<uint8_t>(ether_type));
  Append(frame, payload);
  out_.push_back(std::move(frame));
}

void SimVm::Solicit(const IpAddress& next_hop, const IpAddress& source) {
  const IpAddress* own = Owns(source) ? &source : SourceFor(next_hop);
  const IpAddress from = own != nullptr ? *own : IpAddress::LinkLocal(vm_->mac);
  if (next_hop.is_v4()) {
    std::vector<uint8_t> arp = {0, 1, 0x08, 0, 6, 4, 0, 1};
    Append(arp, vm_->mac.bytes());
    Append(arp, from.bytes());
    Append(arp, MacAddress().bytes());
    Append(arp, next_hop.bytes());
    return Emit(kBroadcast, packet::kEtherArp, arp);
  }
  IpPacket solicitation{from,  SolicitedNode(next_hop),       packet::kProtoIcmpv6, 255, false, 0, 0,
                        false, {kNsType, 0, 0, 0, 0, 0, 0, 0}};
  Append(solicitation.payload, next_hop.bytes());
  Append(solicitation.payload, std::array<uint8_t, 2>{1, 1});
  Append(solicitation.payload, vm_->mac.bytes());
  SetChecksum(solicitation);
  Emit(MulticastMac(solicitation.dst), packet::kEtherIpv6, Serialise(solicitation));
}

void SimVm::Learn(const IpAddress& ip, const MacAddress& mac) {
  neighbours_[ip] = mac;
  const auto found = waiting_.find(ip);
  if (found == waiting_.end()) return;
  const std::vector<IpPacket> packets = std::move(found->second);
  waiting_.erase(found);
  for (const IpPacket& packet : packets) Route(packet);
}

void SimVm::Receive(const Frame& frame) {
  const packet::Packet parsed(frame);
  if (!parsed.has_ethernet() || (parsed.eth_dst() != vm_->mac && !parsed.eth_dst().IsMulticast())) return;
  if (parsed.has_arp()) return ReceiveArp(frame);
  if (const auto packet = ParseIpPacket(std::span(frame).subspan(14))) ReceiveIp(*packet, parsed.eth_src());
}

void SimVm::ReceiveArp(const std::vector<uint8_t>& arp) {
  const packet::Packet packet(arp);
  if (packet.arp_op() == 2 || neighbours_.count(packet.arp_spa()) != 0)
    Learn(packet.arp_spa(), packet.arp_sha());
  if (packet.arp_op() != 1 || !Owns(packet.arp_tpa()) || Owns(packet.arp_spa())) return;
  std::vector<uint8_t> reply = {0, 1, 0x08, 0, 6, 4, 0, 2};
  Append(reply, vm_->mac.bytes());
  Append(reply, packet.arp_tpa().bytes());
  Append(reply, packet.arp_sha().bytes());
  Append(reply, packet.arp_spa().bytes());
  Emit(packet.arp_sha(), packet::kEtherArp, reply);
}

bool SimVm::ReceiveNd(const IpPacket& packet, const MacAddress& sender) {
  if (packet.protocol != packet::kProtoIcmpv6 || packet.fragment() || packet.payload.size() < 24 ||
      packet.ttl != 255)
    return false;
  const uint8_t type = packet.payload[0];
  if (type != kNsType && type != kNaType) return false;
  const IpAddress target = IpAddress::V6(std::span<const uint8_t, 16>(&packet.payload[8], 16));
  if (type == kNaType) {
    MacAddress mac = sender;
    if (packet.payload.size() >= 32 && packet.payload[24] == 2) {
      MacAddress::Bytes bytes;
      std::copy_n(packet.payload.begin() + 26, bytes.size(), bytes.begin());
      mac = MacAddress(bytes);
    }
    Learn(target, mac);
  } else if (Owns(target) && !packet.src.IsUnspecified()) {
    neighbours_[packet.src] = sender;
    IpPacket answer{
        target, packet.src, packet::kProtoIcmpv6, 255, false, 0, 0, false, {kNaType, 0, 0, 0, 0x60, 0, 0, 0}};
    Append(answer.payload, target.bytes());
    Append(answer.payload, std::array<uint8_t, 2>{2, 1});
    Append(answer.payload, vm_->mac.bytes());
    SetChecksum(answer);
    Route(answer);
  }
  return true;
}

void SimVm::ReceiveIp(const IpPacket& packet, const MacAddress& sender) {
  if (ReceiveNd(packet, sender)) return;
  if (Owns(packet.dst)) return Local(packet);
  if (vm_->behind.empty() || packet.dst.IsMulticast() || packet.ttl <= 1) return;
  IpPacket forwarded = packet;
  --forwarded.ttl;
  Route(forwarded);
}

void SimVm::Local(const IpPacket& packet) {
  if (packet.fragment()) {
    auto& pieces = fragments_[{packet.src, packet.id}];
    pieces[packet.offset] = packet;
    IpPacket whole = packet;
    whole.payload.clear();
    whole.more = true;
    for (const auto& [offset, piece] : pieces) {
      if (offset != whole.payload.size()) return;
      Append(whole.payload, piece.payload);
      whole.more = piece.more;
    }
    if (whole.more) return;
    fragments_.erase({packet.src, packet.id});
    whole.offset = 0;
    return Local(whole);
  }
  if (packet.protocol == packet::kProtoIcmp || packet.protocol == packet::kProtoIcmpv6)
    return LocalIcmp(packet);
  if (packet.protocol == packet::kProtoUdp) return LocalUdp(packet);
  if (packet.protocol == packet::kProtoTcp) return LocalTcp(packet);
}

void SimVm::Reply(const IpPacket& to, std::vector<uint8_t> payload) {
  Send({to.dst, to.src, to.protocol, 64, false, 0, 0, false, std::move(payload)});
}

void SimVm::LocalIcmp(const IpPacket& packet) {
  const std::vector<uint8_t>& icmp = packet.payload;
  if (icmp.size() < 8) return;
  const bool v4 = packet.src.is_v4();
  if (icmp[0] == (v4 ? 8 : 128)) {
    std::vector<uint8_t> reply = icmp;
    reply[0] = v4 ? 0 : 129;
    answered_ = true;
    return Reply(packet, std::move(reply));
  }
  const std::string data(icmp.begin() + 8, icmp.end());
  if (icmp[0] == (v4 ? 0 : 129)) return arrivals_.push_back({SimArrival::Kind::kEchoReply, packet.src, data});
  const std::string error =
      IcmpErrorText(packet.src.family(), icmp[0], icmp[1], Get16(icmp, 4) << 16 | Get16(icmp, 6));
  if (!error.empty()) arrivals_.push_back({SimArrival::Kind::kError, packet.src, error});
}

void SimVm::LocalUdp(const IpPacket& packet) {
  if (packet.payload.size() < 8) return;
  const std::string data(packet.payload.begin() + 8, packet.payload.end());
  if (Get16(packet.payload, 2) != kProbePort) {
    return arrivals_.push_back({SimArrival::Kind::kDatagram, packet.src, data});
  }
  const std::string answer = vm_->node + " " + data.substr(0, 64);
  std::vector<uint8_t> reply = {packet.payload[2],
                                packet.payload[3],
                                packet.payload[0],
                                packet.payload[1],
                                static_cast<uint8_t>((8 + answer.size()) >> 8),
                                static_cast<uint8_t>(8 + answer.size()),
                                0,
                                0};
  reply.insert(reply.end(), answer.begin(), answer.end());
  answered_ = true;
  Reply(packet, std::move(reply));
}

// Just enough of TCP for one question and one answer: SYN, SYN+ACK, data with ACK, data.
void SimVm::LocalTcp(const IpPacket& packet) {
  const std::vector<uint8_t>& segment = packet.payload;
  if (segment.size() < kTcpHeader) return;
  const std::string data(segment.begin() + kTcpHeader, segment.end());
  const uint8_t flags = segment[13];
  const bool to_server = Get16(segment, 2) == kProbePort;
  std::string answer;
  uint8_t answer_flags = kAck | kPush;
  if (to_server && (flags & kSyn) != 0) {
    answer_flags = kSyn | kAck;
  } else if (to_server && !data.empty()) {
    answer = vm_->node + " " + data;
    answered_ = true;
  } else if (!to_server && flags == (kSyn | kAck)) {
    answer = "probe";
  } else {
    if (!to_server && !data.empty()) arrivals_.push_back({SimArrival::Kind::kSegment, packet.src, data});
    return;
  }
  std::vector<uint8_t> reply = {segment[2], segment[3], segment[0], segment[1],   0,    0, 0, 1, 0, 0,
                                0,          1,          0x50,       answer_flags, 0x20, 0, 0, 0, 0, 0};
  reply.insert(reply.end(), answer.begin(), answer.end());
  Reply(packet, std::move(reply));
}

}  // namespace kasane::lab
