#include "controller/stream/host_registry.h"

#include <fmt/chrono.h>

#include <ctime>
#include <utility>

#include "base/status.h"
#include "kasane/v1/resources.pb.h"

namespace kasane::controller {
namespace {

constexpr size_t kMaxSessions = 4096;
constexpr size_t kMaxRefusedPerHost = 10'000;

std::string Now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

const model::Port* FindPort(const model::NetworkState& state, const PortId& id) {
  const auto it = state.ports.find(id);
  return it == state.ports.end() ? nullptr : it->second.get();
}

// Counters increase over all timelines of a store.
bool Covers(const model::Revision& applied, const Snapshot& snapshot, const PortId& port) {
  const auto it = snapshot.resources.find({model::Kind::kPort, port.str()});
  if (it == snapshot.resources.end()) return false;
  return applied.counter >= it->second->revision().counter();
}

}  // namespace

HostRegistry::HostRegistry(const std::vector<PortFact>& known) {
  for (const PortFact& fact : known) facts_[fact.port] = {fact.host, fact.active, fact.active};
}

absl::StatusOr<std::shared_ptr<HostSession>> HostRegistry::Connect(HostSession session) {
  const std::lock_guard lock(mutex_);
  Host& host = hosts_[session.host];
  if (host.session != nullptr && host.session->instance_id != session.instance_id) {
    return Error(
        absl::StatusCode::kAlreadyExists,
        "a second agent for host {}: one is connected from {} since {}; stop that one, or give this one its "
        "own host id",
        session.host, host.session->peer, host.session->since);
  }
  if (host.session != nullptr) {
    host.session->cancel();
  } else if (sessions_ >= kMaxSessions) {
    return Error(absl::StatusCode::kResourceExhausted, "{} agents are connected, which is the limit",
                 sessions_);
  } else {
    ++sessions_;
  }
  session.since = Now();
  host.session = std::make_shared<HostSession>(std::move(session));
  host.agent_version = host.session->agent_version;
  host.refused.clear();  // What it still refuses is sent again, and refused again.
  host.awaited.clear();
  return host.session;
}

void HostRegistry::Disconnect(const std::shared_ptr<HostSession>& session) {
  const std::lock_guard lock(mutex_);
  if (!IsPresent(*session)) return;
  hosts_.at(session->host).session = nullptr;
  --sessions_;
}

void HostRegistry::CancelAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, host] : hosts_) {
    if (host.session != nullptr) host.session->cancel();
  }
}

bool HostRegistry::IsPresent(const HostSession& session) const {
  const auto it = hosts_.find(session.host);
  return it != hosts_.end() && it->second.session.get() == &session;
}

bool HostRegistry::IsConnected(const HostId& host) const {
  const std::lock_guard lock(mutex_);
  const auto it = hosts_.find(host);
  return it != hosts_.end() && it->second.session != nullptr;
}

void HostRegistry::ReportVerdicts(const HostSession& session, const std::vector<HostVerdict>& verdicts) {
  const std::lock_guard lock(mutex_);
  if (!IsPresent(session)) return;
  auto& refused = hosts_.at(session.host).refused;
  for (const HostVerdict& verdict : verdicts) {
    if (verdict.faults.empty()) {
      refused.erase(verdict.key);
    } else if (refused.size() < kMaxRefusedPerHost || refused.count(verdict.key) != 0) {
      refused[verdict.key] = verdict;
    }
  }
}

std::vector<PortId> HostRegistry::ReportApplied(const HostSession& session, const Snapshot& snapshot,
                                                const HostApplied& applied) {
  std::vector<PortId> changed;
  const std::lock_guard lock(mutex_);
  if (!IsPresent(session)) return changed;
  Host& host = hosts_.at(session.host);
  host.applied = applied.revision;
  for (const PortId& port : applied.active_ports) Note(host, snapshot, session.host, port, true, changed);
  for (const PortId& port : applied.down_ports) Note(host, snapshot, session.host, port, false, changed);
  const std::set<PortId> awaited = host.awaited;
  for (const PortId& port : awaited) Note(host, snapshot, session.host, port, true, changed);
  if (!unsaved_.empty()) unsaved_arrived_.notify_all();
  return changed;
}

