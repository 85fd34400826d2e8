// One sender in a cloud, and the frames that it could send. Used by the files of random_frames alone:
// random_frames.cc has the ordinary ones, special_frames.cc the rare forms, by kind.
#pragma once

#include <utility>
#include <vector>

#include "tests/random/headers.h"
#include "tests/random/random_cloud.h"
#include "tests/random/random_frames.h"

namespace kasane::random {

// Every address that means something in a view, and some that mean nothing.
struct Targets {
  std::vector<IpAddress> v4;
  std::vector<IpAddress> v6;
  std::vector<std::pair<MacAddress, IpAddress>> routers;  // Their addresses, link-local ones too.
  std::vector<MacAddress> macs;

  void AddAddress(const IpAddress& ip) { (ip.is_v4() ? v4 : v6).push_back(ip); }
  void Add(const MacAddress& mac, const IpAddress& ip) {
    AddAddress(ip);
    macs.push_back(mac);
  }
  const std::vector<IpAddress>& Of(bool is_v4) const { return is_v4 ? v4 : v6; }
};

class Sender {
 public:
  // `allowed`: what it may send as beside its MAC and addresses.
  Sender(const Targets& targets, const MacAddress& mac, const std::vector<IpAddress>& ips,
         const std::vector<vswitch::AllowedAddress>& allowed, const Kinds& kinds, Random& random);

  Bytes Make();
  // Of an echo request to a router, of which there is one: one after the other, at least one.
  std::vector<Bytes> EchoInFragments();

 private:
  MacAddress Source() { return Chance(random_, 12) ? Pick(targets_.macs, random_) : mac_; }
  frames::Ethernet Eth() { return {Pick(targets_.macs, random_), Source()}; }
  frames::Ethernet EthToRouter();  // Where there is one.
  IpAddress From(bool v4);
  size_t DataBytes();
  uint8_t Ttl();

  // random_frames.cc
  Bytes Arp();
  Bytes Neighbour();
  Bytes IpPacket();
  Bytes EchoToRouter();
  Bytes WholePacket(const frames::Ethernet& eth, const frames::Ip& ip);

  // special_frames.cc
  Bytes Special(Kind kind);
  Bytes AnyPacket();      // Of IP, to anybody.
  Bytes AnyIpv6Packet();  // Of those that security looks into, too.
  Bytes WithAh();
  Bytes WithHeaders();
  Bytes OddFragment();
  Bytes NdOptions();
  Bytes Multicast();
  Bytes SolicitRouter();
  Bytes Dhcp();
  Bytes NeverRouted();
  Bytes Unannounced();

  const Targets& targets_;
  const std::vector<vswitch::AllowedAddress>& allowed_;
  MacAddress mac_;
  std::vector<IpAddress> own4_;
  std::vector<IpAddress> own6_;
  std::vector<Kind> special_;
  Random& random_;
};

}  // namespace kasane::random
