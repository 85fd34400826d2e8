// Follows a traced packet from the host that it enters to those that it reaches through tunnels.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>

namespace kasane::v1 {
class TraceResponse;
class TraceRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

// What `host` does with a packet that comes to it through a tunnel.
using HostTracer =
    std::function<absl::StatusOr<v1::TraceResponse>(const std::string& host, const v1::TraceRequest& request)>;

// `reply` of the first host, each delivery into a tunnel replaced by what comes of it at its end, with the
// steps there. Where `trace` fails, the delivery into the tunnel stays, and a note says why it was not
// followed.
v1::TraceResponse FollowTunnels(v1::TraceResponse reply, const HostTracer& trace);

}  // namespace kasane::ctl
