#include "tests/differential/cloud_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/differential/case_text.h"
#include "tests/differential/comparison.h"
#include "tests/differential/shrink.h"
#include "tests/lab/process.h"
#include "tests/random/headers.h"
#include "tests/random/random_cloud.h"
#include "tests/random/random_frames.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/hex.h"
#include "vswitch/packet/packet.h"
#include "vswitch/sim/sim.h"

namespace kasane::differential {
namespace {

using random::Kind;
using random::Stimulus;

constexpr int kSections = 4;  // Between changes of the cloud.
constexpr int kChangesAtOnce = 3;
constexpr size_t kRememberedFlows = 20;

vswitch::HostView ViewOf(const model::NetworkState& state) {
  const model::Host& own = *state.hosts.at(random::kHost);
  return view::BuildHostView(state, random::kHost, {own.tunnel_v4, own.tunnel_v6});
}

std::vector<sim::Result> ByReference(const vswitch::HostView& view, const Stimulus& stimulus,
                                     const sim::LearnedMacs& learned,
                                     const slowpath::Reassembly& fragments = slowpath::Reassembly()) {
  if (stimulus.port) return sim::EveryFromPort(view, *stimulus.port, stimulus.frame, learned, {}, fragments);
  return {sim::FromTunnel(view, stimulus.outer_source, stimulus.vni, stimulus.frame, learned)};
}

absl::StatusOr<Observed> BySwitch(SwitchUnderTest& under_test, const Stimulus& stimulus) {
  return stimulus.port ? under_test.SendFromPort(*stimulus.port, stimulus.frame)
                       : under_test.SendFromTunnel(stimulus.outer_source, stimulus.vni, stimulus.frame);
}

// The switch with the flows of `view`, and nothing learned.
absl::Status Begin(SwitchUnderTest& under_test, const vswitch::HostView& view) {
  vswitch::HostView empty;
  empty.host = view.host;
  empty.tunnel_addresses = view.tunnel_addresses;
  RETURN_IF_ERROR(under_test.Apply(empty));
  RETURN_IF_ERROR(under_test.Apply(view));
  RETURN_IF_ERROR(under_test.ForgetLearned());
  return under_test.Settle();
}

absl::StatusOr<bool> Diverges(SwitchUnderTest& under_test, const model::NetworkState& state,
                              const Stimulus& stimulus) {
  const vswitch::HostView view = ViewOf(state);
  if (stimulus.port && !view.ports.contains(*stimulus.port)) return false;
  RETURN_IF_ERROR(Begin(under_test, view));
  ASSIGN_OR_RETURN(Observed observed, BySwitch(under_test, stimulus));
  std::vector<sim::Result> results = ByReference(view, stimulus, {});
  RemoveWhatIsKnown(view, observed.announcements);
  for (sim::Result& result : results) RemoveWhatIsKnown(view, result.announcements);
  return Matches(results, observed, view.tunnel_addresses).empty();
}

// Of the same flow, and another packet: the id of an IPv4 packet, the traffic class of an IPv6 one.
Stimulus SameFlow(Stimulus stimulus) {
  if (random::IsIpv4(stimulus.frame)) {
    stimulus.frame[19] ^= 0x55;
    random::FixIpv4Checksum(stimulus.frame);
  } else if (random::IsIpv6(stimulus.frame)) {
    stimulus.frame[15] ^= 0x40;
  }
  return stimulus;
}

bool SameDeliveries(const std::vector<sim::Result>& a, const std::vector<sim::Result>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const sim::Result& x, const sim::Result& y) { return x.deliveries == y.deliveries; });
}

// A view may wait for ports that nobody plugs in here.
bool IsPlugged(const Stimulus& stimulus) {
  const std::vector<PortId> ports = random::LocalPorts();
  return !stimulus.port || std::find(ports.begin(), ports.end(), *stimulus.port) != ports.end();
}

// A flow over equal routes, and which of the choices it took.
struct Flow {
  Stimulus stimulus;
  std::vector<sim::Result> results;
  std::vector<size_t> taken;
};

class CloudRun {
 public:
  CloudRun(SwitchUnderTest& under_test, const CloudOptions& options)
      : under_test_(under_test), options_(options), random_(options.seed) {}

  absl::StatusOr<CloudOutcome> Go() {
    state_ = random::RandomCloud(random_, options_.kinds);
    view_ = ViewOf(state_);
    RETURN_IF_ERROR(Begin(under_test_, view_));
    ASSIGN_OR_RETURN(drops_before_, under_test_.Drops());
    const bool changes = Has(options_.kinds, Kind::kChanges);
    const int section = changes ? std::max(1, options_.packets / kSections) : options_.packets;
    for (number_ = 0; number_ < options_.packets && outcome_.divergences == 0; ++number_) {
      if (number_ != 0 && number_ % section == 0) RETURN_IF_ERROR(ChangeTheCloud());
      if (view_.ports.empty() && view_.endpoints.empty()) continue;
      const Stimulus stimulus = random::RandomStimulus(view_, random_, options_.kinds);
      if (!IsPlugged(stimulus)) continue;
      RETURN_IF_ERROR(SendBefore(stimulus));
      if (outcome_.divergences == 0) RETURN_IF_ERROR(Try(stimulus));
    }
    if (outcome_.divergences == 0) RETURN_IF_ERROR(CompareDrops());
    return outcome_;
  }

