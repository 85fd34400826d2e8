#include "tests/differential/random_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "tests/differential/mutate.h"

namespace kasane::differential {
namespace {

constexpr int kPortCount = 6;
constexpr int kPeerCount = 3;  // One more host exists that has never said where it is.

uint64_t Below(Random& random, uint64_t limit) {
  return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random);
}
bool Chance(Random& random, uint64_t one_in) { return Below(random, one_in) == 0; }

template <typename T>
const T& Pick(const std::vector<T>& from, Random& random) {
  KASANE_CHECK(!from.empty());
  return from[Below(random, from.size())];
}

MacAddress NthMac(uint32_t n) {
  return MacAddress(
      {0xfa, 0x16, 0x3e, static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)});
}

IpAddress Nth(const IpPrefix& prefix, uint8_t n) {
  std::vector<uint8_t> bytes(prefix.address().bytes().begin(), prefix.address().bytes().end());
  bytes.back() = static_cast<uint8_t>(bytes.back() + n);
  if (prefix.family() == IpFamily::kV4) return IpAddress::V4(std::span<const uint8_t, 4>(bytes.data(), 4));
  return IpAddress::V6(std::span<const uint8_t, 16>(bytes.data(), 16));
}

// Builds one cloud.
class Cloud {
 public:
  explicit Cloud(Random& random) : random_(random) {}

  model::NetworkState Build() {
    AddHosts();
    const auto networks = 1 + Below(random_, 4);
    for (uint64_t n = 0; n < networks; ++n) AddNetwork(n);
    for (const PortId& port : LocalPorts()) AddVm(port.str(), kHost);
    const auto remotes = Below(random_, 8);
    for (uint64_t n = 0; n < remotes; ++n) {
      AddVm(fmt::format("remote{}", n), HostId(fmt::format("h{}", 1 + Below(random_, kPeerCount + 1))));
    }
    const auto routers = Below(random_, 4);
    for (uint64_t n = 0; n < routers; ++n) AddRouter(n);
    const auto claims = Below(random_, 6);
    for (uint64_t n = 0; n < claims; ++n) AddClaim(n);
    return std::move(state_);
  }

 private:
  void AddHosts() {
    for (int n = 0; n <= kPeerCount; ++n) {
      auto host = std::make_shared<model::Host>();
      host->id = HostId(fmt::format("h{}", n));
      host->tunnel_v4 = n == 0 ? OwnVtep() : PeerVteps()[static_cast<size_t>(n - 1)];
      state_.hosts[host->id] = std::move(host);
    }
  }

  // Every network may use the same prefixes as another one.
  void AddNetwork(uint64_t n) {
    auto network = std::make_shared<model::Network>();
    network->id = NetworkId(fmt::format("n{}", n));
    network->name = network->id.str();
    network->vni = *Vni::From(100 + n * 1000);
    network->admin_state_up = !Chance(random_, 12);
    const std::vector<uint32_t> mtus = {1450, 1450, 1450, 1500, 1280, 600};
    network->mtu = Pick(mtus, random_);
    const std::string v4 = fmt::format("10.0.{}.0/24", Below(random_, 3));
    const std::string v6 = fmt::format("2001:db8:{}::/64", Below(random_, 3));
    for (const std::string& cidr : {v4, v6}) {
      if (cidr == v6 && Chance(random_, 3)) continue;
      auto subnet = std::make_shared<model::Subnet>();
      subnet->id = SubnetId(fmt::format("{}-{}", network->id, cidr));
      subnet->network = network->id;
      subnet->cidr = *IpPrefix::Parse(cidr);
      subnets_.push_back(subnet);
      state_.subnets[subnet->id] = std::move(subnet);
    }
    networks_.push_back(network->id);
    state_.networks[network->id] = std::move(network);
  }

  std::shared_ptr<model::Port> NewPort(const std::string& id, const NetworkId& network) {
    auto port = std::make_shared<model::Port>();
    port->id = PortId(id);
    port->name = id;
    port->network = network;
    // MACs repeat between networks, never within one.
    port->mac = NthMac(++used_[network]);
    return port;
  }

  void AddAddresses(model::Port& port, uint8_t host_part) {
    for (const auto& subnet : subnets_) {
      if (subnet->network == port.network) port.fixed_ips.push_back({subnet->id, Nth(subnet->cidr, host_part)});
    }
  }

