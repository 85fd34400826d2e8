#include "tests/lab/case/ovs_world.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "base/status.h"
#include "tests/lab/case/frame_text.h"
#include "tests/lab/case/quiet.h"
#include "tests/lab/case/slow_question.h"
#include "tests/lab/down.h"
#include "tests/lab/hypervisor.h"
#include "tests/lab/links.h"
#include "tests/lab/mute.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"
#include "tests/lab/up.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/hex.h"
#include "vswitch/sim/sim.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kControllerDeadline{20};
constexpr std::chrono::seconds kAnswerPatience{5};
constexpr std::chrono::seconds kFramePatience{3};
constexpr int kMaxRounds = 50;
constexpr size_t kEthernetBytes = 14;
constexpr int kEndPatienceMs = 5000;
constexpr uint32_t kStormBatch = 100;

Drops Since(const Drops& before, Drops now) {
  for (auto& [at, count] : now) {
    if (const auto then = before.find(at); then != before.end()) count -= std::min(count, then->second);
  }
  std::erase_if(now, [](const auto& entry) { return entry.second == 0; });
  return now;
}

// False: it does not run.
bool Signal(const Layout& layout, const std::string& daemon, int signal) {
  const pid_t pid = RecordedProcess(fmt::format("{}/{}", layout.ProcessDir(), daemon));
  return pid != 0 && kill(pid, signal) == 0;
}

int MillisecondsUntil(Clock::time_point end) {
  return static_cast<int>(
      std::max<int64_t>(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count(), 0));
}

}  // namespace

// The stream's thread lives in the VM's namespace.
struct OvsWorld::Stream {
  int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::promise<void> streaming;
  std::optional<absl::StatusOr<StreamResult>> result;  // Once the thread has ended.
  std::thread thread;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    End();
    close(stop);
  }
  void End() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop, &one, sizeof one);
    if (thread.joinable()) thread.join();
  }
};

OvsWorld::OvsWorld(const Case& subject, CaseResources resources, const std::string& lab)
    : CaseWorld(std::move(resources)), subject_(subject), layout_(lab) {}

OvsWorld::~OvsWorld() {
  stream_.reset();
  fences_.reset();
  // What is paused would not end.
  for (const std::string& daemon : paused_) Signal(layout_, daemon, SIGCONT);
  if (built_) TearDown(layout_);
}

absl::Status OvsWorld::RunIn(const std::string& node, std::vector<std::string> argv, std::string input) const {
  Command command;
  command.argv = std::move(argv);
  command.netns = layout_.Namespace(node);
  command.environment = HypervisorEnvironment(layout_, node);
  command.input = std::move(input);
  return Run(command).status();
}

absl::Status OvsWorld::Start() {
  ASSIGN_OR_RETURN(programs_, FindPrograms());
  ASSIGN_OR_RETURN(appctl_, FindProgram("ovs-appctl"));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(subject_.topology_file));
  built_ = true;
  ASSIGN_OR_RETURN(controller_,
                   Build(layout_, resources_.plan(), subject_.topology, text, programs_, Responders::kThreads));
  for (const Hypervisor& host : resources_.plan().hosts) {
    agents_.try_emplace(host.node, layout_, host.node);
  }
  RETURN_IF_ERROR(OpenSockets());
  fences_ = std::make_unique<Fences>(layout_, resources_, sockets_);
  fences_->forwards = [this](const std::string& host) { return switches_down_.count(host) == 0; };
  RETURN_IF_ERROR(fences_->Open());
  return WaitApplied();
}

absl::Status OvsWorld::OpenSockets() {
  for (const Vm& vm : resources_.plan().vms) {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(vm.node)));
    ASSIGN_OR_RETURN(RawSocket socket, RawSocket::Open("eth0"));
    sockets_.emplace(vm.node, std::move(socket));
  }
  for (size_t i = 0; i < resources_.plan().hosts.size(); ++i) {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(kFabricNode)));
    ASSIGN_OR_RETURN(RawSocket socket, RawSocket::Open(UnderlayEnd(i)));
    underlay_.emplace(resources_.plan().hosts[i].node, std::move(socket));
  }
  return absl::OkStatus();
}

