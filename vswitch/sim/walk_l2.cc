// Answers to ARP and ND, bridging and replication.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "vswitch/packet/announcement.h"
#include "vswitch/sim/upper_layer.h"
#include "vswitch/sim/walk.h"

namespace kasane::sim {
namespace {

// MACs that are no port's and no router's own, each to the port that spoke with it last: the virtual MAC of a
// VRRP group, for instance, follows its master.
std::map<std::pair<NetworkId, MacAddress>, PortId> ClaimedMacs(const vswitch::HostView& view) {
  std::map<std::pair<NetworkId, MacAddress>, const vswitch::AddressClaim*> newest;
  for (const auto& [key, claim] : view.claims) {
    const vswitch::AddressClaim*& best = newest[{key.first, claim.mac}];
    if (best == nullptr || std::tie(best->sequence, best->port) < std::tie(claim.sequence, claim.port)) {
      best = &claim;
    }
  }
  if (newest.empty()) return {};
  for (const auto& [id, port] : view.ports) newest.erase({port.network, port.mac});
  for (const auto& [id, endpoint] : view.endpoints) newest.erase({endpoint.network, endpoint.mac});
  std::map<std::pair<NetworkId, MacAddress>, PortId> macs;
  for (const auto& [key, claim] : newest) macs.emplace(key, claim->port);
  return macs;
}

// A switch cannot tell what a solicitation asks for that names its own address twice: the owner is asked.
bool RepeatsAnOption(const packet::Packet& packet) {
  const auto upper = FindUpperLayer(packet.frame());
  const auto message = upper ? ReadNeighbourMessage(*upper) : std::nullopt;
  return message && message->repeats_an_option;
}

}  // namespace

bool Walk::AnswerArp(const vswitch::NetworkView& network, const PortId& from) {
  if (!packet_.has_arp() || packet_.arp_op() != 1 || packet::IsGratuitousRequest(packet_)) return false;
  const auto owner = facts_.FindAnswer(
      {network.id, packet_.arp_tpa(), from, packet_.eth_src(), packet_.arp_spa().IsUnspecified()});
  if (!owner) return false;
  Note("arp", owner->owner, fmt::format("answered for {}: {} has it", packet_.arp_tpa(), owner->mac));
  packet_.MakeArpReply(owner->mac);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

bool Walk::AnswerNd(const vswitch::NetworkView& network, const PortId& from) {
  if (!packet_.has_neighbour_solicitation() || packet_.ttl() != 255 || RepeatsAnOption(packet_)) return false;
  const auto owner = facts_.FindAnswer(
      {network.id, packet_.nd_target(), from, packet_.eth_src(), packet_.ip_src().IsUnspecified()});
  if (!owner) return false;
  const std::optional<MacAddress> option = packet_.nd_option(1);
  // No room for the answer's link-layer address, duplicate address detection, or more in the packet than the
  // solicitation and that option: not by rewriting in place. Padding behind the packet does not count.
  if (packet_.ip_src().IsUnspecified() || !option || *option == MacAddress() ||
      14 + packet_.ip_packet().size() > packet::kNdRewritable) {
    Note("nd", owner->owner, fmt::format("{} has {}: asks the slow path", owner->mac, packet_.nd_target()));
    AskSlowPath(network.id, slowpath::SlowPathCause::kNeighbour);
    return true;
  }
  Note("nd", owner->owner, fmt::format("answered for {}: {} has it", packet_.nd_target(), owner->mac));
  // Router, Solicited, Override (RFC 4861, 4.4); an anycast address is advertised without Override.
  const uint32_t flags = (owner->router ? 0x80000000U : 0U) | 0x40000000U | (owner->anycast ? 0 : 0x20000000U);
  packet_.MakeNeighbourAdvertisement(owner->mac, flags);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

// The local port that a MAC leads to: its own, or one that it speaks with by a claim.
const vswitch::LocalPort* Walk::FindLocal(const NetworkId& network, const MacAddress& mac) const {
  for (const auto& [id, port] : view_.ports) {
    if (port.network == network && port.mac == mac && port.admin_state_up) return &port;
  }
  const auto claimed = ClaimedMacs(view_);
  const auto claim = claimed.find({network, mac});
  if (claim == claimed.end()) return nullptr;
  const auto port = view_.ports.find(claim->second);
  return port == view_.ports.end() ? nullptr : &port->second;
}

// A MAC of a port of another host, or of a router: it is not behind any port of this host.
bool Walk::IsElsewhere(const NetworkId& network, const MacAddress& mac) const {
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network == network && endpoint.mac == mac) return true;
  }
  const auto claimed = ClaimedMacs(view_);
  const auto claim = claimed.find({network, mac});
  if (claim != claimed.end() && view_.endpoints.contains(claim->second)) return true;
  for (const auto& [id, router] : view_.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      if (port.network == network && port.mac == mac) return true;
    }
  }
  return false;
}