  void AddVm(const std::string& id, const HostId& host) {
    const NetworkId network = Pick(networks_, random_);
    auto port = NewPort(id, network);
    port->role = model::PortRole::kVm;
    port->host = host;
    port->admin_state_up = !Chance(random_, 10);
    port->port_security_enabled = !Chance(random_, 4);
    AddAddresses(*port, static_cast<uint8_t>(9 + used_[network]));
    if (Chance(random_, 3) && !port->fixed_ips.empty()) AddAllowedPair(*port);
    vms_.push_back(port);
    state_.ports[port->id] = std::move(port);
  }

  // An address that several ports share, another port's fixed one, or a whole subnet.
  void AddAllowedPair(model::Port& port) {
    const auto mac = Chance(random_, 2) ? std::optional(NthMac(77)) : std::nullopt;
    const auto kind = Below(random_, 4);
    IpPrefix prefix = IpPrefix::Host(IpAddress::V4(0x0a000000 + 200));
    if (kind == 0)
      prefix = IpPrefix::Host(IpAddress::V4(0x0a000000 + static_cast<uint32_t>(Below(random_, 3)) * 256 + 10));
    if (kind == 1) prefix = *IpPrefix::Parse("2001:db8:1::/64");
    if (kind == 2) prefix = *IpPrefix::Parse("10.0.0.0/24");
    port.allowed_address_pairs.push_back({prefix, mac});
  }

  void AddRouter(uint64_t n) {
    auto router = std::make_shared<model::Router>();
    router->id = RouterId(fmt::format("r{}", n));
    router->name = router->id.str();
    router->admin_state_up = !Chance(random_, 8);
    std::vector<IpPrefix> own;  // A router's subnets do not overlap.
    for (const auto& subnet : subnets_) {
      bool overlaps = Chance(random_, 3);
      for (const IpPrefix& prefix : own) overlaps = overlaps || prefix.Overlaps(subnet->cidr);
      if (overlaps) continue;
      own.push_back(subnet->cidr);
      auto port = NewPort(fmt::format("{}-{}", router->id, subnet->id), subnet->network);
      port->role = model::PortRole::kRouterInterface;
      port->device_id = router->id.str();
      // The first router has the zero host address of IPv6 subnets, as Neutron gives it.
      const bool zero = subnet->cidr.family() == IpFamily::kV6 && n == 0;
      port->fixed_ips = {{subnet->id, Nth(subnet->cidr, static_cast<uint8_t>(zero ? 0 : 1 + n))}};
      state_.ports[port->id] = std::move(port);
    }
    AddExtraRoutes(*router);
    state_.routers[router->id] = std::move(router);
  }

  // A claim by a port on an allowed address, its own or anybody's; the view takes only what it may.
  void AddClaim(uint64_t n) {
    const auto& port = Pick(vms_, random_);
    const auto& of = Chance(random_, 2) ? port : Pick(vms_, random_);
    auto claim = std::make_shared<model::AddressClaim>();
    claim->network = port->network;
    claim->port = port->id;
    claim->sequence = 1 + Below(random_, 3);
    claim->mac = Chance(random_, 3) ? NthMac(78) : port->mac;
    if (!of->allowed_address_pairs.empty() && !Chance(random_, 3)) {
      const model::AllowedAddressPair& pair = of->allowed_address_pairs.front();
      claim->address = Nth(pair.prefix, 0);
      claim->mac = pair.mac.value_or(port->mac);
    } else if (!of->fixed_ips.empty()) {
      claim->address = of->fixed_ips.front().address;
    } else {
      claim->address = IpAddress::V4(0x0a000000 + 210 + static_cast<uint32_t>(n));
    }
    claim->id = model::MakeClaimId(claim->network, claim->address);
    state_.address_claims[claim->id] = std::move(claim);
  }

