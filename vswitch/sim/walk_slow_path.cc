// What the walk hands to the slow path, and what becomes of the answers.
#include <fmt/format.h>

#include <algorithm>

#include "vswitch/packet/announcement.h"
#include "vswitch/sim/walk.h"

namespace kasane::sim {
namespace {

// An ARP reply or a neighbour advertisement, whatever it says.
bool IsReply(const packet::Packet& packet) {
  if (packet.has_arp()) return packet.arp_op() == 2;
  return packet.has_icmp() && packet.ip_proto() == packet::kProtoIcmpv6 && packet.icmp_type() == 136 &&
         packet.icmp_code() == 0;
}

}  // namespace

void Walk::AskSlowPath(const NetworkId& network, slowpath::SlowPathCause cause, std::optional<RouterId> router,
                       uint32_t mtu) {
  Handle({cause, origin_, outer_source_, network, std::move(router), mtu, packet_.frame()});
}

void Walk::AskForNextHop(const vswitch::RouterView& router, const vswitch::ClaimKey& address) {
  Handle({slowpath::SlowPathCause::kResolve, origin_, std::nullopt, router_network_, router.id, 0,
          packet_.frame(), address.first, address.second});
}

void Walk::Handle(const slowpath::SlowPathPacket& packet) {
  const slowpath::SlowPathOutcome outcome = slowpath::HandleSlowPath(facts_, packet);
  Note("slow_path", {}, outcome.text);
  if (outcome.announcement) result_.announcements.push_back(*outcome.announcement);
  if (outcome.is_part) Reassemble(packet);
  if (outcome.waits_for) {
    result_.waits_for = outcome.waits_for;
    ++result_.waiting;
  }
  if (outcome.drop && !result_.drop) Drop("slow_path", {}, *outcome.drop);
  for (const slowpath::Injection& injection : outcome.injections) Inject(packet.network, injection);
}

// sim knows no time: nothing that it keeps expires.
void Walk::Reassemble(const slowpath::SlowPathPacket& part) {
  result_.fragment = part;
  const slowpath::Reassembly::Outcome outcome = fragments_.Add(part, {});
  for (const slowpath::Reassembly::Lost& lost : outcome.lost) {
    for (size_t n = 0; n < lost.fragments; ++n) {
      if (result_.drop) {
        result_.answer_drops.push_back(vswitch::DropReason::kReassembly);
      } else {
        Drop("slow_path", lost.sender, vswitch::DropReason::kReassembly);
      }
    }
  }
  if (outcome.whole) Handle(*outcome.whole);
}

// Shows the slow path what may announce an address. True if that is the end of it: a reply to a router that is
// up, which is never forwarded, and of which one that announces nothing is discarded silently (RFC
// 4861, 7.1.2).
bool Walk::Announce(const vswitch::NetworkView& network) {
  if (packet::AnnouncedBy(packet_)) AskSlowPath(network.id, slowpath::SlowPathCause::kAnnouncement);
  const auto is_its = [&](const vswitch::RouterPort& port) {
    return port.network == network.id && port.mac == packet_.eth_dst();
  };
  const bool to_router = std::any_of(view_.routers.begin(), view_.routers.end(), [&](const auto& entry) {
    const vswitch::RouterView& router = entry.second;
    return router.admin_state_up && std::any_of(router.ports.begin(), router.ports.end(), is_its);
  });
  if (!IsReply(packet_) || !to_router) return false;
  Note("l2", NetworkOwner(network.id), "an answer to a router ends here");
  return true;
}

void Walk::Inject(const NetworkId& network, const slowpath::Injection& injection) {
  if (injection.port) {
    Note("deliver", PortOwner(*injection.port), fmt::format("answer to port {}", *injection.port));
    result_.deliveries.push_back({injection.port, {}, {}, {}, injection.frame});
  }
  if (injection.host) {
    Note("deliver", {vswitch::OwnerKind::kHost, injection.host->str()},
         fmt::format("copy to host {}", *injection.host));
    result_.deliveries.push_back(
        {{}, injection.host, view_.hosts.at(*injection.host).vtep, injection.vni, injection.frame});
  }
  if (!injection.router) return;
  Walk answer(view_, injection.frame, learned_, choices_, unanswered_);
  answer.origin_ = origin_;
  answer.router_network_ = network;
  answer.RouteOut(view_.routers.at(*injection.router));
  Result result = answer.Finish();
  for (Step& step : result.steps) result_.steps.push_back(std::move(step));
  for (Delivery& delivery : result.deliveries) result_.deliveries.push_back(std::move(delivery));
  if (result.waits_for) result_.waits_for = result.waits_for;
  result_.waiting += result.waiting;
  if (result.drop) result_.answer_drops.push_back(*result.drop);
  for (const vswitch::DropReason reason : result.answer_drops) result_.answer_drops.push_back(reason);
}

}  // namespace kasane::sim
