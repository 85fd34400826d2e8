// Makes a cloud that shows a fault smaller, as long as it still shows it.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "model/network_state.h"

namespace kasane::differential {

// Whether a smaller cloud still shows the fault. An error ends the search.
using StillFails = std::function<absl::StatusOr<bool>(const model::NetworkState& state)>;

// Takes away routers, ports, networks with what is on them, claims, subnets, routes, addresses and pairs, one
// at a time, until nothing more can go. `keep` is a port that the fault needs; empty: none.
absl::StatusOr<model::NetworkState> Shrink(model::NetworkState state, const PortId& keep,
                                           const StillFails& still_fails);

}  // namespace kasane::differential