  void AddExtraRoutes(model::Router& router) {
    const auto count = Below(random_, 3);
    for (uint64_t n = 0; n < count; ++n) {
      const std::vector<std::string> destinations = {"192.0.2.0/24", "192.0.2.128/25", "0.0.0.0/0",
                                                     "2001:db8:ffff::/48", "10.0.1.0/24"};
      const IpPrefix destination = *IpPrefix::Parse(Pick(destinations, random_));
      const auto next_hops = 1 + (Chance(random_, 2) ? Below(random_, 4) : 0);
      for (uint64_t hop = 0; hop < next_hops; ++hop) {
        const auto& subnet = Pick(subnets_, random_);
        // Towards another router, a VM, or nobody.
        const IpAddress nexthop = Nth(subnet->cidr, static_cast<uint8_t>(1 + Below(random_, 14)));
        const model::ExtraRoute route{destination, nexthop};
        const bool known = std::find(router.routes.begin(), router.routes.end(), route) != router.routes.end();
        if (nexthop.family() == destination.family() && !known) router.routes.push_back(route);
      }
    }
  }

  Random& random_;
  model::NetworkState state_;
  std::vector<NetworkId> networks_;
  std::vector<std::shared_ptr<model::Subnet>> subnets_;
  std::vector<std::shared_ptr<model::Port>> vms_;
  std::map<NetworkId, uint32_t> used_;
};

// Every address that means something in a view, and some that mean nothing.
struct Targets {
  std::vector<IpAddress> v4 = {IpAddress::V4(0xc0000201), IpAddress::V4(0xc00002c8), IpAddress::V4(0x08080808),
                               IpAddress::V4(0xe0000005), IpAddress::V4(0xffffffff), IpAddress::V4(0x0a0000c8)};
  std::vector<IpAddress> v6 = {*IpAddress::Parse("2001:db8:ffff::1"), *IpAddress::Parse("ff02::1"),
                               *IpAddress::Parse("fe80::1"), *IpAddress::Parse("2001:db8:9::9")};
  std::vector<std::pair<MacAddress, IpAddress>> link_locals = {};  // Of routers.
  std::vector<MacAddress> macs = {MacAddress::Broadcast(), NthMac(0xabcdef),
                                  MacAddress({0x01, 0x80, 0xc2, 0, 0, 0x0e}),
                                  MacAddress({0x33, 0x33, 0, 0, 0, 1}), NthMac(77)};

  void Add(const MacAddress& mac, const IpAddress& ip) {
    (ip.is_v4() ? v4 : v6).push_back(ip);
    macs.push_back(mac);
  }
};

Targets TargetsOf(const vswitch::HostView& view) {
  Targets targets;
  for (const auto& [id, port] : view.ports) {
    for (const IpAddress& ip : port.ips) targets.Add(port.mac, ip);
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    for (const IpAddress& ip : endpoint.ips) targets.Add(endpoint.mac, ip);
  }
  for (const auto& [key, claim] : view.claims) {
    for (int i = 0; i < 2; ++i) targets.Add(claim.mac, key.second);
  }
  for (const auto& [id, router] : view.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      targets.Add(port.mac, port.link_local);
      targets.link_locals.emplace_back(port.mac, port.link_local);
      for (const IpPrefix& address : port.addresses) {
        // Routers' MACs weigh more: most packets should be routed.
        for (int i = 0; i < 3; ++i) targets.Add(port.mac, address.address());
      }
    }
  }
  return targets;
}

uint8_t RandomTtl(Random& random) {
  const std::vector<uint8_t> ttls = {0, 1, 2, 3, 64, 64, 64, 64, 64, 255};
  return Pick(ttls, random);
}

// Makes one frame as `sender` could.
class Sender {
 public:
  Sender(const Targets& targets, const MacAddress& mac, const std::vector<IpAddress>& ips, Random& random)
      : targets_(targets), mac_(mac), random_(random) {
    for (const IpAddress& ip : ips) (ip.is_v4() ? own4_ : own6_).push_back(ip);
    own6_.push_back(IpAddress::LinkLocal(mac));
  }

  frames::Bytes Make() {
    const uint64_t kind = Below(random_, 20);
    if (kind < 4) return Arp();
    if (kind < 8) return Neighbour();
    if (kind < 19) return IpPacket();
    const std::vector<uint16_t> types = {0x88cc, 0x8100, 0x86dd, 0x0800, 0x0806, 0x1234};
    return frames::Raw(Eth(), Pick(types, random_), frames::Bytes(46, 0));
  }

 private:
  MacAddress Source() { return Chance(random_, 12) ? Pick(targets_.macs, random_) : mac_; }
  frames::Ethernet Eth() { return {Pick(targets_.macs, random_), Source()}; }
  IpAddress From(bool v4) {
    const auto& own = v4 ? own4_ : own6_;
    if (own.empty() || Chance(random_, 10)) return Pick(v4 ? targets_.v4 : targets_.v6, random_);
    return Pick(own, random_);
  }

