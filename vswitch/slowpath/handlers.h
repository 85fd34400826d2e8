// The causes of the slow path, one function each. Used by slow_path.cc alone.
#pragma once

#include "vswitch/packet/packet.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::slowpath {

// ARP request or neighbour solicitation for an address that this host answers for (RFC 826, RFC 4861 7.2.4).
SlowPathOutcome AnswerNeighbour(const NetworkFacts& facts, const SlowPathPacket& packet);

// The ICMP or ICMPv6 error that `packet.cause` asks for, if one may be sent (RFC 1812 4.3.2, RFC 4443 2.4).
SlowPathOutcome SendIcmpError(const NetworkFacts& facts, const SlowPathPacket& packet);

// A frame that may announce an address: who speaks for it now, and, if it came from a port here, copies for the
// hosts that route into its network and did not get it.
SlowPathOutcome TakeAnnouncement(const NetworkFacts& facts, const SlowPathPacket& packet);

// What may be an echo request in fragments to an address of the router (RFC 792; RFC 4443, 4.1): a fragment is
// to be kept; the whole of it is answered, in fragments that pass where those of the question did.
SlowPathOutcome AnswerEcho(const NetworkFacts& facts, const SlowPathPacket& packet);

// A packet for an address that somebody may have who has not said so: the question for each of them (RFC 826;
// RFC 4861, 7.2.2). If nobody may have it, as kNoNeighbour.
SlowPathOutcome AskForNextHop(const NetworkFacts& facts, const SlowPathPacket& packet);

}  // namespace kasane::slowpath
