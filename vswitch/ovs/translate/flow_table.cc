#include "vswitch/ovs/translate/flow_table.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace kasane::ovs {

void FlowTable::Add(FlowKey key, FlowValue value) {
  const auto [it, added] = flows_.try_emplace(std::move(key), std::move(value));
  if (added) return;
  ++conflicts_;
  // try_emplace moves nothing when the key is there.
  if (value.owner < it->second.owner) it->second = std::move(value);  // NOLINT(bugprone-use-after-move)
}

std::string ToString(const FlowTable& table) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const auto& [id, meter] : table.meters()) {
    fmt::format_to(out, "meter={} rate={} burst={} # {} {} drops {}\n", id, meter.limit.rate, meter.limit.burst,
                   Label(meter.owner.kind), meter.owner.id, Label(meter.drop));
  }
  for (const auto& [key, value] : table.flows()) {
    fmt::format_to(out, "table={}({}) priority={}{}{} actions={} # {}{}{}{}\n", static_cast<int>(key.table),
                   Label(key.table), key.priority, key.match.empty() ? "" : " ", key.match, value.actions,
                   Label(value.owner.kind), value.owner.id.empty() ? "" : " ", value.owner.id,
                   value.drop ? fmt::format(" drops {}", Label(*value.drop)) : "");
  }
  return text;
}

}  // namespace kasane::ovs
