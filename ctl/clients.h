// The two servers that kasanectl speaks to. Each call has the deadline of the global options, and a
// failure's message names the address and what to do.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "ctl/commands/globals.h"

namespace kasane::v1 {
class AgentStatusReply;
class ApplyReply;
class ApplyRequest;
class CompareFlowsReply;
class ControllerStatusReply;
class DeleteReply;
class DeleteRequest;
class ListDropsReply;
class ListDropsRequest;
class ListFlowsReply;
class ListFlowsRequest;
class ListNetworksReply;
class ListPortsReply;
class ListReply;
class ListRequest;
class ListRoutersReply;
class ListTunnelsReply;
class ResolveReply;
class ResolveRequest;
class TraceReply;
class TraceRequest;
class WatchEvent;
class WatchRequest;
}  // namespace kasane::v1

namespace kasane::ctl {

class ControllerClient {
 public:
  // INVALID_ARGUMENT if the address is no HOST:PORT, or not loopback without --insecure. Connects at the
  // first call.
  static absl::StatusOr<ControllerClient> Dial(const Globals& globals);

  ControllerClient(ControllerClient&&) noexcept;
  ControllerClient& operator=(ControllerClient&&) noexcept;
  ~ControllerClient();

  absl::StatusOr<v1::ApplyReply> Apply(const v1::ApplyRequest& request);
  absl::StatusOr<v1::DeleteReply> Delete(const v1::DeleteRequest& request);
  absl::StatusOr<v1::ListReply> List(const v1::ListRequest& request);
  absl::StatusOr<v1::ControllerStatusReply> Status();
  // Calls `on_event` for each event until the stream ends, which is an error. Has no deadline.
  absl::Status Watch(const v1::WatchRequest& request,
                     const std::function<void(const v1::WatchEvent&)>& on_event);

 private:
  struct Impl;
  explicit ControllerClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class AgentClient {
 public:
  explicit AgentClient(const Globals& globals);
  AgentClient(AgentClient&&) noexcept;
  AgentClient& operator=(AgentClient&&) noexcept;
  ~AgentClient();

  absl::StatusOr<v1::AgentStatusReply> Status();
  absl::StatusOr<v1::ListPortsReply> ListPorts();
  absl::StatusOr<v1::ListTunnelsReply> ListTunnels();
  absl::StatusOr<v1::ListNetworksReply> ListNetworks();
  absl::StatusOr<v1::ListRoutersReply> ListRouters();
  absl::StatusOr<v1::ListFlowsReply> ListFlows(const v1::ListFlowsRequest& request);
  absl::StatusOr<v1::ListDropsReply> ListDrops(const v1::ListDropsRequest& request);
  absl::StatusOr<v1::CompareFlowsReply> CompareFlows();
  absl::StatusOr<v1::TraceReply> Trace(const v1::TraceRequest& request);
  absl::StatusOr<v1::ResolveReply> Resolve(const v1::ResolveRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The gRPC target of "HOST:PORT". INVALID_ARGUMENT as for Dial.
absl::StatusOr<std::string> ControllerTarget(const std::string& address, bool insecure);

// Why nobody answers at a Unix socket, with what to do.
std::string DiagnoseSocket(const std::string& path);

}  // namespace kasane::ctl
