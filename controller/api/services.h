// The two gRPC services of the controller. Both take the memory of what they parse from one budget.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>

#include "controller/api/watch_hub.h"
#include "controller/store/state_hub.h"
#include "controller/stream/host_registry.h"
#include "rpc/memory_budget.h"

namespace kasane::controller {

// What the services work on; all of it outlives them.
struct ServiceContext {
  StateHub& hub;
  HostRegistry& registry;
  WatchHub& watch_hub;
};

// ControllerService: what Neutron's driver and kasanectl speak.
std::unique_ptr<grpc::Service> MakeApiService(const ServiceContext& context, rpc::MemoryBudget& memory);

// NetworkStateService: the stream to each agent. A call has a thread of gRPC that reads and one of its own
// that writes: a slow agent blocks its own writer only, which then skips to the newest snapshot.
std::unique_ptr<grpc::Service> MakeStreamService(const ServiceContext& context, rpc::MemoryBudget& memory);

}  // namespace kasane::controller
