#include "vswitch/tables/claims.h"

#include <algorithm>
#include <array>
#include <set>

namespace kasane::tables {
namespace {

bool IsUnclaimable(const IpAddress& ip) {
  return ip.IsUnspecified() || ip.IsMulticast() || ip.IsLoopback() || ip == IpAddress::V4(0xffffffff);
}

// The metadata service's addresses, the same on every network (RFC 3927; Neutron's for IPv6).
bool IsMetadata(const IpAddress& ip) {
  static const IpAddress kMetadata6 = *IpAddress::Parse("fe80::a9fe:a9fe");
  return ip == IpAddress::V4(0xa9fea9fe) || ip == kMetadata6;
}

bool IsRouters(vswitch::OwnerKind kind) { return kind == vswitch::OwnerKind::kRouter; }

// Whether a configuration gives `mac` to a router, or to a port other than `owner` where `also_ports`.
bool IsAnothersMac(const ForwardingTables& tables, const MacKey& mac, const vswitch::Owner& owner,
                   bool also_ports) {
  for (const auto& claimant : tables.macs.Claimants(mac)) {
    if (claimant.rank == Rank::kClaimedMac || claimant.rank == Rank::kAllowed) continue;
    if (IsRouters(claimant.owner.kind) || claimant.rank == Rank::kInfrastructure) return true;
    if (also_ports && claimant.owner != owner) return true;
  }
  return false;
}

bool IsAnothersAddress(const ForwardingTables& tables, const AddressKey& address, const vswitch::Owner& owner,
                       bool also_ports) {
  for (const auto& claimant : tables.answers.Claimants(address)) {
    if (claimant.rank == Rank::kClaim) continue;
    if (IsRouters(claimant.owner.kind) || claimant.rank == Rank::kInfrastructure) return true;
    if (claimant.owner == owner) continue;
    // Its IPv6 would not survive another port's claim on its link-local address.
    const bool link_local = address.second == IpAddress::LinkLocal(claimant.value.mac);
    if (also_ports || link_local) return true;
  }
  return false;
}

bool IsAllowed(const Port& port, const IpAddress& ip, const MacAddress& mac) {
  return std::any_of(port.allowed.begin(), port.allowed.end(), [&](const vswitch::AllowedAddress& allowed) {
    return allowed.mac == mac && allowed.prefix.Contains(ip);
  });
}

// Whether `prefix` is an address that is configured for the port.
bool IsFixed(const ForwardingTables& tables, const PortKey& key, const IpPrefix& prefix) {
  if (prefix.length() != prefix.address().bits()) return false;
  const auto& claimants = tables.answers.Claimants({key.first, prefix.address()});
  return std::any_of(claimants.begin(), claimants.end(), [&](const Claimant<Answer>& claimant) {
    return claimant.rank != Rank::kClaim && claimant.owner.kind == vswitch::OwnerKind::kPort &&
           claimant.owner.id == key.second.str();
  });
}

// Whether the port may have the address with any MAC that it may use.
bool MayHave(const ForwardingTables& tables, const AddressKey& address, const PortId& id, const Port& port) {
  if (!port.secured) return MayClaim(tables, address, port.mac, id);
  return std::any_of(port.allowed.begin(), port.allowed.end(), [&](const vswitch::AllowedAddress& allowed) {
    return allowed.prefix.Contains(address.second) && MayClaim(tables, address, allowed.mac, id);
  });
}

}  // namespace

bool MayClaim(const ForwardingTables& tables, const AddressKey& address, const MacAddress& mac,
              const PortId& port) {
  const auto& [network, ip] = address;
  if (IsUnclaimable(ip) || IsMetadata(ip) || mac.IsMulticast() || mac.IsZero()) return false;
  const Claimant<Port>* claimer = tables.ports.Winner({network, port});
  if (claimer == nullptr || !claimer->value.up) return false;
  const bool secured = claimer->value.secured;
  if (IsAnothersMac(tables, {network, mac}, claimer->owner, !secured)) return false;
  if (IsAnothersAddress(tables, address, claimer->owner, !secured)) return false;
  return !secured || IsAllowed(claimer->value, ip, mac);
}

SeveralPlaces FindCandidates(const ForwardingTables& tables, const AddressKey& address) {
  SeveralPlaces places;
  std::set<RemotePlace> hosts;
  const auto& ports = tables.ports.entries();
  for (auto it = ports.lower_bound({address.first, PortId()}); it != ports.end(); ++it) {
    const auto& [key, claimants] = *it;
    if (key.first != address.first) break;
    const Port& port = claimants.front().value;
    if (!MayHave(tables, address, key.second, port)) continue;
    if (!port.remote) {
      places.ports.push_back(key.second);
    } else {
      hosts.insert(*port.remote);
    }
  }
  places.hosts.assign(hosts.begin(), hosts.end());
  return places;
}

std::vector<IpPrefix> MovablePrefixes(const ForwardingTables& tables, const PortKey& key, const Port& port) {
  if (!port.secured) return {IpPrefix(), IpPrefix(IpAddress::V6(std::array<uint8_t, 16>{}), 0)};
  std::set<IpPrefix> prefixes;
  for (const vswitch::AllowedAddress& allowed : port.allowed) {
    if (allowed.prefix == IpPrefix::Host(IpAddress::LinkLocal(allowed.mac))) continue;
    if (allowed.mac == port.mac && IsFixed(tables, key, allowed.prefix)) continue;
    if (!IsAnothersMac(tables, {key.first, allowed.mac}, {}, false)) prefixes.insert(allowed.prefix);
  }
  return {prefixes.begin(), prefixes.end()};
}

}  // namespace kasane::tables
