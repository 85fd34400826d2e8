// The causes of the slow path, one function each. Used by slow_path.cc alone.
#pragma once

#include "vswitch/packet/packet.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::slowpath {

// ARP request or neighbour solicitation for an address that this host answers for (RFC 826, RFC 4861 7.2.4).
SlowPathOutcome AnswerNeighbour(const vswitch::HostView& view, const SlowPathPacket& packet);

// The ICMP or ICMPv6 error that `packet.cause` asks for, if one may be sent (RFC 1812 4.3.2, RFC 4443 2.4).
SlowPathOutcome SendIcmpError(const vswitch::HostView& view, const SlowPathPacket& packet);

// A frame that may announce an address: who speaks for it now, and, if it came from a port here, copies for the
// hosts that only route into its network.
SlowPathOutcome TakeAnnouncement(const vswitch::HostView& view, const SlowPathPacket& packet);

}  // namespace kasane::slowpath
