#include "vswitch/tables/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace kasane::tables {
namespace {

std::string Text(const RemotePlace& place) {
  return fmt::format("host {} {}", place.host, place.vtep ? place.vtep->ToString() : "(no tunnel)");
}
std::string Text(const LocalPlace& place) { return fmt::format("port {}", place.port); }
std::string Text(const RouterPlace& place) {
  return fmt::format("router {}{}", place.router, place.up ? "" : " (down)");
}
std::string Text(const SeveralPlaces& places) {
  std::vector<std::string> parts;
  for (const PortId& port : places.ports) parts.push_back(fmt::format("port {}", port));
  for (const RemotePlace& host : places.hosts) parts.push_back(Text(host));
  return parts.empty() ? "nobody" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Text(const MacPlace& value) {
  return std::visit([](const auto& place) { return "to " + Text(place); }, value.place);
}
std::string Text(const MacElsewhere&) { return "not behind a port here"; }
std::string Text(const LearningPeer& value) {
  return fmt::format("learnt to be at {}, behind {}", Text(value.place), fmt::join(value.behind, ","));
}
std::string Text(const Answer& value) {
  std::string text = value.mac.ToString();
  if (value.router) text += " router";
  if (!value.override_flag) text += " anycast";
  if (value.announced_by_others) text += " announced by others";
  if (!value.not_to.empty()) text += fmt::format(" not to {}", fmt::join(value.not_to, ","));
  return text;
}
std::string Text(const Probe&) { return "not answered"; }
std::string Text(const Neighbour& value) { return value.mac.ToString(); }
std::string Text(const UnknownNeighbour&) { return "ask"; }

std::string Text(const Route& value) {
  std::vector<std::string> hops;
  for (const RouteHop& hop : value.hops) {
    hops.push_back(fmt::format("via {} VNI {} from {}{}{}", hop.gateway ? hop.gateway->ToString() : "link",
                               hop.vni, hop.source, hop.network_up ? "" : " (network down)",
                               hop.test_mtu ? fmt::format(" mtu {}", *hop.test_mtu) : ""));
  }
  std::string text = fmt::format("{}", fmt::join(hops, "; "));
  if (value.unowned != 0) text += fmt::format(" ({} that nobody has)", value.unowned);
  return text;
}

std::string Text(const Network& value) {
  return fmt::format("VNI {} mtu {} {}", value.vni, value.mtu, value.up ? "up" : "down");
}
std::string Text(const Replication& value) {
  return fmt::format("to {}; unknown to {}", Text(value.all), Text(value.unsecured));
}
std::string Text(const Announcements& value) {
  std::string text = value.movable ? "addresses move" : "addresses stay";
  if (!value.movable_v4.empty()) text += fmt::format(" ({})", fmt::join(value.movable_v4, ","));
  for (const RemotePlace& host : value.router_hosts) text += ", also to " + Text(host);
  return text;
}
std::string Text(const Router& value) { return value.up ? "up" : "down"; }
std::string Text(const Interface& value) {
  return fmt::format("{} VNI {} {}{}", value.port.mac, value.vni, fmt::join(value.port.addresses, ","),
                     value.network_up ? "" : " (network down)");
}
std::string Text(const RoutedNetwork& value) { return fmt::format("mtu {}", value.mtu); }
std::string Text(const Port& value) {
  std::string text = fmt::format("{} VNI {} {}", value.mac, value.vni, value.up ? "up" : "down");
  if (value.remote) text += " on " + Text(*value.remote);
  if (!value.secured) return text + ", any source";
  std::vector<std::string> sources;
  for (const vswitch::AllowedAddress& allowed : value.allowed) {
    sources.push_back(fmt::format("{} {}", allowed.mac, allowed.prefix));
  }
  return text + fmt::format(", sources {}", fmt::join(sources, ", "));
}
std::string Text(const Announcer& value) { return fmt::format("may announce {}", fmt::join(value.v4, ",")); }
std::string Text(const Peer& value) {
  return fmt::format("{} {}", value.addresses.v4 ? value.addresses.v4->ToString() : "-",
                     value.addresses.v6 ? value.addresses.v6->ToString() : "-");
}

std::string KeyText(const NetworkId& key) { return key.str(); }
std::string KeyText(const PortId& key) { return key.str(); }
std::string KeyText(const HostId& key) { return key.str(); }
std::string KeyText(const RouterId& key) { return key.str(); }
std::string KeyText(const InterfaceKey& key) { return fmt::format("{} {}", key.first, key.second); }
std::string KeyText(const ProbeKey& key) { return fmt::format("{} {}", key.port, key.prefix); }
std::string KeyText(const UnknownNeighbourKey& key) { return key.prefix.ToString(); }
std::string KeyText(const RouteKey& key) { return fmt::format("{} {}", key.router, key.destination); }
template <typename Second>
std::string KeyText(const std::pair<NetworkId, Second>& key) {
  return fmt::format("{}", key.second);
}

// Of keys that name it.
std::optional<NetworkId> NetworkOf(const NetworkId& key) { return key; }
std::optional<NetworkId> NetworkOf(const UnknownNeighbourKey& key) { return key.network; }
template <typename Second>
std::optional<NetworkId> NetworkOf(const std::pair<NetworkId, Second>& key) {
  return key.first;
}
template <typename Key>
std::optional<NetworkId> NetworkOf(const Key&) {
  return std::nullopt;
}

// Of values that do.
template <typename Value>
std::optional<Vni> VniOf(const Value& value) {
  if constexpr (requires { value.vni; }) return value.vni;
  return std::nullopt;
}
std::optional<Vni> VniOf(const Route& route) {
  const Vni first = route.hops.front().vni;
  const bool same = std::all_of(route.hops.begin(), route.hops.end(),
                                [first](const RouteHop& hop) { return hop.vni == first; });
  return same ? std::optional(first) : std::nullopt;
}

// `add` of each family: one list, in the order that people read it.
template <typename Add>
void EachFamily(const ForwardingTables& tables, const Add& add) {
  add("network", tables.networks);
  add("host", tables.hosts);
  add("port", tables.ports);
  add("mac", tables.macs);
  add("mac_elsewhere", tables.elsewhere);
  add("learning", tables.learning);
  add("answer", tables.answers);
  add("probe", tables.probes);
  add("replication", tables.replication);
  add("announcements", tables.announcements);
  add("announcer", tables.announcers);
  add("router", tables.routers);
  add("interface", tables.interfaces);
  add("route", tables.routes);
  add("neighbour", tables.neighbours);
  add("unknown_neighbour", tables.unknown_neighbours);
  add("routed_network", tables.routed);
}

}  // namespace

std::vector<EntryText> Describe(const ForwardingTables& tables) {
  std::map<Vni, NetworkId> networks;
  for (const auto& [id, network] : tables.networks.entries()) networks.emplace(network.front().value.vni, id);
  std::vector<EntryText> out;
  EachFamily(tables, [&](std::string_view family, const auto& table) {
    for (const auto& [key, claimants] : table.entries()) {
      EntryText entry{family, NetworkOf(key), KeyText(key), {}, Forwards(claimants.front().rank)};
      if (const auto vni = VniOf(claimants.front().value); vni && !entry.network) {
        if (const auto network = networks.find(*vni); network != networks.end())
          entry.network = network->second;
      }
      for (const auto& claimant : claimants) {
        entry.claimants.push_back({claimant.owner, std::string(Label(claimant.rank)), Text(claimant.value)});
      }
      out.push_back(std::move(entry));
    }
  });
  return out;
}

std::vector<std::string_view> FamilyNames() {
  std::vector<std::string_view> names;
  EachFamily({}, [&](std::string_view family, const auto&) { names.push_back(family); });
  return names;
}

std::string ToString(const ForwardingTables& tables) {
  std::string text;
  for (const EntryText& entry : Describe(tables)) {
    bool counts = entry.in_force;
    for (const ClaimantText& claimant : entry.claimants) {
      fmt::format_to(std::back_inserter(text), "{} {}{} {}: {} # {} {}{}\n", entry.family,
                     entry.network ? entry.network->str() + " " : "", entry.key, claimant.rank, claimant.value,
                     Label(claimant.owner.kind), claimant.owner.id, counts ? "" : " (does not count)");
      counts = false;
    }
  }
  return text;
}

}  // namespace kasane::tables
