#include "tests/lab/case/trace_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/lab/case/case_file.h"
#include "tests/lab/case/ovs_world.h"
#include "tests/lab/case/resources.h"
#include "tests/lab/hypervisor.h"
#include "tests/lab/layout.h"
#include "tests/lab/process.h"
#include "tests/random/random_frames.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/hex.h"
#include "vswitch/packet/packet.h"
#include "vswitch/packet/packet_text.h"
#include "vswitch/sim/sim.h"

namespace kasane::lab {
namespace {

using random::Random;

constexpr size_t kEthernet = 14;
// kasanectl ends with 1 for a packet that is dropped, which is an answer too.
constexpr const char* kAllowDrop = "\"$@\" || [ $? -eq 1 ]";

// What becomes of one packet: told, or seen.
struct Fate {
  std::vector<std::pair<std::string, std::string>> deliveries;    // VM and packet text, sorted.
  std::map<std::pair<std::string, std::string>, uint64_t> drops;  // By host and reason.

  bool operator==(const Fate&) const = default;
};

std::string ToText(const Fate& fate) {
  std::string text;
  for (const auto& [vm, packet] : fate.deliveries) text += fmt::format("    to {}: {}\n", vm, packet);
  for (const auto& [at, count] : fate.drops) {
    text += fmt::format("    {} dropped on {} as {}\n", count, at.first, at.second);
  }
  return text.empty() ? "    nothing\n" : text;
}

Fate FateOf(const SendOutcome& outcome) {
  Fate fate;
  for (const SeenFrame& seen : outcome.seen)
    fate.deliveries.emplace_back(seen.vm, packet::PacketText(seen.frame));
  std::sort(fate.deliveries.begin(), fate.deliveries.end());
  fate.drops = outcome.drops;
  return fate;
}

class TraceCheck {
 public:
  TraceCheck(const TraceCheckOptions& options, OvsWorld& world)
      : options_(options), layout_(options.lab), world_(world), random_(options.seed) {
    const model::NetworkState state = world.resources().StateWithHosts();
    for (const Hypervisor& host : world.resources().plan().hosts) {
      views_.push_back(view::BuildHostView(state, HostId(host.node), OwnAddresses(host)));
    }
  }

  // The number of packets that were foretold wrongly.
  absl::StatusOr<int> Run() {
    ASSIGN_OR_RETURN(kasanectl_, FindProgram("kasanectl"));
    int wrong = 0;
    for (int number = 0; number < options_.packets; ++number) {
      const auto [vm, frame] = RandomPacket();
      ASSIGN_OR_RETURN(const std::vector<Fate> told, Traced(*vm, frame));
      Injection injection;
      injection.vm = vm->node;
      injection.frame = frame;
      ASSIGN_OR_RETURN(const SendOutcome outcome, world_.Send(injection, told.front().deliveries.size()));
      delivered_ += outcome.seen.empty() ? 0 : 1;
      const Fate seen = FateOf(outcome);
      if (std::find(told.begin(), told.end(), seen) != told.end()) continue;
      ++wrong;
      fmt::print("WRONG packet {} of seed {}, from {}: {}\n  the trace says:\n{}  the wire shows:\n{}", number,
                 options_.seed, vm->node, packet::PacketText(frame), ToText(told.front()), ToText(seen));
    }
    return wrong;
  }

  int delivered() const { return delivered_; }

 private:
  // The kernel takes no frame larger than the interface's MTU. What a VM without port security sends in other
  // names teaches the switches, and of fragments for routers agents keep some, which they alone know; both are
  // left out.
  bool IsUsable(const vswitch::HostView& view, const random::Stimulus& stimulus, const Vm* vm) const {
    if (vm == nullptr || stimulus.frame.size() > vm->mtu + kEthernet) return false;
    const vswitch::LocalPort& port = view.ports.at(*stimulus.port);
    if (sim::FromPort(view, port.id, stimulus.frame).fragment) return false;
    return port.port_security_enabled || packet::Packet(stimulus.frame).eth_src() == port.mac;
  }

