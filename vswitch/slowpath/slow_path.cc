#include "vswitch/slowpath/slow_path.h"

#include "vswitch/slowpath/handlers.h"

namespace kasane::slowpath {
namespace {

SlowPathOutcome Oversize(const vswitch::HostView& view, const SlowPathPacket& packet) {
  SlowPathOutcome out;
  if (packet.router) {
    out = slowpath::SendIcmpError(view, packet);
  } else {
    out.text = "bridged: no ICMP error";
  }
  out.drop = vswitch::DropReason::kMtu;
  return out;
}

}  // namespace

SlowPathOutcome HandleSlowPath(const vswitch::HostView& view, const SlowPathPacket& packet) {
  SlowPathOutcome out;
  switch (packet.cause) {
    case SlowPathCause::kNeighbour:
      return slowpath::AnswerNeighbour(view, packet);
    case SlowPathCause::kTtlExceeded:
    case SlowPathCause::kNoRoute:
    case SlowPathCause::kNoNeighbour:
      return slowpath::SendIcmpError(view, packet);
    case SlowPathCause::kTooBig:
      return Oversize(view, packet);
    case SlowPathCause::kFence:
      out.injections.push_back({packet.port, {}, {}, {}, packet.frame});
      return out;
    case SlowPathCause::kAnnouncement:
      return slowpath::TakeAnnouncement(view, packet);
  }
  return out;
}

}  // namespace kasane::slowpath
