#include "tests/random/aimed_frames.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/random/messages.h"
#include "tests/random/random_cloud.h"

namespace kasane::random {
namespace {

using frames::Bytes;
using vswitch::AllowedAddress;
using vswitch::ClaimKey;
using vswitch::HostView;
using vswitch::LocalPort;

IpAddress Ip(const char* text) { return *IpAddress::Parse(text); }

bool IsHost(const IpPrefix& prefix) { return prefix.length() == prefix.address().bits(); }

bool Contains(const std::vector<IpAddress>& ips, const IpAddress& ip) {
  return std::find(ips.begin(), ips.end(), ip) != ips.end();
}

constexpr uint32_t kFirstStranger = 0x900;  // MACs that no configuration names.
constexpr uint64_t kStrangers = 3;

// A port of this host beside a router that is up.
struct Way {
  const LocalPort* port;
  const vswitch::RouterView* router;
  MacAddress mac;
};

class Aim {
 public:
  Aim(const HostView& view, Random& random) : view_(view), random_(random) {}

  std::optional<Stimulus> Make() {
    switch (Below(random_, 9)) {
      case 0:
        return RoutedToAPair();
      case 1:
      case 2:
        return AboutAClaim();
      case 3:
        return FromNobody();
      case 4:
        return NeverRoutedIpv4();
      case 5:
        return RepeatedOption();
      case 6:
        return FromAStranger();
      case 7:
        return ToAStranger();
      default:
        return ClaimOfWhatIsReserved();
    }
  }

 private:
  template <typename T>
  std::optional<T> Any(const std::vector<T>& from) {
    return from.empty() ? std::nullopt : std::optional(Pick(from, random_));
  }

  std::vector<const LocalPort*> PortsOn(const NetworkId& network) const {
    std::vector<const LocalPort*> ports;
    for (const auto& [id, port] : view_.ports) {
      if (port.network == network && port.admin_state_up) ports.push_back(&port);
    }
    return ports;
  }

  std::vector<Way> Ways() const {
    std::vector<Way> ways;
    for (const auto& [id, router] : view_.routers) {
      if (!router.admin_state_up) continue;
      for (const vswitch::RouterPort& interface : router.ports) {
        for (const LocalPort* port : PortsOn(interface.network)) ways.push_back({port, &router, interface.mac});
      }
    }
    return ways;
  }

  // An address that the port may send from; without port security it has one that nobody gave it.
  std::optional<IpAddress> SourceOf(const LocalPort& port, bool v4) {
    std::vector<IpAddress> own;
    for (const IpAddress& ip : port.ips) {
      if (ip.is_v4() == v4) own.push_back(ip);
    }
    if (own.empty() && !port.port_security_enabled) own.push_back(Ip(v4 ? "10.9.9.9" : "2001:db8:9::9"));
    return Any(own);
  }

  // Somebody's, elsewhere most likely.
  IpAddress AnyAddress(bool v4) {
    std::vector<IpAddress> all = {Ip(v4 ? "192.0.2.7" : "2001:db8:ffff::7")};
    const auto add = [&](const auto& ports) {
      for (const auto& [id, port] : ports) {
        std::copy_if(port.ips.begin(), port.ips.end(), std::back_inserter(all),
                     [&](const IpAddress& ip) { return ip.is_v4() == v4; });
      }
    };
    add(view_.ports);
    add(view_.endpoints);
    return Pick(all, random_);
  }

  static Stimulus From(const LocalPort& port, Bytes frame) {
    return {port.id, {}, 0, std::move(frame), "none"};
  }

  // Through a router, to an address that some port may have and that is not its by configuration.
  std::optional<Stimulus> RoutedToAPair() {
    std::vector<std::pair<Way, IpAddress>> choices;
    const std::vector<Way> ways = Ways();
    const auto add = [&](const auto& ports) {
      for (const auto& [id, port] : ports) {
        for (const AllowedAddress& allowed : port.allowed) {
          const IpAddress& ip = allowed.prefix.address();
          if (!IsHost(allowed.prefix) || Contains(port.ips, ip)) continue;
          for (const Way& way : ways) {
            if (IsBehind(*way.router, port.network, ip)) choices.emplace_back(way, ip);
          }
        }
      }
    };
    add(view_.ports);
    add(view_.endpoints);
    const auto choice = Any(choices);
    if (!choice) return std::nullopt;
    const Way& way = choice->first;
    const auto source = SourceOf(*way.port, choice->second.is_v4());
    if (!source) return std::nullopt;
    return From(*way.port, frames::Udp({way.mac, way.port->mac}, {*source, choice->second, 64}, 1024, 80, 16));
  }

