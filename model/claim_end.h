// When a claim ends without a word from its claimer: another port gets the address as its own.
#pragma once

#include "model/network_state.h"

namespace kasane::model {

// Whether a change of a port from `before` (null: it is new) to `after` gives it `address` on `network` as its
// own: another port's claim on it ends then, for the claimer took over from a former owner.
bool GainsAddress(const Port* before, const Port& after, const NetworkId& network, const IpAddress& address);

// Whether the ports that differ between `before` and `after` end `claim` (see GainsAddress).
bool EndsClaim(const AddressClaim& claim, const NetworkState& before, const NetworkState& after);

}  // namespace kasane::model
