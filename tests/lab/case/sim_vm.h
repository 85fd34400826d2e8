// The network stack of a VM in sim: what a plain Linux guest with the lab's configuration does, as far as cases
// need it. It resolves neighbours by ARP and ND, answers echo requests, answers UDP and TCP on the probe port
// with the VM's name as the lab's responder does, fragments and reassembles, and forwards if something is
// behind it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/lab/case/ip_packet.h"
#include "tests/lab/plan.h"

namespace kasane::lab {

// What reached a VM's programs.
struct SimArrival {
  enum class Kind : uint8_t { kEchoReply, kDatagram, kSegment, kError };
  Kind kind = Kind::kEchoReply;
  IpAddress from;
  std::string data;  // Payload; of an error its name (icmp_error.h).
};

class SimVm {
 public:
  using Frame = std::vector<uint8_t>;

  explicit SimVm(const Vm& vm) : vm_(&vm) {}
  // The VM has other addresses now; what it knew of neighbours stays.
  void Reconfigure(const Vm& vm) { vm_ = &vm; }
  const Vm& vm() const { return *vm_; }
  // It takes an address beside those, or gives it up.
  void SetAddress(const IpAddress& address, bool add) {
    if (add) taken_.insert(address);
    if (!add) taken_.erase(address);
  }

  // A program sends this; the source is chosen if it is unspecified. False: there is no way, or it is larger
  // than the MTU and must not be fragmented, which is then an arrival.
  bool Send(IpPacket packet);

  // The network delivers this.
  void Receive(const Frame& frame);

  // The frames that it has put on the wire since the last call.
  std::vector<Frame> TakeFrames() { return std::exchange(out_, {}); }
  std::vector<SimArrival> TakeArrivals() { return std::exchange(arrivals_, {}); }

  // True if it has answered a probe since the last call.
  bool TakeAnswered() { return std::exchange(answered_, false); }
  // Cached neighbours are forgotten, as the lab does between steps.
  void Forget();

 private:
  using FragmentKey = std::pair<IpAddress, uint32_t>;

  bool Owns(const IpAddress& ip) const;
  const IpAddress* SourceFor(const IpAddress& destination) const;
  bool NextHop(const IpAddress& destination, IpAddress& next_hop) const;
  void Route(const IpPacket& packet);
  void Emit(const MacAddress& destination, uint16_t ether_type, const std::vector<uint8_t>& payload);
  void Solicit(const IpAddress& next_hop, const IpAddress& source);
  void Learn(const IpAddress& ip, const MacAddress& mac);
  void ReceiveArp(const std::vector<uint8_t>& arp);
  bool ReceiveNd(const IpPacket& packet, const MacAddress& sender);
  void ReceiveIp(const IpPacket& packet, const MacAddress& sender);
  void Local(const IpPacket& packet);
  void LocalIcmp(const IpPacket& packet);
  void LocalUdp(const IpPacket& packet);
  void LocalTcp(const IpPacket& packet);
  void Reply(const IpPacket& to, std::vector<uint8_t> payload);

  const Vm* vm_;
  std::set<IpAddress> taken_;
  std::map<IpAddress, MacAddress> neighbours_;
  std::map<IpAddress, std::vector<IpPacket>> waiting_;  // For the neighbour.
  std::map<FragmentKey, std::map<uint32_t, IpPacket>> fragments_;
  std::vector<Frame> out_;
  std::vector<SimArrival> arrivals_;
  uint32_t next_id_ = 1;
  bool answered_ = false;
};

}  // namespace kasane::lab