void Walk::Bridge(const vswitch::NetworkView& network) {
  const MacAddress dst = packet_.eth_dst();
  if (dst.IsMulticast()) return Replicate(network);
  if (const vswitch::LocalPort* port = FindLocal(network.id, dst)) {
    Note("l2", PortOwner(port->id), fmt::format("{} is local port {}", dst, port->name));
    return DeliverLocal(*port);
  }
  const auto claimed = ClaimedMacs(view_);
  const auto claim = claimed.find({network.id, dst});
  for (const auto& [id, endpoint] : view_.endpoints) {
    const bool by_claim = claim != claimed.end() && claim->second == id;
    if (endpoint.network != network.id || (endpoint.mac != dst && !by_claim)) continue;
    Note("l2", PortOwner(id), fmt::format("{} is port {} on host {}", dst, endpoint.name, endpoint.host));
    return SendToHost(endpoint.host, network, PortOwner(id), "l2");
  }
  if (ToRouter(network) || BridgeToPairs(network)) return;
  BridgeUnknown(network);
}

void Walk::BridgeFromTunnel(const vswitch::NetworkView& network) {
  const MacAddress dst = packet_.eth_dst();
  if (dst.IsMulticast()) return ReplicateLocal(network);
  if (const vswitch::LocalPort* port = FindLocal(network.id, dst)) {
    Note("tunnel_l2", PortOwner(port->id), fmt::format("{} is port {}", dst, port->name));
    return DeliverLocal(*port);
  }
  if (BridgeToPairs(network)) return;
  const auto up = [](const vswitch::LocalPort& port) { return port.admin_state_up; };
  if (IsElsewhere(network.id, dst) || !HasUnsecured(view_.ports, network.id, up)) {
    return Drop("tunnel_l2", {}, vswitch::DropReason::kNotLocal);
  }
  if (const LearnedPlace* place = FindLearned(network); place != nullptr && place->port) {
    Note("tunnel_unknown", PortOwner(*place->port), fmt::format("{} was learned there", dst));
    return DeliverLocal(view_.ports.at(*place->port));
  }
  FloodUnsecured(network, "tunnel_unknown");
}

// A MAC of allowed address pairs, which is no port's own and that nobody has claimed: whichever of these ports
// has it takes it, so each gets a copy. From a tunnel, those here; the sender's host serves the others.
// (network's routers and claims were looked at before.)
bool Walk::BridgeToPairs(const vswitch::NetworkView& network) {
  const MacAddress dst = packet_.eth_dst();
  if (entered_ == std::nullopt && outer_source_ && IsElsewhere(network.id, dst)) return false;
  const auto has_pair = [&](const auto& port) {
    return port.network == network.id && port.port_security_enabled &&
           std::any_of(port.allowed.begin(), port.allowed.end(),
                       [&](const vswitch::AllowedAddress& allowed) { return allowed.mac == dst; });
  };
  const std::string_view stage = outer_source_ ? "tunnel_l2" : "l2";
  bool any = false;
  for (const auto& [id, port] : view_.ports) {
    if (!port.admin_state_up || !has_pair(port)) continue;
    any = true;
    if (entered_ == id) continue;
    Note(stage, PortOwner(id), fmt::format("{} is in an allowed address pair of port {}", dst, port.name));
    result_.deliveries.push_back({id, {}, {}, {}, packet_.frame()});
  }
  std::set<HostId> hosts;
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (has_pair(endpoint)) hosts.insert(endpoint.host);
  }
  if (!any && hosts.empty()) return false;
  if (!outer_source_) {
    CopyToHosts(hosts, network, any, stage);
  } else if (!any) {
    // It is configured on other hosts only, so no port here may have it.
    Drop(stage, {}, vswitch::DropReason::kNotLocal);
  }
  return true;
}

