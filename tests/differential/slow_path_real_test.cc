// The slow path under load on a real switch: a port that asks 1,000 times a second gets its share of answers
// and takes none from another. Needs root and Open vSwitch's programs.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/status.h"
#include "tests/differential/switch_under_test.h"
#include "tests/random/random_cloud.h"

namespace kasane::differential {
namespace {

MacAddress MacOf(size_t n) { return MacAddress({0xfa, 0x16, 0x3e, 0, 0, static_cast<uint8_t>(n)}); }

// All ports on one network, with an IPv6 address each.
vswitch::HostView OneNetwork() {
  const NetworkId n("n");
  vswitch::HostView view;
  view.host = random::kHost;
  view.tunnel_addresses = random::OwnVteps();
  view.networks.emplace(n, vswitch::NetworkView{n, "n", *Vni::From(5), 1450, true, {}});
  for (const PortId& id : random::LocalPorts()) {
    const size_t number = view.ports.size() + 1;
    const IpAddress ip = *IpAddress::Parse(fmt::format("2001:db8::{}", number));
    view.ports.emplace(id, vswitch::LocalPort{id, id.str(), n, MacOf(number), {ip}, true, false, {}});
  }
  return view;
}

// Duplicate address detection for the last port's address.
frames::Bytes Probe(const vswitch::HostView& view, const PortId& from) {
  const IpAddress target = view.ports.rbegin()->second.ips.front();
  const IpAddress group = SolicitedNode(target);
  return frames::Solicitation({MulticastMac(group), view.ports.at(from).mac},
                              {*IpAddress::Parse("::"), group, 255}, target, nullptr);
}

TEST(SlowPathRealTest, AStormAtOnePortTakesNoAnswersFromAnother) {
  auto under_test = SwitchUnderTest::Start(
      {random::LocalPorts(), random::OwnVteps(), random::PeerVteps(), slowpath::RateLimit{}});
  ASSERT_TRUE(under_test.ok()) << Message(under_test.status());
  SwitchUnderTest& net = **under_test;
  const vswitch::HostView view = OneNetwork();
  const absl::Status applied = net.Apply(view);
  ASSERT_TRUE(applied.ok()) << Message(applied);

  const PortId storm = random::LocalPorts()[0];
  const PortId quiet = random::LocalPorts()[1];
  const int kMilliseconds = 2000;
  auto next = std::chrono::steady_clock::now();
  for (int ms = 0; ms < kMilliseconds; ++ms) {
    ASSERT_TRUE(net.Send(storm, Probe(view, storm)).ok());
    if (ms % 100 == 0) {
      ASSERT_TRUE(net.Send(quiet, Probe(view, quiet)).ok());
    }
    std::this_thread::sleep_until(next += std::chrono::milliseconds(1));  // This makes the rate.
  }
  const auto observed = net.Collect(quiet);
  ASSERT_TRUE(observed.ok()) << Message(observed.status());
  std::map<PortId, int> answers;
  for (const auto& [port, frame] : observed->local) ++answers[port];
  EXPECT_EQ(answers[quiet], kMilliseconds / 100);
  EXPECT_GE(answers[storm], 100) << "its burst";
  EXPECT_LE(answers[storm], 100 + 100 * 4) << "and 100 a second";
  EXPECT_EQ(answers.size(), 2U) << "nobody else hears of it";

  const auto drops = net.Drops();
  ASSERT_TRUE(drops.ok()) << Message(drops.status());
  EXPECT_EQ(drops->at(vswitch::DropReason::kSlowPathRate) + static_cast<uint64_t>(answers[storm]),
            static_cast<uint64_t>(kMilliseconds))
      << "every question is answered or counted";
}

}  // namespace
}  // namespace kasane::differential
