// Which port may have which address: what admits a claim, and whom a router asks. Decided on the tables, so
// that it is the same wherever the tables are.
#pragma once

#include <vector>

#include "vswitch/tables/forwarding_tables.h"

namespace kasane::tables {

// Whether `port` may speak for the address with `mac`, whoever has it otherwise. With port security: if the
// pair is in its allowed list. Without: if no other port is configured to have the address, or the MAC. Never
// for an address of a router or of Neutron's own ports, nor with a router's MAC.
bool MayClaim(const ForwardingTables& tables, const AddressKey& address, const MacAddress& mac,
              const PortId& port);

// The ports that may own an address that nobody owns: those here, and the hosts of the others.
SeveralPlaces FindCandidates(const ForwardingTables& tables, const AddressKey& address);

// The prefixes that the port may have beside what is its own: its fixed IPs and the link-local addresses of its
// MACs. Everything, without port security. Nothing with a router's MAC.
std::vector<IpPrefix> MovablePrefixes(const ForwardingTables& tables, const PortKey& key, const Port& port);

}  // namespace kasane::tables