absl::Status OvsWorld::SetMuted(bool muted) {
  if (muted == muted_) return absl::OkStatus();
  for (const Vm& vm : resources_.plan().vms) {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(vm.node)));
    RETURN_IF_ERROR(lab::SetMuted("eth0", muted));
  }
  muted_ = muted;
  return absl::OkStatus();
}

absl::Status OvsWorld::ForgetNeighbours() {
  for (const Vm& vm : resources_.plan().vms)
    RETURN_IF_ERROR(RunIn(vm.node, {programs_.ip, "neigh", "flush", "all"}));
  return absl::OkStatus();
}

absl::Status OvsWorld::Commit(const absl::StatusOr<Transaction>& transaction) {
  if (!transaction.ok()) return transaction.status();
  std::string faults;
  for (const model::Fault& fault : transaction->faults)
    faults += (faults.empty() ? "" : "; ") + ToString(fault);
  if (!faults.empty()) return Invalid("the controller refuses: {}", faults);
  last_revision_ = transaction->revision;
  return absl::OkStatus();
}

// VMs whose addresses or MAC are others now take them, as a guest does by DHCP.
absl::Status OvsWorld::ReconfigureVms(const LabPlan& before) {
  for (const Vm& vm : resources_.plan().vms) {
    const Vm* old = FindVm(before, vm.node);
    if (old == nullptr || (old->addresses == vm.addresses && old->mac == vm.mac && old->routes == vm.routes &&
                           old->behind == vm.behind && old->mtu == vm.mtu)) {
      continue;
    }
    RETURN_IF_ERROR(RunIn(vm.node, {programs_.ip, "-batch", "-"}, ChangeVmBatch(*old, vm)));
  }
  return ForgetNeighbours();
}

absl::Status OvsWorld::Apply(const std::vector<v1::ApplyItem>& items) {
  RETURN_IF_ERROR(Commit(controller_->Apply(items, kControllerDeadline)));
  const LabPlan before = resources_.plan();
  RETURN_IF_ERROR(resources_.Apply(items));
  RETURN_IF_ERROR(ReconfigureVms(before));
  return WaitApplied();
}

absl::Status OvsWorld::Delete(const std::vector<model::ResourceKey>& keys) {
  RETURN_IF_ERROR(Commit(controller_->Delete(keys, kControllerDeadline)));
  resources_.Delete(keys);
  RETURN_IF_ERROR(ForgetNeighbours());
  return WaitApplied();
}

absl::Status OvsWorld::Move(const std::string& name, const std::string& host) {
  ASSIGN_OR_RETURN(const auto items, resources_.MoveItems(name, host));
  ASSIGN_OR_RETURN(const Vm* const vm, resources_.Find(name));
  const std::string from = resources_.plan().hosts[vm->host].node;
  RETURN_IF_ERROR(RunIn(from, {programs_.ovs_vsctl, "--timeout=20", "del-port", "br-int", vm->interface}));
  RETURN_IF_ERROR(RunIn(from, {programs_.ip, "link", "set", vm->interface, "netns", layout_.Namespace(host)}));
  RETURN_IF_ERROR(RunIn(host, {programs_.ip, "link", "set", vm->interface, "up"}));
  std::vector<std::string> plug = {programs_.ovs_vsctl, "--timeout=20"};
  for (std::string& argument : PlugVmArguments(*vm)) plug.push_back(std::move(argument));
  RETURN_IF_ERROR(RunIn(host, std::move(plug)));
  return Apply(items);
}

absl::Status OvsWorld::SetAddress(const AddressStep& step, const FrameBytes& announcement) {
  RETURN_IF_ERROR(RunIn(step.vm, {programs_.ip, "addr", step.add ? "add" : "del",
                                  IpPrefix::Host(step.address).ToString(), "dev", "eth0"}));
  if (!step.add || !step.announce) return absl::OkStatus();
  Injection injection;
  injection.vm = step.vm;
  injection.frame = announcement;
  RETURN_IF_ERROR(Inject(injection));
  return AwaitClaim(injection);
}

// ---- frames

