// The admin API on its Unix socket. It reads published snapshots and the datapath's dump, never anything that
// the reconcile thread waits for; what an operator decides becomes an event.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "agent/admin/admin_socket.h"
#include "inspect/agent_snapshot.h"
#include "inspect/replies.h"
#include "vswitch/datapath.h"

namespace kasane::agent {

class AdminServer {
 public:
  // Called from any thread. Never null.
  using SnapshotSource = std::function<std::shared_ptr<const inspect::AgentSnapshot>()>;

  // Called from any thread: "ovs (netdev)".
  using NameSource = std::function<std::string()>;

  // An operator accepts the database of the controller. Called from any thread; returns at once.
  using AcceptStore = std::function<void()>;

  // Binds the claimed path with mode 0660 and serves on threads of its own until destroyed. `inspector` must
  // outlive it.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(std::unique_ptr<AdminSocket> socket,
                                                            inspect::AgentIdentity identity,
                                                            SnapshotSource snapshot, NameSource datapath_name,
                                                            AcceptStore accept_store,
                                                            vswitch::Inspector& inspector);
  // Ends calls that run, and removes the socket.
  ~AdminServer();

 private:
  class Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::agent