  std::pair<const Vm*, FrameBytes> RandomPacket() {
    for (;;) {
      const vswitch::HostView& view = views_[random_() % views_.size()];
      random::Stimulus stimulus = random::RandomStimulus(view, random_, random::Kinds());
      if (!stimulus.port) continue;
      const Vm* vm = world_.resources().VmOfPort(*stimulus.port);
      if (IsUsable(view, stimulus, vm)) return {vm, std::move(stimulus.frame)};
    }
  }

  // One for each way that equal routes leave open.
  absl::StatusOr<std::vector<Fate>> Traced(const Vm& vm, const FrameBytes& frame) const {
    const std::string& host = world_.resources().plan().hosts[vm.host].node;
    Command command;
    command.netns = layout_.Namespace(host);
    command.environment = HypervisorEnvironment(layout_, host);
    command.environment.push_back("KASANE_CONTROLLER=" + ControllerEndpoint());
    command.environment.push_back("KASANE_INSECURE=true");
    command.argv = {"/bin/sh",  "-c",    kAllowDrop,    "sh",
                    kasanectl_, "trace", vm.port.str(), "hex:" + packet::HexText(frame),
                    "-o",       "json"};
    ASSIGN_OR_RETURN(const std::string text, lab::Run(command));
    const auto reply = nlohmann::json::parse(text, nullptr, false);
    if (reply.is_discarded())
      return Invalid("kasanectl trace {} {} printed \"{}\"", vm.node, packet::PacketText(frame), text);
    return FatesOf(reply);
  }

  absl::StatusOr<std::vector<Fate>> FatesOf(const nlohmann::json& reply) const {
    for (const auto& note : reply["notes"]) {
      return Invalid("the trace was not followed: {}", note.get<std::string>());
    }
    std::map<uint32_t, Fate> ways;
    for (const auto& verdict : reply["verdicts"]) {
      Fate& fate = ways[verdict["way"].get<uint32_t>()];
      const auto reason = verdict["drop_reason"].get<std::string>();
      if (!reason.empty()) {
        ++fate.drops[{verdict["host"].get<std::string>(), reason}];
        continue;
      }
      const Vm* vm = world_.resources().VmOfPort(PortId(verdict["port_id"].get<std::string>()));
      if (vm == nullptr) return Invalid("the trace delivers to what is no VM: {}", verdict.dump());
      fate.deliveries.emplace_back(vm->node, verdict["packet"].get<std::string>());
    }
    std::vector<Fate> fates;
    for (auto& [way, fate] : ways) {
      std::sort(fate.deliveries.begin(), fate.deliveries.end());
      fates.push_back(std::move(fate));
    }
    if (fates.empty()) fates.emplace_back();
    return fates;
  }

  const TraceCheckOptions& options_;
  const Layout layout_;
  OvsWorld& world_;
  Random random_;
  std::vector<vswitch::HostView> views_;
  std::string kasanectl_;
  int delivered_ = 0;
};

absl::StatusOr<int> Check(const TraceCheckOptions& options) {
  Case subject;
  subject.name = "trace-check";
  subject.topology_file = options.topology;
  ASSIGN_OR_RETURN(subject.topology, files::ReadResourceFile(options.topology));
  ASSIGN_OR_RETURN(CaseResources resources, CaseResources::Make(subject));
  OvsWorld world(subject, std::move(resources), options.lab);
  RETURN_IF_ERROR(world.Start());
  TraceCheck check(options, world);
  ASSIGN_OR_RETURN(const int wrong, check.Run());
  fmt::print("{} packets of seed {}, {} of them delivered to anybody; {} not as the trace said\n",
             options.packets, options.seed, check.delivered(), wrong);
  return wrong;
}

}  // namespace

int RunTraceCheck(const TraceCheckOptions& options) {
  const auto wrong = Check(options);
  if (wrong.ok()) return *wrong == 0 ? 0 : 1;
  fmt::print(stderr, "kasane-lab: {}\n", Message(wrong.status()));
  return 2;
}

}  // namespace kasane::lab