  frames::Bytes Arp() {
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

  frames::Bytes Neighbour() {
    frames::Ethernet eth = Eth();
    const IpAddress target =
        Chance(random_, 6) && !own6_.empty() ? Pick(own6_, random_) : Pick(targets_.v6, random_);
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

  size_t DataBytes() {
    const std::vector<uint64_t> limits = {64, 64, 64, 700, 1600};
    return Below(random_, Pick(limits, random_));
  }

  frames::Bytes IpPacket() {
    if (!targets_.link_locals.empty() && Chance(random_, 16)) return EchoToLinkLocal();
    const bool v4 = Chance(random_, 2);
    const frames::Ip ip{From(v4), Pick(v4 ? targets_.v4 : targets_.v6, random_), RandomTtl(random_)};
    frames::Bytes frame = WholePacket(Eth(), ip);
    if (!Chance(random_, 5)) return frame;
    return Pick(frames::Fragments(frame, Chance(random_, 2) ? 8 : 64), random_);
  }

  frames::Bytes EchoToLinkLocal() {
    const auto& [mac, ip] = Pick(targets_.link_locals, random_);
    return frames::Echo({mac, Source()}, {From(false), ip, RandomTtl(random_)}, 1, DataBytes());
  }

  frames::Bytes WholePacket(const frames::Ethernet& eth, const frames::Ip& ip) {
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
        frames::Bytes message(8 + DataBytes(), 0);
        message[0] = Pick(types, random_);
        return frames::Packet(eth, ip, ip.src.is_v4() ? 1 : 58, std::move(message));
      }
      default:
        return frames::Echo(eth, ip, static_cast<uint16_t>(Below(random_, 65536)), DataBytes());
    }
  }

  const Targets& targets_;
  MacAddress mac_;
  std::vector<IpAddress> own4_;
  std::vector<IpAddress> own6_;
  Random& random_;
};

Stimulus WellFormed(const vswitch::HostView& view, Random& random) {
  const Targets targets = TargetsOf(view);
  if (!view.endpoints.empty() && Chance(random, 5)) {
    std::vector<vswitch::RemoteEndpoint> remotes;
    for (const auto& [id, endpoint] : view.endpoints) remotes.push_back(endpoint);
    const vswitch::RemoteEndpoint& remote = Pick(remotes, random);
    Stimulus stimulus;
    stimulus.outer_source = Chance(random, 10) ? *IpAddress::Parse("192.0.2.200") : Pick(PeerVteps(), random);
    stimulus.vni = view.networks.at(remote.network).vni.value() + (Chance(random, 8) ? 1000 : 0);
    stimulus.frame = Sender(targets, remote.mac, remote.ips, random).Make();
    return stimulus;
  }
  std::vector<vswitch::LocalPort> locals;
  for (const auto& [id, port] : view.ports) locals.push_back(port);
  const vswitch::LocalPort& local = Pick(locals, random);
  return {local.id, {}, 0, Sender(targets, local.mac, local.ips, random).Make(), "none"};
}

}  // namespace

std::vector<PortId> LocalPorts() {
  std::vector<PortId> ports;
  for (int n = 0; n < kPortCount; ++n) ports.emplace_back(fmt::format("p{}", n));
  return ports;
}

IpAddress OwnVtep() { return *IpAddress::Parse("192.0.2.100"); }

std::vector<IpAddress> PeerVteps() {
  std::vector<IpAddress> peers;
  for (int n = 1; n <= kPeerCount; ++n) peers.push_back(*IpAddress::Parse(fmt::format("192.0.2.{}", 100 + n)));
  return peers;
}

model::NetworkState RandomCloud(Random& random) { return Cloud(random).Build(); }

Stimulus RandomStimulus(const vswitch::HostView& view, Random& random) {
  Stimulus stimulus = WellFormed(view, random);
  if (!Chance(random, 3)) return stimulus;
  Mutated mutated = Mutate(stimulus.frame, random);
  stimulus.frame = std::move(mutated.frame);
  stimulus.mutation = mutated.kind;
  return stimulus;
}

}  // namespace kasane::differential
