#include "tests/random/random_frames.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/random/aimed_frames.h"
#include "tests/random/mutate.h"
#include "tests/random/sender.h"

namespace kasane::random {
namespace {

constexpr Kind kFrameKinds[] = {Kind::kAh,        Kind::kHeaders,     Kind::kFragments,
                                Kind::kNdOptions, Kind::kMulticast,   Kind::kSolicitRouter,
                                Kind::kDhcp,      Kind::kNeverRouted, Kind::kUnannounced};

Targets NewTargets() {
  Targets targets;
  for (const uint32_t ip : {0xc0000201U, 0xc00002c8U, 0x08080808U, 0xe0000005U, 0xffffffffU, 0x0a0000c8U})
    targets.v4.push_back(IpAddress::V4(ip));
  for (const char* ip : {"2001:db8:ffff::1", "ff02::1", "fe80::1", "2001:db8:9::9"})
    targets.v6.push_back(*IpAddress::Parse(ip));
  targets.macs = {MacAddress::Broadcast(), NthMac(0xabcdef), MacAddress({0x01, 0x80, 0xc2, 0, 0, 0x0e}),
                  MacAddress({0x33, 0x33, 0, 0, 0, 1}), NthMac(77)};
  return targets;
}

void AddAllowed(Targets& targets, const std::vector<vswitch::AllowedAddress>& allowed, const Kinds& kinds,
                Random& random) {
  if (!Has(kinds, Kind::kUnannounced)) return;
  for (const vswitch::AllowedAddress& one : allowed) {
    const bool host = one.prefix.length() == one.prefix.address().bits();
    const IpAddress ip = Nth(one.prefix, host ? 0 : static_cast<uint32_t>(Below(random, 40)));
    if (one.prefix.Contains(ip)) targets.Add(one.mac, ip);
  }
}

// MACs mean something on the sender's network alone; addresses of others are routed to.
template <typename Ports>
void AddPorts(Targets& targets, const Ports& ports, const NetworkId& network, const Kinds& kinds,
              Random& random) {
  for (const auto& entry : ports) {
    const auto& port = entry.second;
    if (port.network != network && !Chance(random, 4)) {
      for (const IpAddress& ip : port.ips) targets.AddAddress(ip);
      continue;
    }
    targets.Add(port.mac, IpAddress::LinkLocal(port.mac));
    for (const IpAddress& ip : port.ips) targets.Add(port.mac, ip);
    if constexpr (requires { port.allowed; }) AddAllowed(targets, port.allowed, kinds, random);
  }
}

void AddRouters(Targets& targets, const vswitch::HostView& view, const NetworkId& network, Random& random) {
  for (const auto& [id, router] : view.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      const bool here = port.network == network || Chance(random, 4);
      if (here) {
        targets.Add(port.mac, port.link_local);
        targets.routers.emplace_back(port.mac, port.link_local);
      }
      for (const IpPrefix& address : port.addresses) {
        // Of the subnet, and most likely nobody's.
        targets.AddAddress(Nth(address.Network(), static_cast<uint32_t>(Below(random, 60))));
        if (!here) continue;
        targets.routers.emplace_back(port.mac, address.address());
        // Routers' MACs weigh more: most packets should be routed.
        for (int i = 0; i < 3; ++i) targets.Add(port.mac, address.address());
      }
    }
  }
}

Targets TargetsOf(const vswitch::HostView& view, const NetworkId& network, const Kinds& kinds, Random& random) {
  Targets targets = NewTargets();
  AddPorts(targets, view.ports, network, kinds, random);
  AddPorts(targets, view.endpoints, network, kinds, random);
  AddPorts(targets, view.reserved, network, kinds, random);
  for (const auto& [key, claim] : view.claims) {
    for (int i = 0; i < 2; ++i) targets.Add(claim.mac, key.second);
  }
  AddRouters(targets, view, network, random);
  return targets;
}

template <typename Map>
const typename Map::mapped_type& AnyOf(const Map& map, Random& random) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(Below(random, map.size())))->second;
}

