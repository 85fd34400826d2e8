// Where a MAC was learned, as a number in reg::kLearnedPlace. The switch keeps it in its table kLearned through
// changes of the view and restarts of the agent; so it says of itself whether it still means something: it is a
// hash of the ports that the MAC may be behind. When one of them moves, what was learned before names no place
// of kUnknown any more, and the packet goes to every unsecured port as if nothing had been learned.
//
// Pure functions of the ids: an agent that restarts assigns the same numbers.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"

namespace kasane::ovs {

// Of each host, the ports with port security off that it has in one network, in order. The top bit is set;
// unique within `behind`.
std::map<HostId, uint32_t> AssignHostPlaces(const std::map<HostId, std::vector<PortId>>& behind);

// Of ports of this host. Not by switch port: its number may be another port's the next time. The top bit is
// clear; unique within `ports`.
std::map<PortId, uint32_t> AssignPortPlaces(const std::vector<PortId>& ports);

}  // namespace kasane::ovs
