// A case's cloud as a lab of its own: a real controller, agents and Open vSwitches, VMs with the kernel's
// stack.
//
// Probes are sent by the VMs' kernels. While a hand-written frame is under way the kernels' own frames are held
// back at the VMs' interfaces (the frame itself goes past that), so that what is seen is the test's alone.
//
// The lab is removed with the object. Threads: the one that calls Start(), which it moves into the lab's fabric
// namespace for good.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/lab/agent_client.h"
#include "tests/lab/case/fence.h"
#include "tests/lab/case/vm_probe.h"
#include "tests/lab/case/world.h"
#include "tests/lab/controller_client.h"
#include "tests/lab/layout.h"
#include "tests/lab/programs.h"
#include "tests/lab/raw_socket.h"
#include "tests/lab/stream.h"
#include "vswitch/slowpath/slow_path.h"

namespace kasane::lab {

class OvsWorld final : public CaseWorld {
 public:
  // `lab` is its name, which must be free.
  OvsWorld(const Case& subject, CaseResources resources, const std::string& lab);
  ~OvsWorld() override;

  absl::Status Start() override;
  absl::Status Apply(const std::vector<v1::ApplyItem>& items) override;
  absl::Status Delete(const std::vector<model::ResourceKey>& keys) override;
  absl::Status Move(const std::string& vm, const std::string& host) override;
  absl::Status SetAddress(const AddressStep& step, const FrameBytes& announcement) override;
  absl::Status Control(const ControlStep& step) override;
  absl::Status WaitApplied() override;
  absl::StatusOr<ProbeOutcome> Probe(const ProbeStep& step, const Vm& from, const IpAddress& to,
                                     bool answer_expected) override;
  absl::StatusOr<SendOutcome> Send(const Injection& injection, size_t expected) override;
  absl::StatusOr<Drops> Storm(const Vm& from, const FrameBytes& frame, uint32_t count, uint32_t rate) override;
  absl::Status StartStream(const Vm& from, const IpAddress& to, uint32_t rate) override;
  absl::StatusOr<StreamOutcome> EndStream() override;
  absl::StatusOr<TraceOutcome> Trace(const Vm& from, const FrameBytes& frame) override;
  absl::Status CheckFlows() override;

 private:
  struct Stream;

  absl::Status OpenSockets();
  absl::Status SetMuted(bool muted);
  absl::Status ForgetNeighbours();
  absl::Status RunIn(const std::string& node, std::vector<std::string> argv, std::string input = "") const;
  absl::Status Commit(const absl::StatusOr<Transaction>& transaction);
  absl::Status ReconfigureVms(const LabPlan& before);

  // What is not as it should be yet; empty: everything is applied.
  absl::StatusOr<std::string> NotApplied();
  std::string HostLacks(const std::string& host, const ControllerProgress* controller);
  // The same command to every switch that runs, at once.
  absl::Status TellSwitches(const std::string& command);
  bool HostRuns(const std::string& host) const;  // Agent and switch.

  absl::StatusOr<Drops> ReadDrops();
  absl::Status Inject(const Injection& injection);
  absl::Status InjectOversize(const Injection& injection);
  absl::StatusOr<FrameBytes> TunnelPacket(const Injection& injection) const;
  absl::Status AwaitClaim(const Injection& injection);
  bool ClaimIsKnown(const ControllerProgress& controller) const;
  std::string LacksClaim(const std::string& host);
  absl::Status PassSlowPath(const Vm& vm, std::vector<CapturedFrame>& captured);
  absl::Status AddAgentsDrops(Drops& drops);
  absl::Status AwaitFrames(size_t expected, std::vector<CapturedFrame>& captured);
  absl::Status AwaitSilence(VmProbe& probe, ProbeOutcome& outcome, std::vector<CapturedFrame>& captured);
  std::set<std::string> WhoAnswered(const VmProbe& probe, const std::vector<CapturedFrame>& captured) const;
  absl::Status PauseOrResume(const ControlStep& step);
  absl::Status ControlAgent(const ControlStep& step);
  absl::Status ControlOvs(const ControlStep& step);
  absl::Status ControlController(const ControlStep& step);

  const Case& subject_;
  const Layout layout_;
  Programs programs_;
  std::string appctl_;
  bool built_ = false;
  std::unique_ptr<ControllerClient> controller_;
  std::map<std::string, AgentClient> agents_;
  std::map<std::string, RawSocket> sockets_;   // By VM.
  std::map<std::string, RawSocket> underlay_;  // By host: the fabric's end of its link.
  std::unique_ptr<Fences> fences_;
  std::set<std::string> agents_down_;
  std::set<std::string> switches_down_;
  bool controller_down_ = false;
  std::set<std::string> paused_;  // Names of the daemons' process files.
  bool muted_ = false;
  // Scopes as they were at the last wait, and what their shrinking demands of the host.
  std::map<std::string, std::set<model::ResourceKey>> scopes_;
  std::map<std::string, uint64_t> floor_;
  uint64_t last_revision_ = 0;
  std::optional<slowpath::Announcement> awaited_claim_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace kasane::lab
