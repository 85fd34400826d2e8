// Answers to ARP and ND, bridging and replication.
#include <fmt/format.h>

#include "vswitch/sim/walk.h"

namespace kasane::sim {

bool Walk::AnswerArp(const NetworkView& network, const PortId& from) {
  if (!packet_.has_arp() || packet_.arp_op() != 1) return false;
  const auto holder = FindHolder(view_, network.id, packet_.arp_tpa());
  if (!holder || holder->local == from) return false;
  Note("arp", holder->owner, fmt::format("answered for {}: {} has it", packet_.arp_tpa(), holder->mac));
  packet_.MakeArpReply(holder->mac);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

bool Walk::AnswerNd(const NetworkView& network, const PortId& from) {
  if (!packet_.has_neighbour_solicitation() || packet_.ttl() != 255) return false;
  const auto holder = FindHolder(view_, network.id, packet_.nd_target());
  if (!holder || holder->local == from) return false;
  const std::optional<MacAddress> option = packet_.nd_option(1);
  // No room for the answer's link-layer address, or duplicate address detection: not by rewriting in place.
  if (packet_.ip_src().IsUnspecified() || !option || *option == MacAddress()) {
    Note("nd", holder->owner, fmt::format("{} has {}: asks the slow path", holder->mac, packet_.nd_target()));
    AskSlowPath(network.id, SlowPathCause::kNeighbour);
    return true;
  }
  const bool router = holder->router_port != nullptr;
  const bool anycast = router && IsAnycast(*holder->router_port, packet_.nd_target());
  Note("nd", holder->owner, fmt::format("answered for {}: {} has it", packet_.nd_target(), holder->mac));
  // Router, Solicited, Override (RFC 4861, 4.4); an anycast address is advertised without Override.
  const uint32_t flags = (router ? 0x80000000U : 0U) | 0x40000000U | (anycast ? 0 : 0x20000000U);
  packet_.MakeNeighbourAdvertisement(holder->mac, flags);
  result_.deliveries.push_back({from, {}, {}, {}, packet_.frame()});
  return true;
}

void Walk::Bridge(const NetworkView& network) {
  const MacAddress dst = packet_.eth_dst();
  if (dst.IsMulticast()) return Replicate(network);
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || port.mac != dst || !port.admin_state_up) continue;
    Note("l2", PortOwner(id), fmt::format("{} is local port {}", dst, port.name));
    return DeliverLocal(port);
  }
  for (const auto& [id, endpoint] : view_.endpoints) {
    if (endpoint.network != network.id || endpoint.mac != dst) continue;
    Note("l2", PortOwner(id), fmt::format("{} is port {} on host {}", dst, endpoint.name, endpoint.host));
    return SendToHost(endpoint.host, network, PortOwner(id), "l2");
  }
  if (ToRouter(network)) return;
  Drop("l2", {}, DropReason::kUnknownMac);
}

void Walk::Replicate(const NetworkView& network) {
  Note("l2", NetworkOwner(network.id),
       fmt::format("group address: a copy to each of {} hosts and to the local ports",
                   network.flood_hosts.size()));
  for (const HostId& host : network.flood_hosts) {
    const auto remote = view_.hosts.find(host);
    if (remote == view_.hosts.end() || !remote->second.vtep) continue;
    result_.deliveries.push_back({{}, host, remote->second.vtep, network.vni, packet_.frame()});
  }
  ReplicateLocal(network);
}

void Walk::ReplicateLocal(const NetworkView& network) {
  for (const auto& [id, port] : view_.ports) {
    if (port.network != network.id || !port.admin_state_up || entered_ == id) continue;
    Note("flood_local", NetworkOwner(network.id), fmt::format("copy to port {}", port.name));
    result_.deliveries.push_back({id, {}, {}, {}, packet_.frame()});
  }
}

}  // namespace kasane::sim
