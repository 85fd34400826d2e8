#include "tests/lab/case/sim_world.h"

#include <fmt/format.h>

#include <utility>

#include "base/status.h"
#include "model/claim_end.h"
#include "tests/lab/responder.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/packet.h"

namespace kasane::lab {
namespace {

constexpr uint16_t kAskingPort = 40000;
// VMs that answer each other without end are a fault of the case, or of sim.
constexpr int kMaxFrames = 100000;

std::vector<uint8_t> Question(const ProbeStep& step, bool v4) {
  if (step.kind == ProbeKind::kPing) {
    std::vector<uint8_t> echo = {static_cast<uint8_t>(v4 ? 8 : 128), 0, 0, 0, 0x4b, 0x53, 0, 1};
    echo.resize(echo.size() + step.size, 0x61);
    return echo;
  }
  std::vector<uint8_t> out = {kAskingPort >> 8, kAskingPort & 0xff, 0, kProbePort};
  if (step.kind == ProbeKind::kTcp) {
    out.insert(out.end(), {0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x02, 0x20, 0, 0, 0, 0, 0});
    return out;
  }
  const uint32_t length = 8 + step.size;
  out.insert(out.end(), {static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length), 0, 0});
  out.resize(length, 0x62);
  return out;
}

uint8_t ProtocolOf(ProbeKind kind, bool v4) {
  if (kind == ProbeKind::kPing) return v4 ? packet::kProtoIcmp : packet::kProtoIcmpv6;
  return kind == ProbeKind::kUdp ? packet::kProtoUdp : packet::kProtoTcp;
}

}  // namespace

absl::Status SimWorld::Start() {
  Rebuild();
  return absl::OkStatus();
}

void SimWorld::Rebuild() {
  model::NetworkState state = resources_.StateWithHosts();
  // A claim goes with its port, and ends when another port gets the address as its own, as in the controller.
  std::erase_if(claims_, [&](const auto& entry) {
    return !state.ports.contains(entry.second.port) || model::EndsClaim(entry.second, state_, state);
  });
  state_ = state;
  for (const auto& [id, claim] : claims_) {
    state.address_claims.emplace(id, std::make_shared<model::AddressClaim>(claim));
  }
  std::map<HostId, vswitch::HostView> views;
  for (const Hypervisor& host : resources_.plan().hosts) {
    if (held_.contains(HostId(host.node))) {
      views.emplace(HostId(host.node), cloud_->views().at(HostId(host.node)));
      continue;
    }
    views.emplace(HostId(host.node), view::BuildHostView(state, HostId(host.node), OwnAddresses(host)));
  }
  cloud_.emplace(std::move(views), cloud_ ? cloud_->memory() : sim::Cloud::Memory());
  for (const Vm& vm : resources_.plan().vms) {
    auto [stack, is_new] = vms_.try_emplace(vm.node, vm);
    stack->second.Reconfigure(vm);
  }
}

absl::Status SimWorld::Apply(const std::vector<v1::ApplyItem>& items) {
  RETURN_IF_ERROR(resources_.Apply(items));
  Rebuild();
  return absl::OkStatus();
}

absl::Status SimWorld::Delete(const std::vector<model::ResourceKey>& keys) {
  resources_.Delete(keys);
  Rebuild();
  return absl::OkStatus();
}

absl::Status SimWorld::Move(const std::string& vm, const std::string& host) {
  ASSIGN_OR_RETURN(const auto items, resources_.MoveItems(vm, host));
  return Apply(items);
}

absl::Status SimWorld::SetAddress(const AddressStep& step, const FrameBytes& announcement) {
  ASSIGN_OR_RETURN(SimVm* const vm, Stack(step.vm));
  vm->SetAddress(step.address, step.add);
  if (step.add && step.announce) Enter(vm->vm(), announcement);
  return absl::OkStatus();
}

