#include "tests/differential/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "vswitch/packet/hex.h"
#include "vswitch/packet/packet.h"

namespace kasane::differential {
namespace {

using vswitch::DropReason;

Counts DropsOf(const sim::Result& result) {
  Counts drops;
  if (result.drop) ++drops[*result.drop];
  for (const DropReason reason : result.answer_drops) ++drops[reason];
  return drops;
}

uint64_t CountOf(const Counts& drops, DropReason reason) {
  const auto it = drops.find(reason);
  return it == drops.end() ? 0 : it->second;
}

// Whether `port` is the one that has the address by its configuration, and announces its own MAC.
template <typename Ports>
bool IsOwners(const Ports& ports, const slowpath::Announcement& one) {
  const auto port = ports.find(one.port);
  if (port == ports.end() || port->second.network != one.network || port->second.mac != one.mac) return false;
  const auto& ips = port->second.ips;
  return one.ip == IpAddress::LinkLocal(one.mac) || std::find(ips.begin(), ips.end(), one.ip) != ips.end();
}

}  // namespace

Observed Expected(const sim::Result& result, const vswitch::TunnelAddresses& own) {
  Observed expected;
  for (const sim::Delivery& delivery : result.deliveries) {
    if (delivery.port) {
      expected.local.emplace_back(*delivery.port, delivery.frame);
    } else {
      const IpAddress source = (delivery.vtep->is_v4() ? own.v4 : own.v6).value_or(IpAddress());
      expected.tunnel.push_back({*delivery.vtep, source, delivery.vni->value(), delivery.frame});
    }
  }
  expected.announcements = result.announcements;
  std::sort(expected.local.begin(), expected.local.end());
  std::sort(expected.tunnel.begin(), expected.tunnel.end());
  std::sort(expected.announcements.begin(), expected.announcements.end());
  return expected;
}

std::vector<size_t> Matches(const std::vector<sim::Result>& results, const Observed& observed,
                            const vswitch::TunnelAddresses& own) {
  std::vector<size_t> matches;
  for (size_t n = 0; n < results.size(); ++n) {
    if (Expected(results[n], own) == observed) matches.push_back(n);
  }
  return matches;
}

std::string Describe(const Observed& observed) {
  std::string text;
  for (const auto& [port, frame] : observed.local) {
    text += fmt::format("    port {}: {}\n      {}\n", port, packet::Packet(frame).Summary(),
                        packet::HexText(frame));
  }
  for (const TunnelFrame& tunnel : observed.tunnel) {
    text += fmt::format("    tunnel {} -> {} VNI {}: {}\n      {}\n", tunnel.source, tunnel.destination,
                        tunnel.vni, packet::Packet(tunnel.inner).Summary(), packet::HexText(tunnel.inner));
  }
  for (const slowpath::Announcement& one : observed.announcements) {
    text += fmt::format("    announced: {} at {} by {} in {}\n", one.ip, one.mac, one.port, one.network);
  }
  return text.empty() ? "    nothing\n" : text;
}

void RemoveWhatIsKnown(const vswitch::HostView& view, std::vector<slowpath::Announcement>& announcements) {
  std::erase_if(announcements, [&](const slowpath::Announcement& one) {
    const auto claim = view.claims.find({one.network, one.ip});
    if (claim != view.claims.end() && (claim->second.port != one.port || claim->second.mac != one.mac))
      return false;
    return IsOwners(view.ports, one) || IsOwners(view.endpoints, one);
  });
}

void DropBounds::Add(const std::vector<sim::Result>& results, const std::vector<size_t>& matches) {
  for (const DropReason reason : vswitch::kAllDropReasons) {
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (const size_t n : matches) {
      const uint64_t count = CountOf(DropsOf(results[n]), reason);
      least = std::min(least, count);
      most = std::max(most, count);
    }
    if (most == 0) continue;
    bounds_[reason].first += least;
    bounds_[reason].second += most;
  }
  // One that waits for its next hop may find no room, or take that of another: sim counts none of those.
  size_t waiting = 0;
  for (const size_t n : matches) waiting = std::max(waiting, results[n].waiting);
  if (waiting != 0) bounds_[DropReason::kNoNeighbour].second += waiting;
}

std::vector<std::string> DropBounds::Differences(const Counts& before, const Counts& after) const {
  const auto bounds = [&](DropReason reason) {
    const auto it = bounds_.find(reason);
    return it == bounds_.end() ? std::pair<uint64_t, uint64_t>() : it->second;
  };
  std::vector<std::string> differences;
  for (const DropReason reason : vswitch::kAllDropReasons) {
    const uint64_t counted = CountOf(after, reason) - CountOf(before, reason);
    auto [least, most] = bounds(reason);
    // A packet that is larger than an MTU counts for what it would have met, too: see TestMtu().
    if (reason != DropReason::kMtu) most += bounds(DropReason::kMtu).second;
    if (counted >= least && counted <= most) continue;
    differences.push_back(fmt::format("{} drops: sim {}{}, switch {}", Label(reason), least,
                                      most == least ? "" : fmt::format(" to {}", most), counted));
  }
  return differences;
}

}  // namespace kasane::differential
