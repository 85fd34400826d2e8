// kasane-differential: random clouds, random frames; the switch must do what sim says, byte for byte.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/arguments.h"
#include "base/status.h"
#include "tests/differential/cloud_run.h"
#include "tests/differential/switch_under_test.h"
#include "tests/random/kinds.h"
#include "tests/random/random_cloud.h"

namespace kasane::differential {
namespace {

constexpr int kProgress = 10;  // Clouds to a line of progress.

struct Totals {
  int frames = 0;
  int divergences = 0;
  int unstable = 0;  // Clouds that diverged once and not again: a failure too.
};

// A cloud that diverges runs once more, with the drops behind each frame, so that the frame is named.
absl::Status RunOne(SwitchUnderTest& under_test, CloudOptions options, bool again, Totals& totals) {
  const std::string cases = std::exchange(options.case_directory, "");
  ASSIGN_OR_RETURN(const CloudOutcome first, RunCloud(under_test, options));
  totals.frames += first.frames;
  totals.divergences += first.divergences;
  if (first.divergences == 0 || !again) return absl::OkStatus();
  fmt::print("seed {} diverged; once more\n", options.seed);
  options.case_directory = cases;
  options.drops_of_each = true;
  ASSIGN_OR_RETURN(const CloudOutcome second, RunCloud(under_test, options));
  if (second.divergences != 0) return absl::OkStatus();
  ++totals.unstable;
  fmt::print("UNSTABLE seed {}: the same cloud with the same frames agrees now\n", options.seed);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  cli::CommandLine app(
      "Sends random frames through random clouds and compares Open vSwitch with the reference.");
  int clouds = 20;
  CloudOptions options;
  std::string kinds = "default";
  bool stop = false;
  app.AddOption("--clouds", clouds, "Random clouds to build").ShowDefault();
  app.AddOption("--packets", options.packets, "Frames sent in each").ShowDefault();
  app.AddOption("--seed", options.seed, "Seed of the first cloud; the next ones count up").ShowDefault();
  app.AddOption("--kinds", kinds,
                "What is generated beyond the basis: names by comma, all, none, default, -NAME")
      .ShowDefault();
  app.AddOption("--cases", options.case_directory,
                "Folder for case files: the smallest cloud that shows a divergence");
  app.AddFlag("--stop", stop, "End at the first divergence, whose frame is the last one counted");
  if (const auto ending = app.Parse(argc, argv)) {
    ending->Print();
    return ending->code;
  }
  const auto failed = [](const absl::Status& status) {
    fmt::print(stderr, "kasane-differential: {}\n", Message(status));
    return 2;
  };
  const auto parsed = random::ParseKinds(kinds);
  if (!parsed.ok()) return failed(parsed.status());
  options.kinds = *parsed;
  auto under_test = SwitchUnderTest::Start({random::LocalPorts(), random::OwnVteps(), random::PeerVteps()});
  if (!under_test.ok()) return failed(under_test.status());
  const uint64_t first = options.seed;
  Totals totals;
  int done = 0;
  for (int n = 0; n < clouds && !(stop && totals.divergences != 0); ++n, ++options.seed, ++done) {
    if (n % kProgress == 0) fmt::print(stderr, "seed {}, cloud {} of {}\n", options.seed, n + 1, clouds);
    const absl::Status status = RunOne(**under_test, options, !stop, totals);
    if (!status.ok()) return failed(Annotate(status, fmt::format("seed {}", options.seed)));
  }
  fmt::print("{} clouds from seed {}, kinds {}: {} frames, {} divergences, {} clouds unstable\n", done, first,
             random::ToString(options.kinds), totals.frames, totals.divergences, totals.unstable);
  return totals.divergences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kasane::differential

int main(int argc, char** argv) { return kasane::differential::Main(argc, argv); }
