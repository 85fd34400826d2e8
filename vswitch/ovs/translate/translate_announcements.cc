#include "vswitch/ovs/translate/translate_announcements.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "vswitch/ovs/translate/places.h"

namespace kasane::ovs {
namespace {

// In kAnnounce and kTunnelAnnounce.
constexpr uint16_t kToAll = 110;
constexpr uint16_t kToOne = 100;

// What may announce something. OpenFlow cannot compare two fields: where a whole prefix may move, every request
// within it is shown, and the agent decides.
std::vector<std::string> MayAnnounce(const std::set<IpPrefix>& v4) {
  std::vector<std::string> matches;
  for (const IpPrefix& prefix : v4) {
    const std::string sender_is_target =
        prefix.length() == 0 ? "" : fmt::format(",arp_spa={},arp_tpa={}", prefix, prefix);
    matches.push_back("arp,arp_op=1" + sender_is_target);
  }
  matches.emplace_back("arp,arp_op=2");
  matches.emplace_back("icmp6,icmp_type=136,icmp_code=0");
  return matches;
}

}  // namespace

void TranslateAnnouncer(const PortId& port, const tables::Claimant<tables::Announcer>& winner,
                        const Bindings& bindings, FlowTable& out) {
  const uint32_t number = NumberOf(bindings, port);
  const std::string from = fmt::format("metadata={:#x},in_port={}", winner.value.vni.value(), number);
  // To all: replicated as kL2 has it, at the rate that the port may.
  const std::string show =
      ThroughMeter(bindings.replication_limit, number) + ToAgent(slowpath::SlowPathCause::kAnnouncement) + ",";
  for (const std::string& match : MayAnnounce(winner.value.v4)) {
    Add(out, Table::kAnnounce, kToAll,
        fmt::format("{},{},dl_dst=01:00:00:00:00:00/01:00:00:00:00:00", match, from),
        show + Goto(Table::kFlood), winner.owner);
    Add(out, Table::kAnnounce, kToOne, fmt::format("{},{}", match, from), show + Goto(Table::kL2),
        winner.owner);
  }
}

void TranslateAnnouncements(const tables::Claimant<tables::Announcements>& winner, FlowTable& out) {
  if (!winner.value.movable) return;
  for (const std::string& match : MayAnnounce(winner.value.movable_v4)) {
    Add(out, Table::kTunnelAnnounce, kToOne, fmt::format("{},metadata={:#x}", match, winner.value.vni.value()),
        ToAgent(slowpath::SlowPathCause::kAnnouncement) + "," + Goto(Table::kTunnelL2), winner.owner);
  }
}

}  // namespace kasane::ovs
