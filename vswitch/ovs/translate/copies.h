// Copies of a packet to the places that an entry of the forwarding tables names.
#pragma once

#include <vector>

#include "vswitch/ovs/translate/bindings.h"
#include "vswitch/ovs/translate/replication.h"
#include "vswitch/tables/entries.h"

namespace kasane::ovs {

CopyList CopiesToPorts(const std::vector<PortId>& ports, const Bindings& bindings);

// Through the tunnel, with the network's VNI. A host that cannot be reached gets none.
CopyList CopiesToHosts(const std::vector<tables::RemotePlace>& hosts, Vni vni, const Bindings& bindings);

}  // namespace kasane::ovs