absl::Status SimWorld::Control(const ControlStep& step) {
  if (step.target != ControlTarget::kAgent) return absl::OkStatus();
  if (step.action == ControlAction::kPause) held_.insert(HostId(step.host));
  if (step.action == ControlAction::kResume && held_.erase(HostId(step.host)) != 0) Rebuild();
  return absl::OkStatus();
}

absl::StatusOr<SimVm*> SimWorld::Stack(const std::string& vm) {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return Invalid("there is no VM \"{}\"", vm);
  return &found->second;
}

sim::CloudResult SimWorld::Follow(const Vm& vm, const FrameBytes& frame,
                                  const sim::Unanswered& unanswered) const {
  return cloud_->FromPort(HostId(resources_.plan().hosts[vm.host].node), vm.port, frame, unanswered);
}

sim::CloudResult SimWorld::Enter(const Vm& vm, const FrameBytes& frame) {
  sim::CloudResult result = Follow(vm, frame);
  if (result.waits_for) waiting_.push_back({vm, frame, *result.waits_for});
  Remember(result);
  return result;
}

void SimWorld::Remember(const sim::CloudResult& result) {
  cloud_->Remember(result);
  bool changed = false;
  for (const slowpath::Announcement& heard : result.announcements) {
    const AddressClaimId id = model::MakeClaimId(heard.network, heard.ip);
    model::AddressClaim claim{id, heard.network, heard.ip, heard.mac, heard.port, 0, heard.router};
    if (const auto known = claims_.find(id); known != claims_.end()) {
      claim.sequence = known->second.sequence;
      if (claim == known->second) continue;  // Heard on several hosts, or again.
    }
    ++claim.sequence;
    claims_[id] = std::move(claim);
    changed = true;
  }
  if (changed) Rebuild();
}

void SimWorld::Deliver(const sim::CloudResult& result) {
  for (const sim::CloudDelivery& delivery : result.deliveries) {
    const Vm* receiver = resources_.VmOfPort(delivery.port);
    if (receiver != nullptr) vms_.at(receiver->node).Receive(delivery.frame);
  }
}

// Frames for which a router asked: those whose address is claimed by now go on. With nothing else under way the
// others never will be, and are given up. Nobody is asked for the same address twice, so that this ends.
bool SimWorld::SendWhatWaited(bool give_up) {
  bool any = false;
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    const auto& [network, ip] = waiting.address;
    if (!give_up && !claims_.contains(model::MakeClaimId(network, ip))) {
      waiting_.push_back(std::move(waiting));
      continue;
    }
    const sim::CloudResult result = Follow(waiting.vm, waiting.frame, {waiting.address});
    Remember(result);
    Deliver(result);
    any = true;
  }
  return any;
}

absl::Status SimWorld::Settle() {
  int frames = 0;
  for (bool quiet = false; !quiet;) {
    quiet = true;
    for (auto& [name, sender] : vms_) {
      for (const FrameBytes& frame : sender.TakeFrames()) {
        quiet = false;
        if (++frames > kMaxFrames) return Error(absl::StatusCode::kInternal, "the VMs never fall silent");
        Deliver(Enter(sender.vm(), frame));
      }
    }
    if (SendWhatWaited(quiet)) quiet = false;
  }
  return absl::OkStatus();
}

absl::StatusOr<ProbeOutcome> SimWorld::Probe(const ProbeStep& step, const Vm& from, const IpAddress& to,
                                             bool /*answer_expected*/) {
  for (auto& [name, vm] : vms_) vm.Forget();
  ASSIGN_OR_RETURN(SimVm* const sender, Stack(from.node));
  const bool v4 = to.is_v4();
  sender->Send({IpAddress(), to, ProtocolOf(step.kind, v4), static_cast<uint8_t>(step.ttl), step.df, 0, 0,
                false, Question(step, v4)});
  RETURN_IF_ERROR(Settle());
  ProbeOutcome outcome;
  std::set<std::string> answering;
  for (auto& [name, vm] : vms_) {
    if (vm.TakeAnswered()) answering.insert(name);
  }
  for (const SimArrival& arrival : sender->TakeArrivals()) {
    if (arrival.kind == SimArrival::Kind::kError) {
      outcome.errors.insert(arrival.data);
      outcome.error_sources.insert(arrival.from.ToString());
    } else if (arrival.from != to) {
      continue;  // As for any client: an answer from elsewhere is none.
    } else if (arrival.kind == SimArrival::Kind::kEchoReply) {
      if (answering.empty()) answering.insert("router");
      outcome.answered_by.insert(answering.begin(), answering.end());
    } else {
      outcome.answered_by.insert(arrival.data.substr(0, arrival.data.find(' ')));
    }
  }
  return outcome;
}

