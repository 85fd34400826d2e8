// kasane-differential: random clouds, random frames; the switch must do what sim says, byte for byte.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/arguments.h"
#include "base/status.h"
#include "tests/differential/case_text.h"
#include "tests/differential/random_cloud.h"
#include "tests/differential/shrink.h"
#include "tests/differential/switch_under_test.h"
#include "tests/lab/process.h"
#include "view/host_view_builder.h"
#include "vswitch/packet/hex.h"
#include "vswitch/packet/packet.h"
#include "vswitch/sim/sim.h"

namespace kasane::differential {
namespace {

constexpr int kProgress = 10;  // Clouds to a line of progress.

Observed Expected(const sim::Result& result) {
  Observed expected;
  for (const sim::Delivery& delivery : result.deliveries) {
    if (delivery.port) {
      expected.local.emplace_back(*delivery.port, delivery.frame);
    } else {
      expected.tunnel.push_back({*delivery.vtep, OwnVtep(), delivery.vni->value(), delivery.frame});
    }
  }
  std::sort(expected.local.begin(), expected.local.end());
  std::sort(expected.tunnel.begin(), expected.tunnel.end());
  return expected;
}

std::string Describe(const Observed& observed) {
  std::string text;
  for (const auto& [port, frame] : observed.local) {
    text += fmt::format("    port {}: {}\n      {}\n", port, packet::Packet(frame).Summary(),
                        packet::HexText(frame));
  }
  for (const TunnelFrame& tunnel : observed.tunnel) {
    text += fmt::format("    tunnel to {} VNI {}: {}\n      {}\n", tunnel.destination, tunnel.vni,
                        packet::Packet(tunnel.inner).Summary(), packet::HexText(tunnel.inner));
  }
  return text.empty() ? "    nothing\n" : text;
}

// The one of several choices of next hops that the switch made, or nullptr.
const sim::Result* Taken(const std::vector<sim::Result>& results, const Observed& observed) {
  for (const sim::Result& result : results) {
    const Observed expected = Expected(result);
    if (observed.local == expected.local && observed.tunnel == expected.tunnel) return &result;
  }
  return nullptr;
}

bool SameDrops(const std::vector<sim::Result>& results) {
  return std::all_of(results.begin(), results.end(), [&](const sim::Result& result) {
    return result.drop == results.front().drop && result.answer_drops == results.front().answer_drops;
  });
}

struct Run {
  SwitchUnderTest& under_test;
  std::string case_directory;  // Where a divergence is written as a case. Empty: nowhere.
  int packets = 0;
  int divergences = 0;
  int repeated = 0;  // Clouds that diverged once and not again.
};

void Report(const vswitch::HostView& view, uint64_t seed, int number, const Stimulus& stimulus,
            const std::vector<sim::Result>& results, const Observed& observed) {
  const sim::Result& result = results.front();
  fmt::print("DIVERGENCE seed {} packet {} ({}): {} {}\n  sim: {}\n", seed, number, stimulus.mutation,
             stimulus.port ? "from port " + stimulus.port->str()
                           : fmt::format("from tunnel {} VNI {}", stimulus.outer_source, stimulus.vni),
             packet::Packet(stimulus.frame).Summary(), result.drop ? Label(*result.drop) : "");
  for (const sim::Step& step : result.steps) fmt::print("    {}: {}\n", step.stage, step.text);
  if (results.size() > 1) fmt::print("    (the first of {} choices of next hops)\n", results.size());
  fmt::print("{}  switch:\n{}  frame: {}\n{}", Describe(Expected(result)), Describe(observed),
             packet::HexText(stimulus.frame), ToString(view));
}

absl::Status Learn(Run& run, const sim::LearnedMacs::value_type& fact, sim::LearnedMacs& learned) {
  const auto [it, is_new] = learned.insert(fact);
  if (!is_new && it->second == fact.second) return absl::OkStatus();
  it->second = fact.second;
  return run.under_test.AwaitLearned();
}

std::vector<sim::Result> ByReference(const vswitch::HostView& view, const Stimulus& stimulus,
                                     const sim::LearnedMacs& learned) {
  if (stimulus.port) return sim::EveryFromPort(view, *stimulus.port, stimulus.frame, learned);
  return {sim::FromTunnel(view, stimulus.outer_source, stimulus.vni, stimulus.frame, learned)};
}

absl::StatusOr<Observed> BySwitch(Run& run, const Stimulus& stimulus) {
  return stimulus.port ? run.under_test.SendFromPort(*stimulus.port, stimulus.frame)
                       : run.under_test.SendFromTunnel(stimulus.outer_source, stimulus.vni, stimulus.frame);
}

vswitch::HostView ViewOf(const model::NetworkState& state) {
  return view::BuildHostView(state, kHost, {OwnVtep(), std::nullopt});
}

// The switch with the flows of `view`, and nothing learned.
absl::Status Begin(Run& run, const vswitch::HostView& view) {
  RETURN_IF_ERROR(run.under_test.Apply({kHost, {OwnVtep(), std::nullopt}, {}, {}, {}, {}, {}, {}}));
  RETURN_IF_ERROR(run.under_test.Apply(view));
  return run.under_test.ForgetLearned();
}

absl::StatusOr<bool> Diverges(Run& run, const model::NetworkState& state, const Stimulus& stimulus) {
  const vswitch::HostView view = ViewOf(state);
  if (stimulus.port && !view.ports.contains(*stimulus.port)) return false;
  RETURN_IF_ERROR(Begin(run, view));
  ASSIGN_OR_RETURN(const Observed observed, BySwitch(run, stimulus));
  return Taken(ByReference(view, stimulus, {}), observed) == nullptr;
}

// The smallest cloud in which this one frame diverges, as a case. A fault that needs what was learned before
// keeps its whole cloud.
absl::Status WriteCase(Run& run, const model::NetworkState& state, const Stimulus& stimulus, uint64_t seed,
                       int number) {
  if (run.case_directory.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const model::NetworkState small,
                   Shrink(state, stimulus.port.value_or(PortId()),
                          [&](const auto& smaller) { return Diverges(run, smaller, stimulus); }));
  const std::string file = fmt::format("{}/divergence_{}_{}.yaml", run.case_directory, seed, number);
  const std::string why =
      fmt::format("Open vSwitch and the reference differ on this frame (seed {}, packet {}, {}).", seed, number,
                  stimulus.mutation);
  RETURN_IF_ERROR(lab::WriteFile(file, CaseText(small, stimulus, why)));
  fmt::print("written as a case: {}\n", file);
  return absl::OkStatus();
}

using Counts = std::map<vswitch::DropReason, uint64_t>;

uint64_t CountOf(const Counts& drops, vswitch::DropReason reason) {
  const auto it = drops.find(reason);
  return it == drops.end() ? 0 : it->second;
}

// False if they differ, which is told.
bool CompareDrops(Run& run, uint64_t seed, const Counts& expected, const Counts& before, const Counts& after) {
  bool same = true;
  for (const vswitch::DropReason reason : vswitch::kAllDropReasons) {
    const uint64_t counted = CountOf(after, reason) - CountOf(before, reason);
    // A packet that is larger than an MTU counts for what it would have met, too: see TestMtu().
    const uint64_t also =
        reason == vswitch::DropReason::kMtu ? 0 : CountOf(expected, vswitch::DropReason::kMtu);
    const uint64_t wanted = CountOf(expected, reason);
    if (counted >= wanted && counted <= wanted + also) continue;
    ++run.divergences;
    same = false;
    fmt::print("DIVERGENCE seed {}: {} drops: sim {}, switch {}\n", seed, Label(reason), wanted, counted);
  }
  return same;
}

void Expect(const sim::Result& result, Counts& expected) {
  if (result.drop) ++expected[*result.drop];
  for (const vswitch::DropReason reason : result.answer_drops) ++expected[reason];
}

// Stops at the first frame that diverges. Drops are compared at the end, or, which takes its time, behind each
// frame.
absl::Status RunCloud(Run& run, uint64_t seed, int packets, bool drops_of_each) {
  Random random(seed);
  const model::NetworkState state = RandomCloud(random);
  const vswitch::HostView view = ViewOf(state);
  RETURN_IF_ERROR(Begin(run, view));
  ASSIGN_OR_RETURN(const Counts before, run.under_test.Drops());
  sim::LearnedMacs learned;
  Counts expected;
  bool ambiguous = false;  // Which next hop it was cannot be told from what came out, but counts differ.
  for (int number = 0; number < packets; ++number) {
    const Stimulus stimulus = RandomStimulus(view, random);
    const std::vector<sim::Result> results = ByReference(view, stimulus, learned);
    ASSIGN_OR_RETURN(const Observed observed, BySwitch(run, stimulus));
    if (results.front().learned) RETURN_IF_ERROR(Learn(run, *results.front().learned, learned));
    ++run.packets;
    const sim::Result* taken = Taken(results, observed);
    if (taken == nullptr) {
      ++run.divergences;
      Report(view, seed, number, stimulus, results, observed);
      return WriteCase(run, state, stimulus, seed, number);
    }
    if (results.size() > 1) ambiguous = ambiguous || !SameDrops(results);
    Expect(*taken, expected);
    if (!drops_of_each || ambiguous) continue;
    ASSIGN_OR_RETURN(const Counts now, run.under_test.Drops());
    if (CompareDrops(run, seed, expected, before, now)) continue;
    Report(view, seed, number, stimulus, results, observed);
    return absl::OkStatus();
  }
  if (ambiguous) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Counts after, run.under_test.Drops());
  CompareDrops(run, seed, expected, before, after);
  return absl::OkStatus();
}

// The userspace datapath loses a frame that misses its cache at the moment that the flow cache is being
// reclaimed. So a divergence counts only if the same cloud with the same frames diverges again.
absl::Status RunCloudTwiceIfNeeded(Run& run, uint64_t seed, int packets) {
  const int before = run.divergences;
  const std::string cases = std::exchange(run.case_directory, "");
  RETURN_IF_ERROR(RunCloud(run, seed, packets, /*drops_of_each=*/false));
  run.case_directory = cases;
  if (run.divergences == before) return absl::OkStatus();
  run.divergences = before;
  fmt::print("seed {} diverged; once more\n", seed);
  RETURN_IF_ERROR(RunCloud(run, seed, packets, /*drops_of_each=*/true));
  if (run.divergences == before) ++run.repeated;
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  cli::CommandLine app(
      "Sends random frames through random clouds and compares Open vSwitch with the reference.");
  int clouds = 20;
  int packets = 200;
  uint64_t seed = 1;
  std::string cases;
  app.AddOption("--clouds", clouds, "Random clouds to build").ShowDefault();
  app.AddOption("--packets", packets, "Frames sent in each").ShowDefault();
  app.AddOption("--seed", seed, "Seed of the first cloud; the next ones count up").ShowDefault();
  app.AddOption("--cases", cases, "Folder for case files: the smallest cloud that shows a divergence");
  if (const auto ending = app.Parse(argc, argv)) {
    ending->Print();
    return ending->code;
  }
  auto under_test = SwitchUnderTest::Start({LocalPorts(), OwnVtep(), PeerVteps()});
  if (!under_test.ok()) {
    fmt::print(stderr, "kasane-differential: {}\n", Message(under_test.status()));
    return 2;
  }
  Run run{**under_test, cases};
  for (int n = 0; n < clouds; ++n) {
    if (n % kProgress == 0)
      fmt::print(stderr, "seed {}, cloud {} of {}\n", seed + static_cast<uint64_t>(n), n + 1, clouds);
    const absl::Status status = RunCloudTwiceIfNeeded(run, seed + static_cast<uint64_t>(n), packets);
    if (!status.ok()) {
      fmt::print(stderr, "kasane-differential: seed {}: {}\n", seed + static_cast<uint64_t>(n),
                 Message(status));
      return 2;
    }
  }
  fmt::print("{} clouds from seed {}, {} frames, {} divergences, {} clouds repeated\n", clouds, seed,
             run.packets, run.divergences, run.repeated);
  return run.divergences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kasane::differential

int main(int argc, char** argv) { return kasane::differential::Main(argc, argv); }
