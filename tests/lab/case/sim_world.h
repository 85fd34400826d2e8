// A case's cloud in sim, with VMs that have a stack of their own (sim_vm.h). Nothing starts, nothing waits:
// kills and restarts of daemons have no effect.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/lab/case/sim_vm.h"
#include "tests/lab/case/world.h"
#include "vswitch/sim/cloud.h"

namespace kasane::lab {

class SimWorld final : public CaseWorld {
 public:
  using CaseWorld::CaseWorld;

  absl::Status Start() override;
  absl::Status Apply(const std::vector<v1::ApplyItem>& items) override;
  absl::Status Delete(const std::vector<model::ResourceKey>& keys) override;
  absl::Status Move(const std::string& vm, const std::string& host) override;
  absl::Status SetAddress(const AddressStep& step, const FrameBytes& announcement) override;
  absl::Status Control(const ControlStep& step) override;
  absl::Status WaitApplied() override { return absl::OkStatus(); }
  absl::StatusOr<ProbeOutcome> Probe(const ProbeStep& step, const Vm& from, const IpAddress& to,
                                     bool answer_expected) override;
  absl::StatusOr<SendOutcome> Send(const Injection& injection, size_t expected) override;
  // An error: sim judges each packet by itself and knows no rates.
  absl::StatusOr<Drops> Storm(const Vm& from, const FrameBytes& frame, uint32_t count, uint32_t rate) override;
  // A stream is one probe at its beginning and one at its end.
  absl::Status StartStream(const Vm& from, const IpAddress& to, uint32_t rate) override;
  absl::StatusOr<StreamOutcome> EndStream() override;
  absl::StatusOr<TraceOutcome> Trace(const Vm& from, const FrameBytes& frame) override;
  absl::Status CheckFlows() override { return absl::OkStatus(); }

 private:
  // A frame that waits until somebody has the address that a router asked for.
  struct Waiting {
    Vm vm;
    FrameBytes frame;
    vswitch::ClaimKey address;
  };

  // Frames that VMs put on the wire, until none of them has anything to say.
  absl::Status Settle();
  sim::CloudResult Follow(const Vm& vm, const FrameBytes& frame, const sim::Unanswered& unanswered = {}) const;
  // The same, and what the frame teaches is in force afterwards.
  sim::CloudResult Enter(const Vm& vm, const FrameBytes& frame);
  void Remember(const sim::CloudResult& result);
  void Deliver(const sim::CloudResult& result);
  bool SendWhatWaited(bool give_up);
  absl::StatusOr<bool> StreamProbe();
  absl::StatusOr<SimVm*> Stack(const std::string& vm);
  void Rebuild();

  std::set<HostId> held_;  // Their agents are paused: they forward by the view that they had.
  std::optional<sim::Cloud> cloud_;
  std::map<AddressClaimId, model::AddressClaim> claims_;  // As the agents tell the controller.
  model::NetworkState state_;                             // By which they were last looked through.
  std::vector<Waiting> waiting_;
  std::map<std::string, SimVm> vms_;
  std::string stream_from_;
  IpAddress stream_to_;
  uint64_t stream_sent_ = 0;
  uint64_t stream_lost_ = 0;
};

}  // namespace kasane::lab