absl::StatusOr<SendOutcome> SimWorld::Send(const Injection& injection, size_t /*expected*/) {
  SendOutcome outcome;
  for (uint32_t i = 0; i < injection.count; ++i) {
    sim::CloudResult result;
    if (injection.vm.empty()) {
      // Not the form of VXLAN that a tunnel port takes, which drops it by itself.
      if (injection.flags != kVxlanFlags) continue;
      result =
          cloud_->FromTunnel(HostId(injection.host), injection.outer_source, injection.vni, injection.frame);
      Remember(result);
    } else {
      ASSIGN_OR_RETURN(const Vm* const vm, resources_.Find(injection.vm));
      result = Enter(*vm, injection.frame);
    }
    for (sim::CloudDelivery& delivery : result.deliveries) {
      const Vm* receiver = resources_.VmOfPort(delivery.port);
      if (receiver != nullptr) outcome.seen.push_back({receiver->node, std::move(delivery.frame)});
    }
    for (const sim::CloudDrop& drop : result.drops) {
      ++outcome.drops[{drop.host.str(), std::string(Label(drop.reason))}];
    }
  }
  waiting_.clear();  // No VM's kernel answers while frames are sent by hand.
  return outcome;
}

absl::StatusOr<Drops> SimWorld::Storm(const Vm& /*from*/, const FrameBytes& /*frame*/, uint32_t /*count*/,
                                      uint32_t /*rate*/) {
  return Error(absl::StatusCode::kUnimplemented, "sim has no rates: give the case datapaths without sim");
}

absl::StatusOr<bool> SimWorld::StreamProbe() {
  ProbeStep step;
  step.kind = ProbeKind::kUdp;
  ASSIGN_OR_RETURN(const Vm* const from, resources_.Find(stream_from_));
  ASSIGN_OR_RETURN(const ProbeOutcome outcome, Probe(step, *from, stream_to_, true));
  ++stream_sent_;
  stream_lost_ += outcome.answered_by.empty() ? 1 : 0;
  return !outcome.answered_by.empty();
}

absl::Status SimWorld::StartStream(const Vm& from, const IpAddress& to, uint32_t /*rate*/) {
  stream_from_ = from.node;
  stream_to_ = to;
  stream_sent_ = stream_lost_ = 0;
  ASSIGN_OR_RETURN(const bool answered, StreamProbe());
  if (answered) return absl::OkStatus();
  return Error(absl::StatusCode::kDeadlineExceeded, "{} does not answer {}", to, from.node);
}

absl::StatusOr<StreamOutcome> SimWorld::EndStream() {
  RETURN_IF_ERROR(StreamProbe().status());
  return StreamOutcome{stream_sent_, stream_lost_};
}

absl::StatusOr<TraceOutcome> SimWorld::Trace(const Vm& from, const FrameBytes& frame) {
  const sim::CloudResult result = Follow(from, frame);
  TraceOutcome outcome;
  for (const sim::CloudDelivery& delivery : result.deliveries) {
    const Vm* receiver = resources_.VmOfPort(delivery.port);
    outcome.verdicts.insert(
        fmt::format("delivered {}", receiver != nullptr ? receiver->node : delivery.port.str()));
  }
  for (const sim::CloudDrop& drop : result.drops)
    outcome.verdicts.insert(fmt::format("dropped {}", Label(drop.reason)));
  return outcome;
}

}  // namespace kasane::lab
