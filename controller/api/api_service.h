// ControllerService: what Neutron's driver and kasanectl speak.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "controller/api/watch_hub.h"
#include "controller/store/state_hub.h"
#include "controller/stream/host_registry.h"
#include "rpc/memory_budget.h"

namespace kasane::controller {

// What the service works on; all of it outlives it.
struct ApiContext {
  StateHub& hub;
  HostRegistry& registry;
  WatchHub& watch_hub;
};

// Takes the memory of what it parses from `memory`.
std::unique_ptr<grpc::Service> MakeApiService(const ApiContext& context, rpc::MemoryBudget& memory);

}  // namespace kasane::controller
