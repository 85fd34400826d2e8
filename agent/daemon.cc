#include "agent/daemon.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "agent/admin/admin_server.h"
#include "agent/datapaths.h"
#include "agent/reconcile/event_queue.h"
#include "agent/reconcile/reconciler.h"
#include "agent/signals.h"
#include "agent/sync/state_disk.h"
#include "agent/sync/sync_client.h"
#include "base/log.h"
#include "base/status.h"
#include "vswitch/datapath.h"

namespace kasane::agent {
namespace {

std::vector<std::string> Texts(const vswitch::TunnelAddresses& addresses) {
  std::vector<std::string> texts;
  if (addresses.v4) texts.push_back(addresses.v4->ToString());
  if (addresses.v6) texts.push_back(addresses.v6->ToString());
  return texts;
}

SyncOptions SyncOptionsOf(const AgentConfig& config) {
  SyncOptions options;
  options.target = config.controller_target;
  options.address = config.controller;
  options.host_id = config.host_id.str();
  options.tunnel_addresses = Texts(config.tunnel_addresses);
  options.capabilities = {"datapath:" + config.datapath.type};
  if (config.tunnel_addresses.v4) options.capabilities.emplace_back("underlay:ipv4");
  if (config.tunnel_addresses.v6) options.capabilities.emplace_back("underlay:ipv6");
  options.agent_version = KASANE_VERSION;
  return options;
}

inspect::AgentIdentity IdentityOf(const AgentConfig& config) {
  return {config.host_id.str(), KASANE_VERSION, config.controller, Texts(config.tunnel_addresses)};
}

int CannotStart(const absl::Status& status) {
  log::Error("cannot start", {{"why", Message(status)}});
  return 1;
}

}  // namespace

int RunDaemon(const AgentConfig& config) {
  log::Info("kasaned starts", {{"version", KASANE_VERSION},
                               {"host", config.host_id.str()},
                               {"pid", std::to_string(getpid())},
                               {"controller", config.controller}});
  // First, so that a second agent on this socket has touched nothing yet when it finds the first one.
  absl::StatusOr<std::unique_ptr<AdminSocket>> socket = AdminSocket::Claim(config.admin_socket);
  if (!socket.ok()) return CannotStart(socket.status());

  absl::StatusOr<std::unique_ptr<StateDisk>> disk = StateDisk::Open(config.state_dir);
  if (!disk.ok()) return CannotStart(disk.status());

  EventQueue queue;
  absl::StatusOr<std::unique_ptr<vswitch::Datapath>> datapath = OpenDatapath(
      config, [&queue] { queue.Push(DatapathChanged{}); },
      [&queue](const slowpath::Announcement& heard) { queue.Push(AddressAnnounced{heard}); });
  if (!datapath.ok()) return CannotStart(datapath.status());

  SyncClient client(SyncOptionsOf(config), [&queue](SyncEvent event) {
    std::visit([&queue](auto& what) { queue.Push(std::move(what)); }, event);
  });
  Reconciler reconciler({config.host_id, config.tunnel_addresses, config.controller}, **datapath, **datapath,
                        client, disk->get());
  reconciler.Restore((*disk)->Load());
  absl::StatusOr<std::unique_ptr<AdminServer>> admin = AdminServer::Start(
      *std::move(socket), IdentityOf(config), [&] { return reconciler.Snapshot(); },
      [&] { return (*datapath)->Name(); }, [&queue] { queue.Push(StoreAccepted{}); }, **datapath);
  if (!admin.ok()) return CannotStart(admin.status());

  std::thread loop([&] { RunReconciler(reconciler, queue); });
  const int signal = WaitForStopSignal();
  log::Info("kasaned stops; the switch goes on forwarding", {{"signal", strsignal(signal)}});
  queue.Close();
  loop.join();
  return 0;
}

}  // namespace kasane::agent