// Unknown unicast reaches nobody but the ports without port security: these alone may have MACs that are not
// configured.
void Walk::BridgeUnknown(const vswitch::NetworkView& network) {
  const bool any =
      HasUnsecured(view_.ports, network.id, [](const auto& port) { return port.admin_state_up; }) ||
      HasUnsecured(view_.endpoints, network.id, [](const auto&) { return true; });
  if (!any) return Drop("l2", {}, vswitch::DropReason::kUnknownMac);
  if (const LearnedPlace* place = FindLearned(network)) {
    const vswitch::Owner owner =
        place->port ? PortOwner(*place->port) : vswitch::Owner{vswitch::OwnerKind::kHost, place->host->str()};
    Note("unknown", owner, fmt::format("{} was learned there", packet_.eth_dst()));
    if (place->port) return DeliverLocal(view_.ports.at(*place->port));
    return SendToHost(*place->host, network, owner, "unknown");
  }
  std::set<HostId> hosts;
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network == network.id && !endpoint.port_security_enabled) hosts.insert(endpoint.host);
  }
  const bool here = HasUnsecured(view_.ports, network.id, [](const auto& port) { return port.admin_state_up; });
  CopyToHosts(hosts, network, here, "unknown");
  FloodUnsecured(network, "unknown");
}

void Walk::FloodUnsecured(const vswitch::NetworkView& network, std::string_view stage) {
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || port.port_security_enabled || !port.admin_state_up || entered_ == id) {
      continue;
    }
    Note(stage, NetworkOwner(network.id), fmt::format("unknown MAC: a copy to port {}", port.name));
    result_.deliveries.push_back({id, {}, {}, {}, packet_.frame()});
  }
}

void Walk::Learn(const NetworkId& network, const LearnedPlace& place) {
  result_.learned.emplace(std::pair(network, packet_.eth_src()), place);
}

// Where the destination was seen, if that is still a place that may have unknown MACs.
const LearnedPlace* Walk::FindLearned(const vswitch::NetworkView& network) const {
  const auto learned = learned_.find({network.id, packet_.eth_dst()});
  if (learned == learned_.end()) return nullptr;
  const LearnedPlace& place = learned->second;
  const bool valid =
      place.port ? HasUnsecured(view_.ports, network.id,
                                [&](const auto& port) { return port.id == *place.port && port.admin_state_up; })
                 : !place.behind.empty() && place.behind == UnsecuredOn(*place.host, network.id);
  return valid ? &place : nullptr;
}

std::vector<PortId> Walk::UnsecuredOn(const HostId& host, const NetworkId& network) const {
  std::vector<PortId> ports;
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.host == host && endpoint.network == network && !endpoint.port_security_enabled)
      ports.push_back(id);
  }
  return ports;
}

void Walk::Replicate(const vswitch::NetworkView& network) {
  Note("l2", NetworkOwner(network.id),
       fmt::format("group address: a copy to each of {} hosts and to the local ports",
                   network.flood_hosts.size()));
  for (const HostId& host : network.flood_hosts) CopyToHost(host, network);
  ReplicateLocal(network);
}

// One of many copies: a host that cannot be reached has none.
bool Walk::CopyToHost(const HostId& host, const vswitch::NetworkView& network) {
  const auto remote = view_.hosts.find(host);
  if (remote == view_.hosts.end() || !remote->second.vtep) return false;
  result_.deliveries.push_back({{}, host, remote->second.vtep, network.vni, packet_.frame()});
  return true;
}

// To all that may be meant: that none of them can be reached is why the packet is lost, if none is here either.
void Walk::CopyToHosts(const std::set<HostId>& hosts, const vswitch::NetworkView& network, bool also_here,
                       std::string_view stage) {
  bool lost = !also_here;
  for (const HostId& host : hosts) lost = !CopyToHost(host, network) && lost;
  if (lost) Drop(stage, {}, vswitch::DropReason::kNoTunnel);
}

void Walk::ReplicateLocal(const vswitch::NetworkView& network) {
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || !port.admin_state_up || entered_ == id) continue;
    Note("flood_local", NetworkOwner(network.id), fmt::format("copy to port {}", port.name));
    result_.deliveries.push_back({id, {}, {}, {}, packet_.frame()});
  }
}

}  // namespace kasane::sim
