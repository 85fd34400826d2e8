// The numbers that this datapath gives to routers, and to places where a MAC was learned, in registers. Hashes
// of ids: an agent that restarts gives the same ones again. Where two collide, the later id takes the next free
// number, so that they are unique on the host.
#pragma once

#include <cstdint>
#include <map>

#include "base/ids.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

struct Numbers {
  std::map<RouterId, uint32_t> routers;  // In reg::kRouter, never 0.
  // In reg::kLearnedPlace (learned_places.h).
  std::map<tables::LearningKey, uint32_t> learned_hosts;
  std::map<PortId, uint32_t> learned_ports;  // Of this host, without port security.

  bool operator==(const Numbers&) const = default;
};

std::map<RouterId, uint32_t> AssignRouterNumbers(const tables::ForwardingTables& tables);
// All of them, those of the routers too.
Numbers AssignNumbers(const tables::ForwardingTables& tables);

}  // namespace kasane::ovs