Stimulus FromPeer(const vswitch::HostView& view, Random& random, const Kinds& kinds) {
  const vswitch::RemoteEndpoint& remote = AnyOf(view.endpoints, random);
  const Targets targets = TargetsOf(view, remote.network, kinds, random);
  std::vector<IpAddress> peers = PeerVteps();
  std::erase_if(peers, [&](const IpAddress& ip) { return ip.is_v6() && !view.tunnel_addresses.v6; });
  Stimulus stimulus;
  stimulus.outer_source = Pick(peers, random);
  if (Chance(random, 10)) {
    stimulus.outer_source = *IpAddress::Parse(stimulus.outer_source.is_v4() ? "192.0.2.200" : "fd00::200");
  }
  stimulus.vni = view.networks.at(remote.network).vni.value() + (Chance(random, 8) ? 1000 : 0);
  stimulus.frame = Sender(targets, remote.mac, remote.ips, remote.allowed, kinds, random).Make();
  return stimulus;
}

Stimulus WellFormed(const vswitch::HostView& view, Random& random, const Kinds& kinds) {
  if (Has(kinds, Kind::kAimed) && Chance(random, 6)) {
    if (auto aimed = AimedStimulus(view, random)) return *std::move(aimed);
  }
  if (!view.endpoints.empty() && (view.ports.empty() || Chance(random, 5)))
    return FromPeer(view, random, kinds);
  const vswitch::LocalPort& local = AnyOf(view.ports, random);
  const Targets targets = TargetsOf(view, local.network, kinds, random);
  Sender sender(targets, local.mac, local.ips, local.allowed, kinds, random);
  Stimulus stimulus;
  stimulus.port = local.id;
  if (Has(kinds, Kind::kFragments) && !targets.routers.empty() && Chance(random, 20)) {
    stimulus.before = sender.EchoInFragments();
    stimulus.frame = std::move(stimulus.before.back());
    stimulus.before.pop_back();
  } else {
    stimulus.frame = sender.Make();
  }
  return stimulus;
}

}  // namespace

Sender::Sender(const Targets& targets, const MacAddress& mac, const std::vector<IpAddress>& ips,
               const std::vector<vswitch::AllowedAddress>& allowed, const Kinds& kinds, Random& random)
    : targets_(targets), allowed_(allowed), mac_(mac), random_(random) {
  for (const IpAddress& ip : ips) (ip.is_v4() ? own4_ : own6_).push_back(ip);
  own6_.push_back(IpAddress::LinkLocal(mac));
  for (const Kind kind : kFrameKinds) {
    if (Has(kinds, kind)) special_.push_back(kind);
  }
}

Bytes Sender::Make() {
  if (!special_.empty() && Chance(random_, 3)) return Special(Pick(special_, random_));
  const uint64_t kind = Below(random_, 20);
  if (kind < 4) return Arp();
  if (kind < 8) return Neighbour();
  if (kind < 19) return IpPacket();
  const std::vector<uint16_t> types = {0x88cc, 0x8100, 0x86dd, 0x0800, 0x0806, 0x1234};
  return frames::Raw(Eth(), Pick(types, random_), Bytes(46, 0));
}

IpAddress Sender::From(bool v4) {
  const auto& own = v4 ? own4_ : own6_;
  if (own.empty() || Chance(random_, 10)) return Pick(targets_.Of(v4), random_);
  return Pick(own, random_);
}

uint8_t Sender::Ttl() {
  const std::vector<uint8_t> ttls = {0, 1, 2, 3, 64, 64, 64, 64, 64, 255};
  return Pick(ttls, random_);
}

size_t Sender::DataBytes() {
  const std::vector<uint64_t> limits = {64, 64, 64, 700, 1600};
  return Below(random_, Pick(limits, random_));
}

Bytes Sender::Arp() {
  frames::Ethernet eth = Eth();
  if (!Chance(random_, 4)) eth.dst = MacAddress::Broadcast();
  const MacAddress sha = Chance(random_, 10) ? Pick(targets_.macs, random_) : eth.src;
  const IpAddress spa = Chance(random_, 8) ? IpAddress() : From(true);
  // Now and then gratuitous: for an address of its own, or for one that it may at best share.
  if (Chance(random_, 5)) {
    const IpAddress said = Chance(random_, 2) ? From(true) : Pick(targets_.v4, random_);
    return frames::Arp(eth, Chance(random_, 3) ? 2 : 1, sha, said, MacAddress(), said);
  }
  return frames::Arp(eth, Chance(random_, 4) ? 2 : 1, sha, spa, MacAddress(), Pick(targets_.v4, random_));
}