  static bool IsBehind(const vswitch::RouterView& router, const NetworkId& network, const IpAddress& ip) {
    return std::any_of(router.ports.begin(), router.ports.end(), [&](const vswitch::RouterPort& port) {
      return port.network == network &&
             std::any_of(port.addresses.begin(), port.addresses.end(),
                         [&](const IpPrefix& address) { return address.Network().Contains(ip); });
    });
  }

  // A question, a probe or an announcement about an address that somebody claims, mostly by one that has or may
  // have it.
  std::optional<Stimulus> AboutAClaim() {
    std::vector<ClaimKey> claims;
    for (const auto& [key, claim] : view_.claims) {
      if (!PortsOn(key.first).empty()) claims.push_back(key);
    }
    const auto key = Any(claims);
    if (!key) return std::nullopt;
    std::vector<std::pair<const LocalPort*, MacAddress>> concerned;
    std::vector<std::pair<const LocalPort*, MacAddress>> all;
    for (const LocalPort* port : PortsOn(key->first)) {
      all.emplace_back(port, port->mac);
      if (!port->port_security_enabled || Contains(port->ips, key->second)) concerned.push_back(all.back());
      for (const AllowedAddress& allowed : port->allowed) {
        if (allowed.prefix.Contains(key->second)) concerned.emplace_back(port, allowed.mac);
      }
    }
    const auto& [port, mac] = Pick(concerned.empty() || Chance(random_, 3) ? all : concerned, random_);
    switch (Below(random_, 5)) {
      case 0:
        return From(*port, Announcement(mac, key->second));
      case 1:
      case 2:
        return From(*port, Question(*port, mac, key->second));
      default:
        return From(*port, Probe(mac, key->second));
    }
  }

  Bytes Question(const LocalPort& port, const MacAddress& mac, const IpAddress& ip) {
    if (ip.is_v4()) {
      const IpAddress source = SourceOf(port, true).value_or(IpAddress());
      return frames::Arp({MacAddress::Broadcast(), mac}, 1, mac, source, MacAddress(), ip);
    }
    const IpAddress group = SolicitedNode(ip);
    return frames::Solicitation({MulticastMac(group), mac}, {IpAddress::LinkLocal(mac), group, 255}, ip, &mac);
  }

  // To a router, without a source: with port security only a solicitation may be so.
  std::optional<Stimulus> FromNobody() {
    const auto way = Any(Ways());
    if (!way) return std::nullopt;
    const frames::Ethernet eth{way->mac, way->port->mac};
    if (way->port->port_security_enabled || Chance(random_, 2)) {
      const IpAddress target = Chance(random_, 2) ? Ip("2001:db8:ffff::77") : AnyAddress(false);
      return From(*way->port, frames::Solicitation(eth, {Ip("::"), AnyAddress(false), 255}, target, nullptr));
    }
    const bool v4 = Chance(random_, 2);
    const IpAddress nobody = Ip(v4 ? "0.0.0.0" : "::");
    const bool from = Chance(random_, 2);
    const auto source = SourceOf(*way->port, v4);
    if (!from && !source) return std::nullopt;
    const frames::Ip ip{from ? nobody : *source, from ? AnyAddress(v4) : nobody, 64};
    return From(*way->port, frames::Udp(eth, ip, 1024, 80, 16));
  }

  // To or from what belongs to the link or to the host itself.
  std::optional<Stimulus> NeverRoutedIpv4() {
    const auto way = Any(Ways());
    if (!way) return std::nullopt;
    const std::vector<IpAddress> never = {Ip("169.254.169.254"), Ip("169.254.0.1"), Ip("127.0.0.1"),
                                          Ip("0.0.0.9")};
    const auto source = SourceOf(*way->port, true);
    if (!source) return std::nullopt;
    const bool from = !way->port->port_security_enabled && Chance(random_, 2);
    const frames::Ip ip = from ? frames::Ip{Pick(never, random_), AnyAddress(true), 64}
                               : frames::Ip{*source, Pick(never, random_), 64};
    return From(*way->port, frames::Tcp({way->mac, way->port->mac}, ip, 1024, 80));
  }

