// Model values into the messages of the API.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/stream/host_registry.h"
#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/not_enforced.h"

namespace kasane::controller {

v1::PortStatus MakePortStatus(PortStatus status);

// Renders resources of one snapshot with their status and with what is output only. One thread at a time.
class Renderer {
 public:
  Renderer(std::shared_ptr<const Snapshot> snapshot, const HostRegistry& registry);

  // The key must be in the snapshot.
  v1::ResourceWithStatus Render(const model::ResourceKey& key) const;
  const Snapshot& snapshot() const { return *snapshot_; }

 private:
  void AddInterfaces(const std::string& router, v1::Router& out) const;
  void AddNotEnforced(const model::ResourceKey& key, v1::ResourceWithStatus& out) const;

  std::shared_ptr<const Snapshot> snapshot_;
  const HostRegistry& registry_;
  // By router; made when the first router is rendered.
  mutable std::optional<std::multimap<std::string, const model::Port*>> interfaces_;
};

}  // namespace kasane::controller
