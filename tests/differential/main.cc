// kasane-differential: random clouds, random frames; the switch must do what sim says, byte for byte.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "agent/view/host_view_builder.h"
#include "tests/differential/random_cloud.h"
#include "tests/differential/switch_under_test.h"
#include "vswitch/base/status.h"
#include "vswitch/packet/packet.h"
#include "vswitch/sim/sim.h"

namespace kasane::differential {
namespace {

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

std::string Hex(const frames::Bytes& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string Describe(const Observed& observed) {
  std::string text;
  for (const auto& [port, frame] : observed.local) {
    text += fmt::format("    port {}: {}\n      {}\n", port, Packet(frame).Summary(), Hex(frame));
  }
  for (const TunnelFrame& tunnel : observed.tunnel) {
    text += fmt::format("    tunnel to {} VNI {}: {}\n      {}\n", tunnel.destination, tunnel.vni,
                        Packet(tunnel.inner).Summary(), Hex(tunnel.inner));
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
  int packets = 0;
  int divergences = 0;
  int repeated = 0;  // Clouds that diverged once and not again.
};

void Report(const HostView& view, uint64_t seed, int number, const Stimulus& stimulus,
            const std::vector<sim::Result>& results, const Observed& observed) {
  const sim::Result& result = results.front();
  fmt::print("DIVERGENCE seed {} packet {}: {} {}\n  sim: {}\n", seed, number,
             stimulus.port ? "from port " + stimulus.port->str()
                           : fmt::format("from tunnel {} VNI {}", stimulus.outer_source, stimulus.vni),
             Packet(stimulus.frame).Summary(), result.drop ? Label(*result.drop) : "");
  for (const sim::Step& step : result.steps) fmt::print("    {}: {}\n", step.stage, step.text);
  if (results.size() > 1) fmt::print("    (the first of {} choices of next hops)\n", results.size());
  fmt::print("{}  switch:\n{}  frame: {}\n{}", Describe(Expected(result)), Describe(observed),
             Hex(stimulus.frame), ToString(view));
}

absl::Status Learn(Run& run, const sim::LearnedMacs::value_type& fact, sim::LearnedMacs& learned) {
  const auto [it, is_new] = learned.insert(fact);
  if (!is_new && it->second == fact.second) return absl::OkStatus();
  it->second = fact.second;
  return run.under_test.AwaitLearned();
}

absl::Status RunCloud(Run& run, uint64_t seed, int packets) {
  Random random(seed);
  const NetworkState state = RandomCloud(random);
  const HostView view = BuildHostView(state, kHost, {OwnVtep(), std::nullopt});
  RETURN_IF_ERROR(run.under_test.Apply({kHost, {OwnVtep(), std::nullopt}, {}, {}, {}, {}, {}, {}}));
  RETURN_IF_ERROR(run.under_test.Apply(view));
  RETURN_IF_ERROR(run.under_test.ForgetLearned());
  sim::LearnedMacs learned;
  std::map<DropReason, uint64_t> expected_drops;
  const auto before = run.under_test.Drops();
  if (!before.ok()) return before.status();
  bool ambiguous = false;  // Which next hop it was cannot be told from what came out, but counts differ.
  for (int number = 0; number < packets; ++number) {
    const Stimulus stimulus = RandomStimulus(view, random);
    const std::vector<sim::Result> results =
        stimulus.port
            ? sim::EveryFromPort(view, *stimulus.port, stimulus.frame, learned)
            : std::vector{sim::FromTunnel(view, stimulus.outer_source, stimulus.vni, stimulus.frame, learned)};
    const auto observed =
        stimulus.port ? run.under_test.SendFromPort(*stimulus.port, stimulus.frame)
                      : run.under_test.SendFromTunnel(stimulus.outer_source, stimulus.vni, stimulus.frame);
    if (!observed.ok()) return observed.status();
    if (results.front().learned) RETURN_IF_ERROR(Learn(run, *results.front().learned, learned));
    ++run.packets;
    const sim::Result* taken = Taken(results, *observed);
    if (taken == nullptr) {
      ++run.divergences;
      Report(view, seed, number, stimulus, results, *observed);
      return absl::OkStatus();
    }
    if (results.size() > 1) ambiguous = ambiguous || !SameDrops(results);
    if (taken->drop) ++expected_drops[*taken->drop];
    for (const DropReason reason : taken->answer_drops) ++expected_drops[reason];
  }
  if (ambiguous) return absl::OkStatus();
  const auto after = run.under_test.Drops();
  if (!after.ok()) return after.status();
  for (const DropReason reason : kAllDropReasons) {
    const auto count = [&](const std::map<DropReason, uint64_t>& drops) {
      const auto it = drops.find(reason);
      return it == drops.end() ? 0 : it->second;
    };
    const uint64_t counted = count(*after) - count(*before);
    // A packet that is larger than an MTU counts for what it would have met, too: see TestMtu().
    const uint64_t also = reason == DropReason::kMtu ? 0 : expected_drops[DropReason::kMtu];
    if (counted >= count(expected_drops) && counted <= count(expected_drops) + also) continue;
    ++run.divergences;
    fmt::print("DIVERGENCE seed {}: {} drops: sim {}, switch {}\n", seed, Label(reason), count(expected_drops),
               counted);
  }
  return absl::OkStatus();
}

// The userspace datapath loses a frame that misses its cache at the moment that the flow cache is being
// reclaimed. So a divergence counts only if the same cloud with the same frames diverges again.
absl::Status RunCloudTwiceIfNeeded(Run& run, uint64_t seed, int packets) {
  const int before = run.divergences;
  RETURN_IF_ERROR(RunCloud(run, seed, packets));
  if (run.divergences == before) return absl::OkStatus();
  run.divergences = before;
  fmt::print("seed {} diverged; once more\n", seed);
  RETURN_IF_ERROR(RunCloud(run, seed, packets));
  if (run.divergences == before) ++run.repeated;
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Sends random frames through random clouds and compares Open vSwitch with the reference.");
  int clouds = 20;
  int packets = 200;
  uint64_t seed = 1;
  app.add_option("--clouds", clouds, "Random clouds to build")->capture_default_str();
  app.add_option("--packets", packets, "Frames sent in each")->capture_default_str();
  app.add_option("--seed", seed, "Seed of the first cloud; the next ones count up")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  auto under_test = SwitchUnderTest::Start({LocalPorts(), OwnVtep(), PeerVteps()});
  if (!under_test.ok()) {
    fmt::print(stderr, "kasane-differential: {}\n", Message(under_test.status()));
    return 2;
  }
  Run run{**under_test};
  for (int n = 0; n < clouds; ++n) {
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