absl::StatusOr<Drops> OvsWorld::ReadDrops() {
  // The counters of cached flows reach the flow tables when these are thrown out, at once.
  RETURN_IF_ERROR(TellSwitches("revalidator/purge"));
  Drops drops;
  for (auto& [host, agent] : agents_) {
    if (!HostRuns(host)) continue;
    ASSIGN_OR_RETURN(const auto counts, agent.Drops());
    for (const auto& [reason, count] : counts) drops[{host, reason}] = count;
  }
  return drops;
}

// The outer MAC is that of the host whose address it claims: Open vSwitch takes a tunnel packet's MAC for its
// sender's.
absl::StatusOr<FrameBytes> OvsWorld::TunnelPacket(const Injection& injection) const {
  MacAddress source({0x02, 0x6b, 0x6c, 0xff, 0xff, 0xff});
  const Hypervisor* target = nullptr;
  for (const Hypervisor& host : resources_.plan().hosts) {
    if (host.node == injection.host) target = &host;
    if (host.vtep.address() == injection.outer_source) source = host.vtep_mac;
  }
  return FrameFromText(
      fmt::format("vxlan(vni={}, flags={:#x}, eth_src={}, eth_dst={}, src={}, dst={}, sport=50000, payload={})",
                  injection.vni, injection.flags, source, target->vtep_mac, injection.outer_source,
                  target->vtep.address(), packet::HexText(injection.frame)));
}

// What a guest with a wrong MTU sends.
absl::Status OvsWorld::InjectOversize(const Injection& injection) {
  const Vm& vm = *FindVm(resources_.plan(), injection.vm);
  ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(vm.node)));
  RETURN_IF_ERROR(SetMtu("eth0", kVmLinkMtu));
  for (uint32_t i = 0; i < injection.count; ++i) RETURN_IF_ERROR(sockets_.at(vm.node).Send(injection.frame));
  return SetMtu("eth0", vm.mtu);
}

absl::Status OvsWorld::Inject(const Injection& injection) {
  FrameBytes packet = injection.frame;
  if (injection.vm.empty()) {
    ASSIGN_OR_RETURN(packet, TunnelPacket(injection));
  }
  if (!injection.vm.empty() && packet.size() > FindVm(resources_.plan(), injection.vm)->mtu + kEthernetBytes) {
    return InjectOversize(injection);
  }
  const RawSocket& socket = injection.vm.empty() ? underlay_.at(injection.host) : sockets_.at(injection.vm);
  for (uint32_t i = 0; i < injection.count; ++i) RETURN_IF_ERROR(socket.Send(packet));
  return absl::OkStatus();
}

absl::Status OvsWorld::AwaitFrames(size_t expected, std::vector<CapturedFrame>& captured) {
  const auto end = Clock::now() + kFramePatience;
  while (CountReceived(captured) < expected && Clock::now() < end) {
    fences_->Wait(MillisecondsUntil(end));
    RETURN_IF_ERROR(fences_->Drain(captured));
  }
  return absl::OkStatus();
}

// What the frame had the agent do is done when the agent has answered a question that the VM asks behind it: it
// takes a port's frames in their order. Nothing to ask, or nobody who answers: only what is expected is waited
// for.
absl::Status OvsWorld::PassSlowPath(const Vm& vm, std::vector<CapturedFrame>& captured) {
  const std::optional<SlowQuestion> question = QuestionFor(resources_, vm);
  if (!question || !HostRuns(resources_.plan().hosts[vm.host].node)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const FrameBytes frame, FrameFromText(question->frame));
  RETURN_IF_ERROR(sockets_.at(vm.node).Send(frame));
  const auto end = Clock::now() + kFramePatience;
  std::vector<CapturedFrame> news;
  while (true) {
    ASSIGN_OR_RETURN(const bool answered, TakeAnswer(*question, vm, news));
    if (answered) break;
    if (Clock::now() >= end) {
      return Error(absl::StatusCode::kDeadlineExceeded,
                   "the agent of {} does not answer \"{}\" behind the frame",
                   resources_.plan().hosts[vm.host].node, question->frame);
    }
    fences_->Wait(MillisecondsUntil(end));
    RETURN_IF_ERROR(fences_->Drain(news));
  }
  captured.insert(captured.end(), std::make_move_iterator(news.begin()), std::make_move_iterator(news.end()));
  return fences_->Round(captured);
}

