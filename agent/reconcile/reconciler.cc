#include "agent/reconcile/reconciler.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "agent/sync/encode.h"
#include "base/log.h"
#include "base/status.h"
#include "kasane/v1/state.pb.h"
#include "view/host_view_builder.h"

namespace kasane::agent {
namespace {

bool Contains(const std::vector<vswitch::Problem>& problems, const vswitch::Problem& problem) {
  return std::find(problems.begin(), problems.end(), problem) != problems.end();
}

void LogChanges(const inspect::AgentSnapshot& before, const inspect::AgentSnapshot& after) {
  if (before.facts->ready != after.facts->ready) {
    log::Info(after.facts->ready ? "the switch is ready" : "the switch is not ready");
  }
  if (before.facts->disturbances != after.facts->disturbances) {
    log::Warning("somebody else changed the switch; it is repaired", {{"what", after.facts->last_disturbance}});
  }
  for (const vswitch::Problem& problem : after.problems) {
    if (!Contains(before.problems, problem)) {
      log::Warning("problem", {{"subject", problem.subject}, {"what", problem.message}});
    }
  }
  for (const vswitch::Problem& problem : before.problems) {
    if (!Contains(after.problems, problem)) {
      log::Info("problem is over", {{"subject", problem.subject}, {"what", problem.message}});
    }
  }
  for (const auto& [id, activity] : after.ports) {
    auto old = before.ports.find(id);
    if (old != before.ports.end() && old->second == activity) continue;
    if (activity.active) {
      log::Info("port is active", {{"port", id.str()}});
    } else {
      log::Info("port is not active", {{"port", id.str()}, {"why", activity.why_not}});
    }
  }
}

void LogVerdict(const model::Verdict& verdict) {
  for (const model::Fault& fault : verdict.faults) {
    log::Warning("resource rejected", {{"resource", ToString(verdict.key)}, {"fault", ToString(fault)}});
  }
}

}  // namespace

Reconciler::Reconciler(ReconcilerOptions options, vswitch::Forwarder& forwarder, vswitch::TunnelKeeper& tunnels,
                       SyncLink& link, StateSink* disk)
    : options_(std::move(options)), forwarder_(forwarder), tunnels_(tunnels), link_(link), disk_(disk) {
  inspect::AgentSnapshot empty;
  empty.state = std::make_shared<const model::NetworkState>();
  empty.view = std::make_shared<const vswitch::HostView>(
      view::BuildHostView(*empty.state, options_.host, options_.tunnel_addresses));
  empty.facts = forwarder_.Facts();
  snapshot_ = std::make_shared<const inspect::AgentSnapshot>(std::move(empty));
}

std::shared_ptr<const inspect::AgentSnapshot> Reconciler::Snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::optional<Reconciler::Clock::time_point> Reconciler::Step(const std::vector<Event>& events,
                                                              Clock::time_point now) {
  for (const Event& event : events) {
    std::visit([this](const auto& what) { On(what); }, event);
  }
  if (!verdicts_.empty()) link_.ReportVerdicts(stream_, std::exchange(verdicts_, {}));

  UpdateView();
  Save();
  ApplyIfDue(*forwarder_.Facts(), now);

  const std::shared_ptr<const vswitch::DatapathFacts> facts = forwarder_.Facts();
  std::map<PortId, inspect::PortActivity> ports;
  if (wanted_ != nullptr) ports = AssessPorts(*wanted_, installed_, *facts);
  if (installed_) applied_ = MakeApplied(*installed_, ports);
  Report();
  Publish(facts, std::move(ports));
  return failure_ ? std::optional(failure_->retry_at) : std::nullopt;
}

void Reconciler::On(const StreamOpened& event) {
  stream_ = event.stream;
  link_.SayHello(stream_, store_.Held());
}

void Reconciler::On(const Welcomed& event) {
  if (event.stream != stream_) return;
  if (absl::Status status = store_.Begin(event.timelines); !status.ok()) {
    foreign_store_ = true;
    link_.Refuse(stream_,
                 fmt::format("{}; forwarding goes on with what is held and updates are refused: bring the "
                             "right controller back, or run kasanectl accept on this host to take the "
                             "state of this one",
                             Message(status)));
    return;
  }
  connected_ = true;
  foreign_store_ = false;
  controller_problem_.reset();
  log::Info("controller answered", {{"address", options_.controller_address}, {"store", event.store_id}});
}

void Reconciler::On(const BatchArrived& event) {
  if (event.stream != stream_) return;
  link_.BatchHandled(stream_);
  if (!connected_) return;
  BatchResult result = store_.Apply(*event.batch);
  received_ = model::DecodeRevision(event.batch->revision());
  log::Debug("batch", {{"revision", std::to_string(received_->counter)},
                       {"upserts", std::to_string(event.batch->upserts_size())},
                       {"deletes", std::to_string(event.batch->deletes_size())}});
  for (const model::Fault& fault : result.unnamed) {
    log::Warning("the controller sent something without a name; ignored", {{"fault", ToString(fault)}});
  }
  for (model::Verdict& verdict : result.verdicts) {
    LogVerdict(verdict);
    verdicts_.push_back(std::move(verdict));
  }
}

void Reconciler::On(const SyncCompleted& event) {
  if (event.stream != stream_ || !connected_) return;
  store_.SyncComplete(event.revision);
  received_ = event.revision;
  synced_ = true;
  disk_losses_.clear();
  log::Info("in sync with the controller", {{"revision", std::to_string(event.revision.counter)}});
}

void Reconciler::On(const StreamClosed& event) {
  store_.End();
  connected_ = false;
  synced_ = false;
  reported_.reset();
  claims_.ReportAgain();
  verdicts_.clear();
  controller_problem_ = event.problem;
}

void Reconciler::On(const DatapathChanged& /*event*/) {}

void Reconciler::On(const AddressAnnounced& event) {
  if (wanted_ == nullptr || !claims_.Observe(event.announcement, *wanted_)) return;
  claims_changed_ = true;
  const slowpath::Announcement& heard = event.announcement;
  log::Info("a port speaks for an address now", {{"network", heard.network.str()},
                                                 {"address", heard.ip.ToString()},
                                                 {"mac", heard.mac.ToString()},
                                                 {"port", heard.port.str()}});
}

void Reconciler::On(const StoreAccepted& /*event*/) {
  if (!foreign_store_) return;
  foreign_store_ = false;
  store_.AcceptAnyStore();
  log::Warning("an operator accepted the state of the controller's database, whatever it is");
}

void Reconciler::Restore(const DiskContent& content) {
  disk_losses_ = content.losses;
  const std::vector<std::string> undecoded = store_.Restore(content);
  disk_losses_.insert(disk_losses_.end(), undecoded.begin(), undecoded.end());
  UpdateView();
  if (wanted_ == nullptr) return;
  std::vector<model::AddressClaim> claims;
  for (const std::string& bytes : content.claims) {
    v1::Resource resource;
    std::vector<model::Fault> faults;
    if (!resource.mutable_address_claim()->ParseFromString(bytes)) continue;
    const std::optional<model::AnyResource> claim = model::Decode(resource, "claim", faults);
    if (claim) claims.push_back(*std::get<std::shared_ptr<const model::AddressClaim>>(*claim));
  }
  claims_.Restore(std::move(claims), *wanted_);
  claims_changed_ = true;
  log::Info("forwards what the disk held until the controller answers",
            {{"resources", std::to_string(content.resources.size())},
             {"claims", std::to_string(content.claims.size())},
             {"revision", std::to_string(store_.revision().counter)}});
}

void Reconciler::Save() {
  if (disk_ == nullptr) return;
  DiskChanges changes = store_.TakeUnsaved();
  for (const auto& [id, claim] : claims_.TakeUnsaved()) {
    changes.claims[id] = claim ? std::optional(EncodeClaim(*claim).SerializeAsString()) : std::nullopt;
  }
  if (!changes.empty()) disk_->Write(std::move(changes));
}

void Reconciler::UpdateView() {
  std::shared_ptr<const model::NetworkState> stored = store_.Snapshot();
  if (stored == nullptr || (stored == stored_ && !claims_changed_)) return;
  if (stored != stored_) claims_.Reconcile(stored_.get(), *stored);
  stored_ = std::move(stored);
  claims_changed_ = false;
  state_ = claims_.Overlay(stored_);
  wanted_ = std::make_shared<const vswitch::HostView>(
      view::BuildHostView(*state_, options_.host, options_.tunnel_addresses));
  std::vector<IpAddress> tunnels = WantedTunnels(*wanted_);
  if (tunnels == wanted_tunnels_) return;
  wanted_tunnels_ = std::move(tunnels);
  tunnels_.WantTunnels(wanted_tunnels_);
}

void Reconciler::ApplyIfDue(const vswitch::DatapathFacts& facts, Clock::time_point now) {
  if (wanted_ == nullptr) return;
  if (!facts.ready) {
    failure_.reset();  // Try at once when it is.
    return;
  }
  if (!NeedsApply(*wanted_, installed_, facts)) {
    failure_.reset();
    failures_ = 0;
    installed_->view = wanted_;
    installed_->revision = store_.revision();
    return;
  }
  const bool waiting = failure_ && failure_->session == facts.session && now < failure_->retry_at;
  if (!waiting) Apply(facts, now);
}

void Reconciler::Apply(const vswitch::DatapathFacts& facts, Clock::time_point now) {
  const Clock::time_point begin = Clock::now();
  absl::StatusOr<vswitch::ApplyResult> result = forwarder_.Apply(*wanted_);
  if (!result.ok()) {
    OnApplyFailed(result.status(), facts, now);
    return;
  }
  failure_.reset();
  failures_ = 0;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  log::Info("applied", {{"revision", std::to_string(store_.revision().counter)},
                        {"added", std::to_string(result->added)},
                        {"modified", std::to_string(result->modified)},
                        {"deleted", std::to_string(result->deleted)},
                        {"installed", std::to_string(result->installed)},
                        {"refused_owners", std::to_string(result->failed_owners.size())},
                        {"us", std::to_string(took.count())}});
  installed_ =
      Installed{wanted_,           store_.revision(), facts.session, facts.generation, facts.disturbances,
                facts.attachments, *std::move(result)};
}

void Reconciler::OnApplyFailed(const absl::Status& status, const vswitch::DatapathFacts& facts,
                               Clock::time_point now) {
  const std::chrono::milliseconds wait = Backoff::Ceiling(options_.apply_backoff, failures_++);
  failure_ =
      Failure{{forwarder_.Name(), fmt::format("the switch did not take the present state: {}; what it took "
                                              "before goes on forwarding, trying again",
                                              Message(status))},
              facts.session,
              now + wait};
}

void Reconciler::Report() {
  if (!synced_) return;
  if (std::vector<model::AddressClaim> observed = claims_.TakeUnreported(); !observed.empty()) {
    link_.ReportObserved(stream_, std::move(observed));
  }
  if (!applied_ || applied_ == reported_) return;
  link_.ReportApplied(stream_, *applied_);
  reported_ = applied_;
}

std::vector<vswitch::Problem> Reconciler::Problems(const vswitch::DatapathFacts& facts) const {
  std::vector<vswitch::Problem> problems;
  if (controller_problem_) problems.push_back(*controller_problem_);
  if (failure_) problems.push_back(failure_->problem);
  for (const std::string& loss : disk_losses_) problems.push_back({"state on the disk", loss});
  if (disk_ != nullptr) {
    if (std::string what = disk_->Problem(); !what.empty())
      problems.push_back({"state on the disk", std::move(what)});
  }
  std::vector<vswitch::Problem> others = DatapathProblems(wanted_.get(), installed_, facts);
  problems.insert(problems.end(), others.begin(), others.end());
  return problems;
}

void Reconciler::Publish(std::shared_ptr<const vswitch::DatapathFacts> facts,
                         std::map<PortId, inspect::PortActivity> ports) {
  const std::shared_ptr<const inspect::AgentSnapshot> before = Snapshot();
  inspect::AgentSnapshot next;
  next.controller_connected = connected_;
  next.synced = synced_;
  next.foreign_store = foreign_store_;
  next.received = received_;
  next.state = state_ != nullptr ? state_ : before->state;
  next.view = wanted_ != nullptr ? wanted_ : before->view;
  if (installed_) {
    next.applied = installed_->revision;
    next.flows = installed_->result.installed;
  }
  next.problems = Problems(*facts);
  next.facts = std::move(facts);
  next.ports = std::move(ports);
  for (const auto& entry : store_.rejected()) next.rejected.push_back(entry.second);
  LogChanges(*before, next);

  const std::lock_guard lock(mutex_);
  snapshot_ = std::make_shared<const inspect::AgentSnapshot>(std::move(next));
}

void RunReconciler(Reconciler& reconciler, EventQueue& queue) {
  std::optional<Reconciler::Clock::time_point> until = reconciler.Step({}, Reconciler::Clock::now());
  while (const std::optional<std::vector<Event>> events = queue.TakeAll(until)) {
    until = reconciler.Step(*events, Reconciler::Clock::now());
  }
}

}  // namespace kasane::agent
