#include "agent/sync/stream_end.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace kasane::agent {
namespace {

// gRPC wraps the reason in what it tried: "failed to connect to all addresses; last error: UNKNOWN: ADDRESS:
// Failed to connect to remote host: Connection refused".
std::string_view Reason(std::string_view message) {
  if (message.find("last error:") == std::string_view::npos) return message;
  return message.substr(message.rfind(": ") + 2);
}

std::string Describe(std::string_view host_id, absl::StatusCode code, std::string_view message) {
  switch (code) {
    case absl::StatusCode::kOk:
      return "the controller closed the stream; trying again";
    case absl::StatusCode::kUnavailable:
      return fmt::format(
          "not reachable ({}): start kasane-controller there, or fix `controller` in the "
          "configuration; forwarding goes on, trying again",
          Reason(message));
    case absl::StatusCode::kAlreadyExists:       // A second agent for this host.
    case absl::StatusCode::kFailedPrecondition:  // Other addresses than the pinned ones, another version.
    case absl::StatusCode::kInvalidArgument:     // A Hello that it does not understand.
      return fmt::format("the controller refuses this agent as host {}: {}; trying again", host_id, message);
    case absl::StatusCode::kUnimplemented:
      return "what answers there does not speak this version of Kasane's state protocol: use a kasaned and a "
             "kasane-controller that fit together, or fix `controller` in the configuration; trying again";
    default:
      return fmt::format("the stream failed ({}): {}; trying again", Std(absl::StatusCodeToString(code)),
                         message);
  }
}

}  // namespace

vswitch::Problem DescribeStreamEnd(std::string_view controller_address, std::string_view host_id, int code,
                                   std::string_view message) {
  return {fmt::format("controller {}", controller_address),
          Describe(host_id, static_cast<absl::StatusCode>(code), message)};
}

}  // namespace kasane::agent