  // An advertisement with two link-layer addresses, of which a switch reads the target as zeros: by one that
  // may have that address, if there is one.
  std::optional<Stimulus> RepeatedOption() {
    std::vector<const LocalPort*> all;
    std::vector<const LocalPort*> wide;
    for (const auto& entry : view_.ports) {
      const LocalPort& port = entry.second;
      if (!port.admin_state_up) continue;
      all.push_back(&port);
      const bool may =
          std::any_of(port.allowed.begin(), port.allowed.end(), [&](const AllowedAddress& allowed) {
            return allowed.mac == port.mac && allowed.prefix.Contains(Ip("::"));
          });
      if (may && port.port_security_enabled) wide.push_back(&port);
    }
    const auto port = Any(wide.empty() || Chance(random_, 4) ? all : wide);
    if (!port) return std::nullopt;
    const MacAddress& mac = (*port)->mac;
    const IpAddress own = SourceOf(**port, false).value_or(IpAddress::LinkLocal(mac));
    return From(**port, TwiceAdvertised(own, mac, NthMac(static_cast<uint32_t>(Below(random_, 12)))));
  }

  MacAddress AnyStranger() {
    return NthMac(kFirstStranger + static_cast<uint32_t>(Below(random_, kStrangers)));
  }

  static Bytes Greeting(const MacAddress& to, const MacAddress& from) {
    return frames::Udp({to, from}, {Ip("10.9.9.9"), Ip("10.9.9.8"), 64}, 1024, 80, 16);
  }

  // From behind a port without port security, here or elsewhere, so that it is learnt where that is.
  std::optional<Stimulus> FromAStranger() {
    std::vector<Stimulus> choices;
    const Bytes frame = Greeting(NthMac(kFirstStranger + kStrangers), AnyStranger());
    for (const auto& [id, port] : view_.ports) {
      if (!port.port_security_enabled && port.admin_state_up) choices.push_back(From(port, frame));
    }
    for (const auto& [id, endpoint] : view_.endpoints) {
      const auto host = view_.hosts.find(endpoint.host);
      if (endpoint.port_security_enabled || host == view_.hosts.end() || !host->second.vtep) continue;
      const Vni vni = view_.networks.at(endpoint.network).vni;
      choices.push_back({std::nullopt, *host->second.vtep, vni.value(), frame, "none"});
    }
    return Any(choices);
  }

  std::optional<Stimulus> ToAStranger() {
    std::vector<const LocalPort*> ports;
    const auto is_strangers = [](const auto& port, const NetworkId& network) {
      return port.network == network && !port.port_security_enabled;
    };
    for (const auto& entry : view_.ports) {
      const LocalPort& port = entry.second;
      const bool may_be = std::any_of(view_.endpoints.begin(), view_.endpoints.end(), [&](const auto& other) {
        return is_strangers(other.second, port.network);
      });
      if (may_be && port.admin_state_up) ports.push_back(&port);
    }
    const auto port = Any(ports);
    if (!port) return std::nullopt;
    const auto source = SourceOf(**port, true);
    if (!source) return std::nullopt;
    return From(**port,
                frames::Udp({AnyStranger(), (*port)->mac}, {*source, Ip("10.9.9.9"), 64}, 1024, 80, 16));
  }

  // An announcement of an address that is configured for a port that forwards nowhere, by one that may say
  // anything where there is one.
  std::optional<Stimulus> ClaimOfWhatIsReserved() {
    std::vector<ClaimKey> reserved;
    const auto add = [&](const auto& port) {
      for (const IpAddress& ip : port.ips) reserved.emplace_back(port.network, ip);
    };
    for (const auto& [id, port] : view_.reserved) add(port);
    for (const auto& [id, port] : view_.ports) {
      if (!port.admin_state_up) add(port);
    }
    const auto key = Any(reserved);
    if (!key) return std::nullopt;
    std::vector<const LocalPort*> ports = PortsOn(key->first);
    const auto secured = [](const LocalPort* port) { return port->port_security_enabled; };
    if (!std::all_of(ports.begin(), ports.end(), secured)) std::erase_if(ports, secured);
    const auto port = Any(ports);
    if (!port) return std::nullopt;
    return From(**port, Announcement((*port)->mac, key->second));
  }

  const HostView& view_;
  Random& random_;
};

}  // namespace

std::optional<Stimulus> AimedStimulus(const HostView& view, Random& random) { return Aim(view, random).Make(); }

}  // namespace kasane::random