// A frame that moves an address is applied when the claim on it is known and every host follows it.
absl::Status OvsWorld::AwaitClaim(const Injection& injection) {
  if (injection.vm.empty()) return absl::OkStatus();
  const Vm& vm = *FindVm(resources_.plan(), injection.vm);
  const Hypervisor& host = resources_.plan().hosts[vm.host];
  if (!HostRuns(host.node)) return absl::OkStatus();
  const vswitch::HostView view =
      view::BuildHostView(resources_.StateWithHosts(), HostId(host.node), OwnAddresses(host));
  const std::vector<slowpath::Announcement> announced =
      sim::FromPort(view, vm.port, injection.frame).announcements;
  if (announced.empty()) return absl::OkStatus();
  awaited_claim_ = announced.front();
  absl::Status status = WaitApplied();
  awaited_claim_.reset();
  return status;
}

// What the agents have dropped by now; a question behind a frame is no part of it.
absl::Status OvsWorld::AddAgentsDrops(Drops& drops) {
  ASSIGN_OR_RETURN(const Drops now, ReadDrops());
  for (const auto& [at, count] : now) {
    if (at.second != Label(vswitch::DropReason::kTtlExceeded)) drops[at] = count;
  }
  return absl::OkStatus();
}

absl::StatusOr<SendOutcome> OvsWorld::Send(const Injection& injection, size_t expected) {
  if (stream_ != nullptr) return Invalid("a stream runs, whose packets would be seen; end_stream it first");
  if (!muted_) {
    RETURN_IF_ERROR(SetMuted(true));
    std::vector<CapturedFrame> before;
    RETURN_IF_ERROR(fences_->Round(before));
  }
  ASSIGN_OR_RETURN(const Drops before, ReadDrops());
  std::vector<CapturedFrame> captured;
  RETURN_IF_ERROR(fences_->Drain(captured));
  captured.clear();
  RETURN_IF_ERROR(Inject(injection));
  RETURN_IF_ERROR(AwaitFrames(expected, captured));
  RETURN_IF_ERROR(fences_->Round(captured));
  SendOutcome outcome;
  ASSIGN_OR_RETURN(outcome.drops, ReadDrops());
  if (!injection.vm.empty()) {
    RETURN_IF_ERROR(PassSlowPath(*FindVm(resources_.plan(), injection.vm), captured));
    RETURN_IF_ERROR(AddAgentsDrops(outcome.drops));
  }
  RETURN_IF_ERROR(AwaitClaim(injection));
  for (CapturedFrame& frame : captured) {
    if (IsReceived(frame)) outcome.seen.push_back({frame.vm, std::move(frame.frame.bytes)});
  }
  outcome.drops = Since(before, std::move(outcome.drops));
  return outcome;
}

absl::StatusOr<Drops> OvsWorld::Storm(const Vm& from, const FrameBytes& frame, uint32_t count, uint32_t rate) {
  ASSIGN_OR_RETURN(const Drops before, ReadDrops());
  const RawSocket& socket = sockets_.at(from.node);
  const auto begin = Clock::now();
  std::vector<CapturedFrame> captured;
  for (uint32_t sent = 0; sent < count; ++sent) {
    std::this_thread::sleep_until(begin + std::chrono::duration<double>(static_cast<double>(sent) / rate));
    RETURN_IF_ERROR(socket.Send(frame));
    // What comes of it would fill the sockets.
    if (sent % kStormBatch == 0) RETURN_IF_ERROR(fences_->Drain(captured));
  }
  RETURN_IF_ERROR(fences_->Round(captured));
  ASSIGN_OR_RETURN(Drops after, ReadDrops());
  return Since(before, std::move(after));
}

// ---- probes

// Fence rounds until one in which nobody says anything: then no answer is under way.
absl::Status OvsWorld::AwaitSilence(VmProbe& probe, ProbeOutcome& outcome,
                                    std::vector<CapturedFrame>& captured) {
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<CapturedFrame> news;
    RETURN_IF_ERROR(fences_->Round(news));
    probe.Receive(outcome);
    const bool quiet = std::all_of(news.begin(), news.end(), [&](const CapturedFrame& frame) {
      return IsBackground(frame) || (stream_ != nullptr && IsStreamPacket(frame, probe.token()));
    });
    captured.insert(captured.end(), std::make_move_iterator(news.begin()), std::make_move_iterator(news.end()));
    if (quiet) return absl::OkStatus();
  }
  return Error(absl::StatusCode::kDeadlineExceeded, "the VMs do not fall silent, so that nothing is proved");
}

