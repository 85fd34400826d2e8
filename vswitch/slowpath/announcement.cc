#include <fmt/format.h>

#include <algorithm>

#include "vswitch/claims.h"
#include "vswitch/packet/announcement.h"
#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
namespace {

bool IsAddressOf(const vswitch::RemoteHost& host, const IpAddress& address) {
  return host.addresses.v4 == address || host.addresses.v6 == address;
}

// The port that made the announcement: the one that the frame entered by, or one on the host that sent it.
std::optional<PortId> FindClaimer(const vswitch::HostView& view, const SlowPathPacket& packet,
                                  const packet::AnnouncedAddress& announced) {
  const vswitch::ClaimKey address(packet.network, announced.ip);
  if (packet.port) {
    return MayClaim(view, address, announced.mac, *packet.port) ? packet.port : std::nullopt;
  }
  if (!packet.outer_source) return std::nullopt;
  for (const auto& [id, endpoint] : view.endpoints) {
    if (endpoint.network != packet.network) continue;
    const auto host = view.hosts.find(endpoint.host);
    if (host == view.hosts.end() || !IsAddressOf(host->second, *packet.outer_source)) continue;
    if (MayClaim(view, address, announced.mac, id)) return id;
  }
  return std::nullopt;
}

}  // namespace

SlowPathOutcome TakeAnnouncement(const vswitch::HostView& view, const SlowPathPacket& packet) {
  SlowPathOutcome out;
  const packet::Packet frame(packet.frame);
  const auto network = view.networks.find(packet.network);
  const auto announced = packet::AnnouncedBy(frame);
  if (network == view.networks.end() || !announced) {
    out.text = "announces nothing";
    return out;
  }
  if (const auto claimer = FindClaimer(view, packet, *announced)) {
    out.announcement = {packet.network, announced->ip, announced->mac, *claimer};
  }
  out.text = fmt::format("{} announces that {} is at {}",
                         out.announcement ? out.announcement->port.str() : "nobody known", announced->ip,
                         announced->mac);
  if (!packet.port) return out;
  for (const HostId& host : network->second.router_hosts) {
    const auto remote = view.hosts.find(host);
    if (remote == view.hosts.end() || !remote->second.vtep) continue;
    out.injections.push_back({{}, {}, host, network->second.vni, packet.frame});
  }
  return out;
}

}  // namespace kasane::slowpath
