// The two servers that kasanectl speaks to. Each call has the deadline of the global options, and a
// failure's message names the address and what to do.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "ctl/globals.h"

namespace kasane::v1 {
class AgentStatusResponse;
class ApplyResponse;
class ApplyRequest;
class CompareFlowsResponse;
class ControllerStatusResponse;
class DeleteResponse;
class DeleteRequest;
class ListDropsResponse;
class ListDropsRequest;
class ListFlowsResponse;
class ListFlowsRequest;
class ListNetworksResponse;
class ListPortsResponse;
class ListResponse;
class ListRequest;
class ListRoutersResponse;
class ListTablesResponse;
class ListTablesRequest;
class AcceptStoreResponse;
class ListTunnelsResponse;
class ResolveResponse;
class ResolveRequest;
class TraceResponse;
class TraceRequest;
class WatchResponse;
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

  // With faults in the response nothing was stored or deleted, but for best_effort. A large request goes by
  // Import.
  absl::StatusOr<v1::ApplyResponse> Apply(const v1::ApplyRequest& request);
  absl::StatusOr<v1::DeleteResponse> Delete(const v1::DeleteRequest& request);
  // Any number of items, in parts. INVALID_ARGUMENT with rpc::DetailsOf: faults, and no best_effort.
  absl::StatusOr<v1::ApplyResponse> Import(const v1::ApplyRequest& request);
  // All pages.
  absl::StatusOr<v1::ListResponse> List(const v1::ListRequest& request);
  absl::StatusOr<v1::ControllerStatusResponse> Status();
  // Calls `on_event` for each event until the stream ends, which is an error. Has no deadline.
  absl::Status Watch(const v1::WatchRequest& request,
                     const std::function<void(const v1::WatchResponse&)>& on_event);

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

  absl::StatusOr<v1::AgentStatusResponse> Status();
  absl::StatusOr<v1::ListPortsResponse> ListPorts();
  absl::StatusOr<v1::ListTunnelsResponse> ListTunnels();
  absl::StatusOr<v1::ListNetworksResponse> ListNetworks();
  absl::StatusOr<v1::ListRoutersResponse> ListRouters();
  absl::StatusOr<v1::ListFlowsResponse> ListFlows(const v1::ListFlowsRequest& request);
  absl::StatusOr<v1::ListTablesResponse> ListTables(const v1::ListTablesRequest& request);
  absl::StatusOr<v1::ListDropsResponse> ListDrops(const v1::ListDropsRequest& request);
  absl::StatusOr<v1::CompareFlowsResponse> CompareFlows();
  absl::StatusOr<v1::TraceResponse> Trace(const v1::TraceRequest& request);
  absl::StatusOr<v1::ResolveResponse> Resolve(const v1::ResolveRequest& request);
  absl::StatusOr<v1::AcceptStoreResponse> AcceptStore();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The gRPC target of "HOST:PORT". INVALID_ARGUMENT as for Dial.
absl::StatusOr<std::string> ControllerTarget(const std::string& address, bool insecure);

// Why nobody answers at a Unix socket, with what to do.
std::string DiagnoseSocket(const std::string& path);

}  // namespace kasane::ctl
