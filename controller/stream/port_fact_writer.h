// Writes the facts about ports from the registry to the store: many reports, one transaction.
#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include "controller/store/store.h"
#include "controller/stream/host_registry.h"

namespace kasane::controller {

class PortFactWriter {
 public:
  // Waits for `window` after a first fact for more. Both must outlive it.
  PortFactWriter(HostRegistry& registry, Store& store, std::chrono::milliseconds window);
  // Writes what is left.
  ~PortFactWriter();

 private:
  void Run(std::stop_token stop);

  HostRegistry& registry_;
  Store& store_;
  const std::chrono::milliseconds window_;
  std::jthread thread_;
};

}  // namespace kasane::controller
