// WatchHub: the API's watchers. Each has a bounded queue; one that does not keep up is ended with
// RESOURCE_EXHAUSTED and never holds up anybody else.
#pragma once

#include <memory>
#include <vector>

#include "controller/store/state_hub.h"
#include "controller/stream/host_registry.h"

namespace grpc {
class ByteBuffer;
template <class Response>
class ServerWriteReactor;
}  // namespace grpc

namespace kasane::v1 {
class WatchRequest;
}  // namespace kasane::v1

namespace kasane::controller {

class WatchHub : public StateHub::Observer {
 public:
  // Both must outlive it. As an observer it comes after `registry`, so that events have the status after.
  WatchHub(StateHub& hub, const HostRegistry& registry);
  ~WatchHub() override;

  // Serves one Watch call, whose messages are sent as bytes. gRPC owns the reactor's use, the hub the reactor.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(const v1::WatchRequest& request);
  // A call that ends at once with `status`.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Refuse(const absl::Status& status);

  void OnCommit(const Committed& committed) override;
  // The status of these ports changed, and nothing else.
  void OnPortStatus(const std::vector<PortId>& ports);
  // Ends all calls, and those that come, with UNAVAILABLE.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::controller
