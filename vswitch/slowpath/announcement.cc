#include <fmt/format.h>

#include "vswitch/packet/announcement.h"
#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
SlowPathOutcome TakeAnnouncement(const NetworkFacts& facts, const SlowPathPacket& packet) {
  SlowPathOutcome out;
  const packet::Packet frame(packet.frame);
  const auto vni = facts.FindVni(packet.network);
  const auto announced = packet::AnnouncedBy(frame);
  if (!vni || !announced) {
    out.text = "announces nothing";
    return out;
  }
  const vswitch::ClaimKey address(packet.network, announced->ip);
  if (const auto claimer = facts.FindClaimer(address, announced->mac, {packet.port, packet.outer_source})) {
    out.announcement = {packet.network, announced->ip, announced->mac, *claimer, announced->router};
  }
  out.text = fmt::format("{} announces that {} is at {}",
                         out.announcement ? out.announcement->port.str() : "nobody known", announced->ip,
                         announced->mac);
  if (!packet.port) return out;
  const bool flooded = frame.eth_dst().IsMulticast();
  // In answer to another VM: its host gets it. A router's MAC is on every host, and the one that asked is not
  // known; but none asks for what its configuration says.
  const bool teaches = out.announcement && !facts.IsConfigured(address, announced->mac, out.announcement->port);
  if (!flooded && (!teaches || !facts.IsRouters(packet.network, frame.eth_dst()))) return out;
  for (const HostId& host : facts.FindHostsToTell(packet.network, flooded)) {
    out.injections.push_back({{}, {}, host, vni, packet.frame});
  }
  return out;
}

}  // namespace kasane::slowpath
