// HostRegistry: what is known of the hosts that is not configuration: which agents are connected, what they
// refused, what they applied, and the status of ports that follows from it. None of it raises a revision.
//
// Kept in memory; the facts about ports are written to the store in aggregate (PortFactWriter). Threads: any.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/store/state_hub.h"

namespace kasane::controller {

// kNotApplicable: nothing is ever plugged for it, such as a floating IP's port (Neutron's "N/A").
enum class PortStatus { kDown, kBuild, kActive, kNotApplicable };

// One stream of an agent.
struct HostSession {
  HostId host;
  std::string instance_id;  // Of the agent's run.
  std::string peer;         // Address it is connected from.
  std::string agent_version;
  std::string since;             // UTC, set by Connect.
  std::function<void()> cancel;  // Ends the stream soon; any thread, at any time.
  uint32_t protocol_version = 0;
  std::vector<std::string> capabilities = {};  // Of the agent.
};

// What an agent says became of one version of a resource. No faults: accepted.
struct HostVerdict {
  model::ResourceKey key;
  model::Revision revision;
  std::vector<model::Fault> faults;
};

// The datapath of the host acknowledged everything up to `revision`.
struct HostApplied {
  model::Revision revision;
  std::vector<PortId> active_ports;
  std::vector<PortId> down_ports;
};

struct HostRefusal {
  HostId host;
  std::vector<model::Fault> faults;
};

struct HostSummary {
  bool connected = false;
  std::string agent_version;
  std::optional<model::Revision> applied;
  size_t rejected = 0;                    // Resources that it refuses now.
  uint32_t protocol_version = 0;          // 0: not connected.
  std::vector<std::string> capabilities;  // Of the agent that is connected.
};

class HostRegistry : public StateHub::Observer {
 public:
  // `known` are the port facts of earlier runs.
  explicit HostRegistry(const std::vector<PortFact>& known);

  // ALREADY_EXISTS while another instance is connected for the host. A stream of the same instance is
  // replaced and cancelled. RESOURCE_EXHAUSTED with too many hosts.
  absl::StatusOr<std::shared_ptr<HostSession>> Connect(HostSession session);
  // Does nothing if the session was replaced.
  void Disconnect(const std::shared_ptr<HostSession>& session);
  void CancelAll();

  // Reports of a session that was replaced are ignored.
  void ReportVerdicts(const HostSession& session, const std::vector<HostVerdict>& verdicts);
  // Returns the ports whose status changed. Ports that are not bound to the host are ignored.
  std::vector<PortId> ReportApplied(const HostSession& session, const Snapshot& snapshot,
                                    const HostApplied& applied);
  // The host no longer holds these.
  void Forget(const HostId& host, const std::vector<model::ResourceKey>& keys);

  PortStatus StatusOf(const model::Port& port) const;
  // Hosts that refuse exactly this version.
  std::vector<HostRefusal> RefusalsOf(const model::ResourceKey& key, const model::Revision& revision) const;
  std::map<HostId, HostSummary> Summaries() const;
  bool IsConnected(const HostId& host) const;

  // Facts of what changed are kept no longer than they hold.
  void OnCommit(const Committed& committed) override;

  // Waits for facts that were not taken yet, then for `window` more of them. Empty when stop is requested
  // and there are none.
  std::vector<PortFact> TakeFacts(std::chrono::milliseconds window, std::stop_token stop);
  // They could not be written: TakeFacts will give their present form again.
  void ReturnFacts(const std::vector<PortFact>& facts);

 private:
  struct Fact {
    HostId host;
    bool says_active = false;  // The host's last word.
    bool active = false;       // Its word, once it had applied the version of the port that it spoke of.
  };
  struct Host {
    std::shared_ptr<HostSession> session;  // Null: not connected.
    std::string agent_version;
    std::optional<model::Revision> applied;
    std::map<model::ResourceKey, HostVerdict> refused;
    std::set<PortId> awaited;  // Said to be active, in a version that the host has not applied yet.
  };

  bool IsPresent(const HostSession& session) const;
  PortStatus StatusLocked(const model::Port& port) const;
  void Note(Host& host, const Snapshot& snapshot, const HostId& id, const PortId& port, bool active,
            std::vector<PortId>& changed);
  void ForgetPort(const Committed& committed, const PortId& id);

  mutable std::mutex mutex_;
  std::condition_variable_any unsaved_arrived_;
  std::map<HostId, Host> hosts_;
  size_t sessions_ = 0;
  absl::flat_hash_map<PortId, Fact> facts_;
  absl::flat_hash_set<PortId> unsaved_;
};

}  // namespace kasane::controller
