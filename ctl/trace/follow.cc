#include "ctl/trace/follow.h"

#include <set>
#include <utility>

#include "base/status.h"
#include "kasane/v1/agent.pb.h"

namespace kasane::ctl {
namespace {

v1::TraceRequest RequestOf(const v1::TraceVerdict& verdict) {
  v1::TraceRequest request;
  request.set_outer_source(verdict.local_address());
  request.set_vni(verdict.vni());
  request.set_frame(verdict.frame());
  return request;
}

}  // namespace

// One round is enough: what comes out of a tunnel never goes into one.
v1::TraceResponse FollowTunnels(v1::TraceResponse reply, const HostTracer& trace) {
  v1::TraceResponse out;
  out.mutable_steps()->Swap(reply.mutable_steps());
  out.mutable_notes()->Swap(reply.mutable_notes());
  std::set<std::string> noted;
  for (v1::TraceVerdict& verdict : *reply.mutable_verdicts()) {
    if (verdict.remote_host().empty()) {
      *out.add_verdicts() = std::move(verdict);
      continue;
    }
    absl::StatusOr<v1::TraceResponse> next = trace(verdict.remote_host(), RequestOf(verdict));
    if (next.ok()) {
      for (v1::TraceStep& step : *next->mutable_steps()) step.set_way(verdict.way());
      for (v1::TraceVerdict& end : *next->mutable_verdicts()) {
        end.set_way(verdict.way());
        end.set_answer(end.answer() || verdict.answer());
      }
      out.mutable_steps()->MergeFrom(next->steps());
      out.mutable_verdicts()->MergeFrom(next->verdicts());
      continue;
    }
    const std::string why = Message(next.status());
    if (noted.insert(why).second) {
      out.add_notes(fmt::format("not followed to host {}: {}", verdict.remote_host(), why));
    }
    *out.add_verdicts() = std::move(verdict);
  }
  return out;
}

}  // namespace kasane::ctl
