// Small pieces of match and action text that the compiler's files share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/vni.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/ovs/translate/pipeline.h"
#include "vswitch/ovs/translate/slow_path_action.h"

namespace kasane::ovs {

inline void Add(FlowTable& out, Table table, uint16_t priority, std::string match, std::string actions,
                const vswitch::Owner& owner) {
  out.Add({table, priority, std::move(match)}, {std::move(actions), owner, std::nullopt});
}

inline void AddDrop(FlowTable& out, Table table, uint16_t priority, std::string match,
                    const vswitch::Owner& owner, vswitch::DropReason reason) {
  out.Add({table, priority, std::move(match)}, {"drop", owner, reason});
}

// A drop that is counted as such and told to the agent, which answers the sender.
inline void AddReportedDrop(FlowTable& out, Table table, uint16_t priority, std::string match,
                            const vswitch::Owner& owner, vswitch::DropReason reason,
                            slowpath::SlowPathCause cause) {
  out.Add({table, priority, std::move(match)}, {ToAgent(cause), owner, reason});
}

// Sets bit 0 of reg::kTooBig for packets larger than `mtu`, and clears it for others. The switch translates
// what follows for both, and counts a packet for the flows of both: so what hangs on the bit is counted by the
// agent.
inline std::string TestMtu(uint32_t mtu) {
  constexpr uint32_t kEthernet = 14;
  return fmt::format("check_pkt_larger({})->NXM_NX_REG6[0],", std::min(mtu + kEthernet, uint32_t{0xffff}));
}

// Drops what the port sends too fast, with a comma behind it; first of the actions, as OpenFlow wants it. The
// meter has the number of its switch port.
inline std::string ThroughMeter(const std::optional<MeterRate>& limit, uint32_t ofport) {
  return limit ? fmt::format("meter:{},", ofport) : "";
}

inline std::string Goto(Table table) { return fmt::format("goto_table:{}", static_cast<int>(table)); }

// Back to an earlier table, where goto_table does not lead, and behind it on.
inline std::string Resubmit(Table table) { return fmt::format("resubmit(,{})", static_cast<int>(table)); }

// With a comma behind it.
inline std::string SetMetadata(Vni vni) { return fmt::format("set_field:{:#x}->metadata,", vni.value()); }

}  // namespace kasane::ovs