void HostRegistry::Note(Host& host, const Snapshot& snapshot, const HostId& id, const PortId& port_id,
                        bool active, std::vector<PortId>& changed) {
  host.awaited.erase(port_id);
  const model::Port* port = FindPort(snapshot.state, port_id);
  if (port == nullptr || port->host != id) return;
  const PortStatus before = StatusLocked(*port);
  Fact& fact = facts_[port_id];
  if (fact.host != id) fact = {id, false, false};
  fact.says_active = active;
  if (!active) {
    fact.active = false;
  } else if (!fact.active) {
    fact.active = Covers(*host.applied, snapshot, port_id);
    if (!fact.active) host.awaited.insert(port_id);
  }
  if (StatusLocked(*port) == before) return;
  changed.push_back(port_id);
  unsaved_.insert(port_id);
}

void HostRegistry::Forget(const HostId& host, const std::vector<model::ResourceKey>& keys) {
  const std::lock_guard lock(mutex_);
  const auto it = hosts_.find(host);
  if (it == hosts_.end()) return;
  for (const model::ResourceKey& key : keys) it->second.refused.erase(key);
}

PortStatus HostRegistry::StatusOf(const model::Port& port) const {
  const std::lock_guard lock(mutex_);
  return StatusLocked(port);
}

PortStatus HostRegistry::StatusLocked(const model::Port& port) const {
  // Every host that reaches a router's interface has it: there is no one host to wait for.
  if (port.role == model::PortRole::kRouterInterface)
    return port.admin_state_up ? PortStatus::kActive : PortStatus::kDown;
  if (!model::IsForMachine(port)) return PortStatus::kNotApplicable;
  if (port.host.empty()) return PortStatus::kDown;
  const auto it = facts_.find(port.id);
  if (it == facts_.end() || it->second.host != port.host) return PortStatus::kBuild;
  if (it->second.active) return PortStatus::kActive;
  return it->second.says_active ? PortStatus::kBuild : PortStatus::kDown;
}

std::vector<HostRefusal> HostRegistry::RefusalsOf(const model::ResourceKey& key,
                                                  const model::Revision& revision) const {
  std::vector<HostRefusal> refusals;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, host] : hosts_) {
    const auto it = host.refused.find(key);
    if (it != host.refused.end() && it->second.revision == revision)
      refusals.push_back({id, it->second.faults});
  }
  return refusals;
}

std::map<HostId, HostSummary> HostRegistry::Summaries() const {
  std::map<HostId, HostSummary> summaries;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, host] : hosts_) {
    HostSummary& summary = summaries[id];
    summary = {host.session != nullptr, host.agent_version, host.applied, host.refused.size(), 0, {}};
    if (host.session == nullptr) continue;
    summary.protocol_version = host.session->protocol_version;
    summary.capabilities = host.session->capabilities;
  }
  return summaries;
}

void HostRegistry::OnCommit(const Committed& committed) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, host] : hosts_) {
    if (host.refused.empty()) continue;
    for (const model::ResourceKey& key : committed.changed) host.refused.erase(key);
  }
  for (const model::ResourceKey& key : committed.changed) {
    if (key.kind == model::Kind::kPort) ForgetPort(committed, PortId(key.id));
    if (key.kind == model::Kind::kHost && committed.after->resources.count(key) == 0) {
      const auto it = hosts_.find(HostId(key.id));
      if (it != hosts_.end() && it->second.session == nullptr) hosts_.erase(it);
    }
  }
}

void HostRegistry::ForgetPort(const Committed& committed, const PortId& id) {
  const model::Port* before = FindPort(committed.before->state, id);
  const model::Port* after = FindPort(committed.after->state, id);
  if (before != nullptr && after != nullptr && before->host == after->host) return;
  if (facts_.erase(id) != 0) {
    unsaved_.insert(id);
    unsaved_arrived_.notify_all();
  }
  if (before == nullptr) return;
  if (const auto it = hosts_.find(before->host); it != hosts_.end()) it->second.awaited.erase(id);
}

std::vector<PortFact> HostRegistry::TakeFacts(std::chrono::milliseconds window, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (unsaved_arrived_.wait(lock, stop, [&] { return !unsaved_.empty(); })) {
    unsaved_arrived_.wait_for(lock, stop, window, [] { return false; });
  }
  std::vector<PortFact> taken;
  for (const PortId& id : unsaved_) {
    const auto it = facts_.find(id);
    taken.push_back(it == facts_.end() ? PortFact{id, HostId(), false}
                                       : PortFact{id, it->second.host, it->second.active});
  }
  unsaved_.clear();
  return taken;
}

void HostRegistry::ReturnFacts(const std::vector<PortFact>& facts) {
  const std::lock_guard lock(mutex_);
  for (const PortFact& fact : facts) unsaved_.insert(fact.port);
}

}  // namespace kasane::controller