std::set<std::string> OvsWorld::WhoAnswered(const VmProbe& probe,
                                            const std::vector<CapturedFrame>& captured) const {
  std::set<std::string> answered;
  std::set<std::string> received;
  for (const CapturedFrame& frame : captured) {
    if (!IsEchoReplyWith(frame.frame.bytes, probe.token())) continue;
    (frame.frame.outgoing ? answered : received).insert(frame.vm);
  }
  for (const std::string& forwarder : received) answered.erase(forwarder);
  if (answered.empty()) answered.insert("router");
  return answered;
}

absl::StatusOr<ProbeOutcome> OvsWorld::Probe(const ProbeStep& step, const Vm& from, const IpAddress& to,
                                             bool answer_expected) {
  RETURN_IF_ERROR(SetMuted(false));
  ASSIGN_OR_RETURN(const auto probe, VmProbe::Open(layout_.Namespace(from.node), step, to));
  ProbeOutcome outcome;
  std::vector<CapturedFrame> captured;
  RETURN_IF_ERROR(fences_->Drain(captured));
  captured.clear();
  RETURN_IF_ERROR(probe->Send());
  const auto end = Clock::now() + kAnswerPatience;
  while (answer_expected && !probe->answered() && outcome.errors.empty() && Clock::now() < end) {
    fences_->Wait(MillisecondsUntil(end), probe->fds());
    RETURN_IF_ERROR(fences_->Drain(captured));
    probe->Receive(outcome);
  }
  // Another VM might answer as well: silence is awaited even so, but for a probe that was answered as expected
  // over a connection, where it cannot.
  if (step.kind != ProbeKind::kTcp || !probe->answered())
    RETURN_IF_ERROR(AwaitSilence(*probe, outcome, captured));
  if (step.kind == ProbeKind::kPing && probe->answered()) outcome.answered_by = WhoAnswered(*probe, captured);
  return outcome;
}

// ---- streams

absl::Status OvsWorld::StartStream(const Vm& from, const IpAddress& to, uint32_t rate) {
  RETURN_IF_ERROR(SetMuted(false));
  stream_ = std::make_unique<Stream>();
  StreamOptions options{layout_.name(), from.node, to, rate};
  auto streaming = stream_->streaming.get_future();
  stream_->thread = std::thread([stream = stream_.get(), options] {
    bool started = false;
    auto result = RunStreamUntil(options, stream->stop, [&] {
      started = true;
      stream->streaming.set_value();
    });
    stream->result = std::move(result);
    if (!started) stream->streaming.set_value();
  });
  streaming.wait();
  if (stream_->result && !stream_->result->ok()) return stream_->result->status();
  return absl::OkStatus();
}

absl::StatusOr<StreamOutcome> OvsWorld::EndStream() {
  stream_->End();
  const auto result = *std::exchange(stream_, nullptr)->result;
  if (!result.ok()) return result.status();
  return StreamOutcome{result->sent, result->sent - result->answered};
}

// ---- trace and flows

absl::StatusOr<TraceOutcome> OvsWorld::Trace(const Vm& from, const FrameBytes& frame) {
  const std::string& host = resources_.plan().hosts[from.host].node;
  ASSIGN_OR_RETURN(const auto verdicts, agents_.at(host).Trace(from.port, frame));
  const auto name = [this](const PortId& port) {
    const Vm* vm = resources_.VmOfPort(port);
    return fmt::format("delivered {}", vm != nullptr ? vm->node : port.str());
  };
  TraceOutcome outcome;
  for (const AgentVerdict& verdict : verdicts) {
    if (!verdict.port.empty()) outcome.verdicts.insert(name(verdict.port));
    if (!verdict.drop_reason.empty()) outcome.verdicts.insert(fmt::format("dropped {}", verdict.drop_reason));
    if (verdict.remote_host.empty()) continue;
    // The other host's part is the reference's.
    const vswitch::HostView view = view::BuildHostView(resources_.StateWithHosts(), verdict.remote_host, {});
    const auto& hosts = resources_.plan().hosts;
    const sim::Result result =
        sim::FromTunnel(view, hosts[from.host].vtep.address(), verdict.vni, verdict.frame);
    for (const sim::Delivery& delivery : result.deliveries) outcome.verdicts.insert(name(*delivery.port));
    if (result.drop) outcome.verdicts.insert(fmt::format("dropped {}", Label(*result.drop)));
  }
  return outcome;
}