Bytes Sender::Neighbour() {
  frames::Ethernet eth = Eth();
  const IpAddress target = Chance(random_, 6) ? Pick(own6_, random_) : Pick(targets_.v6, random_);
  const IpAddress group = SolicitedNode(target);
  if (!Chance(random_, 4)) eth.dst = MulticastMac(group);
  const IpAddress source = Chance(random_, 8) ? *IpAddress::Parse("::") : From(false);
  const uint8_t hops = Chance(random_, 8) ? 64 : 255;
  const MacAddress option = Chance(random_, 10) ? Pick(targets_.macs, random_) : eth.src;
  const bool with_option = !Chance(random_, 6);
  if (Chance(random_, 3)) {
    return frames::Advertisement(eth, {source, Pick(targets_.v6, random_), hops}, target,
                                 with_option ? &option : nullptr);
  }
  return frames::Solicitation(eth, {source, group, hops}, target, with_option ? &option : nullptr);
}

Bytes Sender::IpPacket() {
  if (!targets_.routers.empty() && Chance(random_, 12)) return EchoToRouter();
  const bool v4 = Chance(random_, 2);
  Bytes frame = WholePacket(Eth(), {From(v4), Pick(targets_.Of(v4), random_), Ttl()});
  if (!Chance(random_, 5)) return frame;
  return Pick(frames::Fragments(frame, Chance(random_, 2) ? 8 : 64), random_);
}

Bytes Sender::EchoToRouter() {
  const auto& [mac, ip] = Pick(targets_.routers, random_);
  const IpAddress from = ip.is_v6() && Chance(random_, 2) ? IpAddress::LinkLocal(mac_) : From(ip.is_v4());
  return frames::Echo({mac, Source()}, {from, ip, Ttl()}, 1, DataBytes());
}

// Mostly such as the router answers; also with a fragment that is left out, comes twice or overlaps, and of an
// id that another has under way.
std::vector<Bytes> Sender::EchoInFragments() {
  const Bytes frame = EchoToRouter();
  const std::vector<size_t> sizes = {8, 64, 512, 1232};
  const auto id = static_cast<uint32_t>(Below(random_, Chance(random_, 4) ? 3 : 1000000));
  std::vector<Bytes> parts = frames::Fragments(frame, Pick(sizes, random_), id);
  if (Chance(random_, 6)) parts.push_back(Pick(frames::Fragments(frame, 24, id), random_));
  if (Chance(random_, 6)) parts.push_back(Pick(parts, random_));
  if (Chance(random_, 2)) std::shuffle(parts.begin(), parts.end(), random_);
  if (parts.size() > 1 && Chance(random_, 6)) parts.pop_back();
  return parts;
}

Bytes Sender::WholePacket(const frames::Ethernet& eth, const frames::Ip& ip) {
  const auto port = [this] {
    const std::vector<uint16_t> ports = {67, 68, 546, 547, 80, 1024, 40000};
    return Pick(ports, random_);
  };
  switch (Below(random_, 5)) {
    case 0:
      return frames::Udp(eth, ip, port(), port(), DataBytes());
    case 1:
      return frames::Tcp(eth, ip, port(), port());
    case 2: {
      const std::vector<uint8_t> types = {0, 1, 3, 4, 5, 11, 12, 128, 129, 133, 134, 137};
      Bytes message(8 + DataBytes(), 0);
      message[0] = Pick(types, random_);
      return frames::Packet(eth, ip, ip.src.is_v4() ? 1 : 58, std::move(message));
    }
    default:
      return frames::Echo(eth, ip, static_cast<uint16_t>(Below(random_, 65536)), DataBytes());
  }
}

Stimulus RandomStimulus(const vswitch::HostView& view, Random& random, const Kinds& kinds) {
  Stimulus stimulus = WellFormed(view, random, kinds);
  if (!Chance(random, 3)) return stimulus;
  Mutated mutated = Mutate(stimulus.frame, random);
  stimulus.frame = std::move(mutated.frame);
  stimulus.mutation = mutated.kind;
  return stimulus;
}

}  // namespace kasane::random
