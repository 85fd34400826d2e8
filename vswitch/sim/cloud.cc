#include "vswitch/sim/cloud.h"

#include <utility>

namespace kasane::sim {

// Of ports that are gone from a host no fragments are kept there.
Cloud::Cloud(std::map<HostId, vswitch::HostView> views, Memory memory)
    : views_(std::move(views)), memory_(std::move(memory)) {
  for (auto& [host, fragments] : memory_.fragments) {
    const auto view = views_.find(host);
    fragments.Forget([&](const vswitch::Owner& sender) {
      return view == views_.end() || !view->second.ports.contains(PortId(sender.id));
    });
  }
}

CloudResult Cloud::FromPort(const HostId& host, const PortId& port, const Frame& frame,
                            const Unanswered& unanswered) const {
  CloudResult out;
  const auto kept = memory_.fragments.find(host);
  const slowpath::Reassembly fragments =
      kept == memory_.fragments.end() ? slowpath::Reassembly() : kept->second;
  FollowDeliveries(host, sim::FromPort(views_.at(host), port, frame, LearnedOn(host), unanswered, fragments),
                   out);
  return out;
}

CloudResult Cloud::FromTunnel(const HostId& host, const IpAddress& outer_source, uint32_t vni,
                              const Frame& frame) const {
  CloudResult out;
  FollowDeliveries(host, sim::FromTunnel(views_.at(host), outer_source, vni, frame, LearnedOn(host)), out);
  return out;
}

void Cloud::Remember(const CloudResult& result) {
  for (const auto& [host, fact] : result.learned) {
    memory_.learned[host].insert_or_assign(fact.first, fact.second);
  }
  // One whose answer waits is sent again.
  if (result.fragment && !result.waits_for)
    memory_.fragments[result.fragment->first].Add(result.fragment->second, {});
}

const LearnedMacs& Cloud::LearnedOn(const HostId& host) const {
  static const LearnedMacs kNothing;
  const auto found = memory_.learned.find(host);
  return found == memory_.learned.end() ? kNothing : found->second;
}

// What came through a tunnel never goes into one, so this ends after one more host.
void Cloud::FollowDeliveries(const HostId& host, Result result, CloudResult& out) const {
  for (Step& step : result.steps) out.steps.push_back({host, std::move(step)});
  if (result.drop) out.drops.push_back({host, *result.drop});
  for (const vswitch::DropReason reason : result.answer_drops) out.drops.push_back({host, reason});
  if (result.waits_for) out.waits_for = result.waits_for;
  if (result.fragment) out.fragment.emplace(host, *result.fragment);
  if (result.learned) out.learned.emplace_back(host, *result.learned);
  for (const slowpath::Announcement& announcement : result.announcements)
    out.announcements.push_back(announcement);
  for (Delivery& delivery : result.deliveries) {
    if (delivery.port) {
      out.deliveries.push_back({host, *delivery.port, std::move(delivery.frame)});
      continue;
    }
    const auto next = views_.find(*delivery.host);
    if (next == views_.end()) continue;  // A host that is not there receives nothing.
    const vswitch::TunnelAddresses& own = views_.at(host).tunnel_addresses;
    const auto& source = delivery.vtep->is_v4() ? own.v4 : own.v6;
    if (!source) continue;
    FollowDeliveries(
        next->first,
        sim::FromTunnel(next->second, *source, delivery.vni->value(), delivery.frame, LearnedOn(next->first)),
        out);
  }
}

}  // namespace kasane::sim