absl::Status OvsWorld::CheckFlows() {
  std::string differences;
  for (auto& [host, agent] : agents_) {
    if (!HostRuns(host)) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> lines, agent.FlowDifferences());
    for (const std::string& line : lines) differences += (differences.empty() ? "" : "\n") + line;
  }
  if (differences.empty()) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "the switch differs from a recompute from scratch:\n{}",
               differences);
}

// ---- daemons

absl::Status OvsWorld::Control(const ControlStep& step) {
  if (step.action == ControlAction::kPause || step.action == ControlAction::kResume) return PauseOrResume(step);
  if (step.target == ControlTarget::kAgent) return ControlAgent(step);
  if (step.target == ControlTarget::kOvs) return ControlOvs(step);
  return ControlController(step);
}

namespace {

void End(const Layout& layout, const std::string& daemon, bool kill_it) {
  const pid_t pid = RecordedProcess(fmt::format("{}/{}", layout.ProcessDir(), daemon));
  if (pid == 0) return;
  if (kill_it) kill(pid, SIGKILL);
  EndProcesses({pid}, kEndPatienceMs);
}

}  // namespace

absl::Status OvsWorld::PauseOrResume(const ControlStep& step) {
  const bool pause = step.action == ControlAction::kPause;
  std::string daemon = "controller";
  if (step.target == ControlTarget::kAgent) daemon = step.host + "-kasaned";
  if (step.target == ControlTarget::kOvs) daemon = step.host + "-ovs-vswitchd";
  if (pause == (paused_.count(daemon) != 0)) {
    return Invalid("{} is {}", daemon, pause ? "paused already" : "not paused");
  }
  if (!Signal(layout_, daemon, pause ? SIGSTOP : SIGCONT)) return Invalid("{} does not run", daemon);
  if (step.target == ControlTarget::kController) controller_down_ = pause;
  if (pause) {
    paused_.insert(daemon);
    if (step.target == ControlTarget::kAgent) agents_down_.insert(step.host);
    if (step.target == ControlTarget::kOvs) switches_down_.insert(step.host);
    return absl::OkStatus();
  }
  paused_.erase(daemon);
  if (step.target == ControlTarget::kAgent) agents_down_.erase(step.host);
  if (step.target == ControlTarget::kOvs) switches_down_.erase(step.host);
  return WaitApplied();
}

absl::Status OvsWorld::ControlAgent(const ControlStep& step) {
  if (step.action != ControlAction::kStart) {
    End(layout_, step.host + "-kasaned", step.action == ControlAction::kKill);
    agents_down_.insert(step.host);
  }
  if (step.action != ControlAction::kStart && step.action != ControlAction::kRestart) return absl::OkStatus();
  RETURN_IF_ERROR(StartAgent(layout_, step.host, programs_.agent));
  agents_down_.erase(step.host);
  return WaitApplied();
}

absl::Status OvsWorld::ControlOvs(const ControlStep& step) {
  if (step.action != ControlAction::kStart) {
    End(layout_, step.host + "-ovs-vswitchd", step.action == ControlAction::kKill);
    switches_down_.insert(step.host);
  }
  if (step.action != ControlAction::kStart && step.action != ControlAction::kRestart) return absl::OkStatus();
  RETURN_IF_ERROR(StartVswitchd(layout_, step.host, programs_));
  switches_down_.erase(step.host);
  return WaitApplied();
}

absl::Status OvsWorld::ControlController(const ControlStep& step) {
  if (step.action != ControlAction::kStart) {
    End(layout_, "controller", step.action == ControlAction::kKill);
    controller_down_ = true;
  }
  if (step.action != ControlAction::kStart && step.action != ControlAction::kRestart) return absl::OkStatus();
  RETURN_IF_ERROR(StartController(layout_, programs_));
  controller_down_ = false;
  return WaitApplied();
}

}  // namespace kasane::lab
