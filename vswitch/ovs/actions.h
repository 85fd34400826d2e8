// Small pieces of match and action text that the compiler's files share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "vswitch/base/vni.h"
#include "vswitch/ovs/flow_table.h"
#include "vswitch/ovs/pipeline.h"

namespace kasane::ovs {

inline void Add(FlowTable& out, Table table, uint16_t priority, std::string match, std::string actions,
                const Owner& owner) {
  out.Add({table, priority, std::move(match)}, {std::move(actions), owner, std::nullopt});
}

inline void AddDrop(FlowTable& out, Table table, uint16_t priority, std::string match, const Owner& owner,
                    DropReason reason) {
  out.Add({table, priority, std::move(match)}, {"drop", owner, reason});
}

inline std::string Goto(Table table) { return fmt::format("goto_table:{}", static_cast<int>(table)); }

// With a comma behind it.
inline std::string SetMetadata(Vni vni) { return fmt::format("set_field:{:#x}->metadata,", vni.value()); }

}  // namespace kasane::ovs
