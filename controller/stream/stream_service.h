// NetworkStateService: the stream to each agent. A call has a thread of gRPC that reads and one of its own
// that writes: a slow agent blocks its own writer only, which then skips to the newest snapshot.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <functional>
#include <memory>
#include <vector>

#include "controller/store/state_hub.h"
#include "controller/stream/host_registry.h"
#include "rpc/memory_budget.h"

namespace kasane::controller {

// What the service works on; all of it outlives it.
struct StreamContext {
  StateHub& hub;
  HostRegistry& registry;
  // Called from the streams' threads when ports changed their status; must not block.
  std::function<void(const std::vector<PortId>&)> on_port_status;
};

// Takes the memory of what it parses from `memory`.
std::unique_ptr<grpc::Service> MakeStreamService(StreamContext context, rpc::MemoryBudget& memory);

}  // namespace kasane::controller