 private:
  absl::Status SendBefore(const Stimulus& stimulus) {
    Stimulus one = stimulus;
    one.mutation = "before";
    for (const frames::Bytes& frame : stimulus.before) {
      one.frame = frame;
      RETURN_IF_ERROR(Exchange(one).status());
      if (outcome_.divergences != 0) break;
    }
    return absl::OkStatus();
  }

  absl::Status Try(const Stimulus& stimulus) {
    ASSIGN_OR_RETURN(std::vector<size_t> taken, Exchange(stimulus));
    if (outcome_.divergences != 0 || !Has(options_.kinds, Kind::kSticky) || results_.size() < 2 ||
        taken.size() == results_.size() || stimulus.mutation != "none") {
      return absl::OkStatus();
    }
    Flow flow{stimulus, results_, std::move(taken)};
    RETURN_IF_ERROR(TryAgain(flow, SameFlow(stimulus)));
    if (flows_.size() < kRememberedFlows) flows_.push_back(std::move(flow));
    return absl::OkStatus();
  }

  // Sends one frame and compares what comes of it. Returns the choices of next hops that fit.
  absl::StatusOr<std::vector<size_t>> Exchange(const Stimulus& stimulus) {
    results_ = ByReference(view_, stimulus, learned_, fragments_);
    // What cached flows have not taught yet would come behind what this frame teaches.
    if (MovesAMac(results_.front())) RETURN_IF_ERROR(under_test_.AwaitLearned());
    ASSIGN_OR_RETURN(Observed observed, BySwitch(under_test_, stimulus));
    ++outcome_.frames;
    heard_.insert(heard_.end(), observed.announcements.begin(), observed.announcements.end());
    if (!Has(options_.kinds, Kind::kAnnouncements)) {
      observed.announcements.clear();
      for (sim::Result& result : results_) result.announcements.clear();
    }
    RemoveWhatIsKnown(view_, observed.announcements);
    for (sim::Result& result : results_) RemoveWhatIsKnown(view_, result.announcements);
    if (results_.front().learned) RETURN_IF_ERROR(Learn(*results_.front().learned));
    std::vector<size_t> taken = Matches(results_, observed, view_.tunnel_addresses);
    if (taken.empty()) {
      Diverged("deliveries");
      Report(stimulus, observed);
      RETURN_IF_ERROR(WriteCase(stimulus));
      return taken;
    }
    bounds_.Add(results_, taken);
    if (const auto& fragment = results_[taken.front()].fragment) fragments_.Add(*fragment, {});
    if (options_.drops_of_each) {
      RETURN_IF_ERROR(CompareDrops());
      if (outcome_.divergences != 0) Report(stimulus, observed);
    }
    return taken;
  }

  // The same flow once more takes the same next hop; what it took before is narrowed to what fits both.
  absl::Status TryAgain(Flow& flow, const Stimulus& again) {
    ASSIGN_OR_RETURN(const std::vector<size_t> taken, Exchange(again));
    if (outcome_.divergences != 0 || taken.size() == results_.size()) return absl::OkStatus();
    std::vector<size_t> both;
    std::set_intersection(flow.taken.begin(), flow.taken.end(), taken.begin(), taken.end(),
                          std::back_inserter(both));
    if (both.empty()) {
      Diverged(fmt::format("a flow took choice {} of its next hops, then {}", fmt::join(flow.taken, " or "),
                           fmt::join(taken, " or ")));
      Report(again, {});
      return absl::OkStatus();
    }
    flow.taken = std::move(both);
    return absl::OkStatus();
  }

  bool MovesAMac(const sim::Result& result) const {
    if (!result.learned) return false;
    const auto known = learned_.find(result.learned->first);
    return known != learned_.end() && known->second != result.learned->second;
  }

  absl::Status Learn(const sim::LearnedMacs::value_type& fact) {
    const auto [it, is_new] = learned_.insert(fact);
    if (!is_new && it->second == fact.second) return absl::OkStatus();
    it->second = fact.second;
    return under_test_.AwaitLearned();
  }

