// The admin API on its Unix socket. It only reads: published snapshots and the datapath's dump, never anything
// that the reconcile thread waits for.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>

#include "agent/admin/admin_socket.h"
#include "inspect/agent_snapshot.h"
#include "inspect/replies.h"
#include "vswitch/datapath.h"

namespace kasane::agent {

class AdminServer {
 public:
  // Called from any thread. Never null.
  using SnapshotSource = std::function<std::shared_ptr<const inspect::AgentSnapshot>()>;

  // Binds the claimed path with mode 0660 and serves on threads of its own until destroyed. `datapath` must
  // outlive it; only its name and dump are used.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(std::unique_ptr<AdminSocket> socket,
                                                            inspect::AgentIdentity identity,
                                                            SnapshotSource snapshot,
                                                            vswitch::Datapath& datapath);
  // Ends calls that run, and removes the socket.
  ~AdminServer();

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::agent
