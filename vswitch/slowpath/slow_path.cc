#include "vswitch/slowpath/slow_path.h"

#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
namespace {

SlowPathOutcome Oversize(const NetworkFacts& facts, const SlowPathPacket& packet) {
  SlowPathOutcome out;
  if (packet.router) {
    out = SendIcmpError(facts, packet);
  } else {
    out.text = "bridged: no ICMP error";
  }
  out.drop = vswitch::DropReason::kMtu;
  return out;
}

}  // namespace

SlowPathOutcome HandleSlowPath(const NetworkFacts& facts, const SlowPathPacket& packet) {
  switch (packet.cause) {
    case SlowPathCause::kNeighbour:
      return AnswerNeighbour(facts, packet);
    case SlowPathCause::kTtlExceeded:
    case SlowPathCause::kNoRoute:
    case SlowPathCause::kNoNeighbour:
    case SlowPathCause::kReassemblyTime:
      return SendIcmpError(facts, packet);
    case SlowPathCause::kTooBig:
      return Oversize(facts, packet);
    case SlowPathCause::kResolve:
      return AskForNextHop(facts, packet);
    case SlowPathCause::kEcho:
      return AnswerEcho(facts, packet);
    case SlowPathCause::kAnnouncement:
      return TakeAnnouncement(facts, packet);
  }
  return {};
}

}  // namespace kasane::slowpath