  // Some things are other than they were; what the switch then holds is what it would hold had it always been
  // so, and flows whose next hops are as they were keep theirs.
  absl::Status ChangeTheCloud() {
    RETURN_IF_ERROR(CompareDrops());
    if (outcome_.divergences != 0) return absl::OkStatus();
    const auto changes = 1 + random::Below(random_, kChangesAtOnce);
    for (uint64_t n = 0; n < changes; ++n)
      state_ = random::ChangedCloud(state_, heard_, random_, options_.kinds);
    view_ = ViewOf(state_);
    // As the agent does: of ports that are gone nothing is kept.
    fragments_.Forget([&](const vswitch::Owner& sender) { return !view_.ports.contains(PortId(sender.id)); });
    changed_ = true;
    RETURN_IF_ERROR(under_test_.Apply(view_));
    RETURN_IF_ERROR(under_test_.AwaitLearned());
    RETURN_IF_ERROR(under_test_.Settle());
    ASSIGN_OR_RETURN(const std::vector<std::string> differences, under_test_.Differences(view_));
    if (!differences.empty()) {
      Diverged("flows after a change, against a recompute from scratch");
      for (const std::string& line : differences) fmt::print("  {}\n", line);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(drops_before_, under_test_.Drops());
    std::vector<Flow> flows = std::exchange(flows_, {});
    for (Flow& flow : flows) {
      if (!view_.ports.contains(*flow.stimulus.port)) continue;
      if (!SameDeliveries(ByReference(view_, flow.stimulus, learned_), flow.results)) continue;
      RETURN_IF_ERROR(TryAgain(flow, flow.stimulus));
      if (outcome_.divergences != 0) return absl::OkStatus();
      flows_.push_back(std::move(flow));
    }
    return absl::OkStatus();
  }

  absl::Status CompareDrops() {
    ASSIGN_OR_RETURN(Counts now, under_test_.Drops());
    for (const std::string& line : bounds_.Differences(drops_before_, now)) Diverged(line);
    drops_before_ = std::move(now);
    bounds_ = DropBounds();
    return absl::OkStatus();
  }

  void Diverged(const std::string& what) {
    ++outcome_.divergences;
    fmt::print(
        "DIVERGENCE seed {} packet {}{}: {}\n  again: kasane-differential --clouds 1 --seed {} --packets {} "
        "--kinds {}\n",
        options_.seed, number_, changed_ ? " after changes" : "", what, options_.seed, options_.packets,
        random::ToString(options_.kinds));
  }

  void Report(const Stimulus& stimulus, const Observed& observed) const {
    const sim::Result& result = results_.front();
    fmt::print("  frame ({}) {}: {}\n    {}\n  sim: {}\n", stimulus.mutation,
               stimulus.port ? "from port " + stimulus.port->str()
                             : fmt::format("from tunnel {} VNI {}", stimulus.outer_source, stimulus.vni),
               packet::Packet(stimulus.frame).Summary(), packet::HexText(stimulus.frame),
               result.drop ? Label(*result.drop) : "");
    for (const sim::Step& step : result.steps) fmt::print("    {}: {}\n", step.stage, step.text);
    if (results_.size() > 1) fmt::print("    (the first of {} choices of next hops)\n", results_.size());
    fmt::print("{}  switch:\n{}{}", Describe(Expected(result, view_.tunnel_addresses)), Describe(observed),
               ToString(view_));
  }

  // The smallest cloud in which this one frame diverges, as a case. A fault that needs what was learned or
  // changed before is in the report alone.
  absl::Status WriteCase(const Stimulus& stimulus) {
    if (options_.case_directory.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const bool alone, Diverges(under_test_, state_, stimulus));
    if (!alone) {
      fmt::print("no case is written: by itself the frame does not diverge\n");
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const model::NetworkState small,
                     Shrink(state_, stimulus.port.value_or(PortId()), [&](const model::NetworkState& smaller) {
                       return Diverges(under_test_, smaller, stimulus);
                     }));
    const std::string file =
        fmt::format("{}/divergence_{}_{}.yaml", options_.case_directory, options_.seed, number_);
    const std::string why =
        fmt::format("Open vSwitch and the reference differ on this frame (seed {}, packet {}, {}).",
                    options_.seed, number_, stimulus.mutation);
    RETURN_IF_ERROR(lab::WriteFile(file, CaseText(small, stimulus, why)));
    fmt::print("written as a case: {}\n", file);
    return absl::OkStatus();
  }

  SwitchUnderTest& under_test_;
  const CloudOptions& options_;
  random::Random random_;
  model::NetworkState state_;
  vswitch::HostView view_;
  sim::LearnedMacs learned_;
  slowpath::Reassembly fragments_;
  std::vector<slowpath::Announcement> heard_;
  std::vector<sim::Result> results_;  // Of the last frame.
  std::vector<Flow> flows_;
  DropBounds bounds_;
  Counts drops_before_;
  bool changed_ = false;
  int number_ = 0;
  CloudOutcome outcome_;
};

}  // namespace

absl::StatusOr<CloudOutcome> RunCloud(SwitchUnderTest& under_test, const CloudOptions& options) {
  return CloudRun(under_test, options).Go();
}

}  // namespace kasane::differential
