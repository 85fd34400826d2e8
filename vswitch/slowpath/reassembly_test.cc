#include "vswitch/slowpath/reassembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "vswitch/packet/testing/frames.h"

namespace kasane::slowpath {
namespace {

using Frames = std::vector<frames::Bytes>;
using Time = Reassembly::Time;

const MacAddress kVm({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kGateway({0xfa, 0x16, 0x3e, 0, 0, 0xfe});

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

frames::Bytes Echo(bool v4, size_t data) {
  return v4 ? frames::Echo({kGateway, kVm}, {Ip("10.0.0.1"), Ip("10.0.0.254"), 64}, 1, data)
            : frames::Echo({kGateway, kVm}, {Ip("2001:db8::1"), Ip("2001:db8::fe"), 64}, 1, data);
}

SlowPathPacket Part(const frames::Bytes& frame, const char* port = "vm") {
  return {SlowPathCause::kEcho, PortId(port), std::nullopt, NetworkId("n"), RouterId("r"), 0, frame};
}

size_t CountOf(const std::vector<Reassembly::Lost>& lost) {
  size_t count = 0;
  for (const Reassembly::Lost& one : lost) count += one.fragments;
  return count;
}

// The datagram of `id`, its middle cut out.
Frames Datagram(bool v4, uint32_t id) { return frames::Fragments(Echo(v4, 88), 32, id); }

class BothFamiliesTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Reassembly, BothFamiliesTest, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "V4" : "V6"; });

TEST_P(BothFamiliesTest, IsWholeWithTheLastFragmentWhicheverItIs) {
  const Frames parts = Datagram(GetParam(), 9);
  ASSERT_EQ(parts.size(), 3U);
  std::vector<size_t> order = {0, 1, 2};
  do {
    Reassembly reassembly;
    EXPECT_FALSE(reassembly.Add(Part(parts[order[0]]), Time()).whole);
    EXPECT_FALSE(reassembly.Add(Part(parts[order[1]]), Time()).whole);
    const auto outcome = reassembly.Add(Part(parts[order[2]]), Time());
    ASSERT_TRUE(outcome.whole);
    frames::Bytes expected = Echo(GetParam(), 88);
    if (GetParam()) expected = frames::Fragments(expected, 1024, 9)[0];  // With that id.
    EXPECT_EQ(outcome.whole->frame, expected);
    EXPECT_EQ(outcome.whole->router, RouterId("r"));
    EXPECT_EQ(outcome.whole->reassembled, (Reassembled{9, GetParam() ? 52U : 80U}));
    EXPECT_TRUE(outcome.lost.empty());
    EXPECT_FALSE(reassembly.NextExpiry()) << "nothing is left";
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(BothFamiliesTest, OverlappingFragmentsCostTheDatagramWithWhatIsStillToCome) {
  const Frames parts = Datagram(GetParam(), 9);
  const frames::Bytes wide = frames::Fragments(Echo(GetParam(), 88), 40, 9)[0];
  Reassembly reassembly;
  EXPECT_TRUE(reassembly.Add(Part(parts[1]), Time()).lost.empty());
  EXPECT_EQ(CountOf(reassembly.Add(Part(wide), Time()).lost), 2U);
  for (const frames::Bytes& part : parts) {
    const auto outcome = reassembly.Add(Part(part), Time());
    EXPECT_FALSE(outcome.whole);
    EXPECT_EQ(CountOf(outcome.lost), 1U);
  }
  EXPECT_TRUE(reassembly.TakeExpired(Time() + kReassemblyTimeout).empty())
      << "counted already, and nobody is told";
  for (const frames::Bytes& part : parts) reassembly.Add(Part(part), Time());
  EXPECT_FALSE(reassembly.NextExpiry()) << "the id is free again";
}

TEST_P(BothFamiliesTest, OneThatComesTwiceIsOnlyDiscarded) {
  const Frames parts = Datagram(GetParam(), 9);
  Reassembly reassembly;
  for (const size_t n : {size_t{2}, size_t{0}}) {
    reassembly.Add(Part(parts[n]), Time());
    EXPECT_EQ(CountOf(reassembly.Add(Part(parts[n]), Time()).lost), 1U);
  }
  EXPECT_TRUE(reassembly.Add(Part(parts[1]), Time()).whole);
}

TEST_P(BothFamiliesTest, TheSamePlaceWithOtherBytesIsNoDuplicate) {
  const Frames parts = Datagram(GetParam(), 9);
  frames::Bytes other = parts[1];
  other.back() ^= 1;
  Reassembly reassembly;
  reassembly.Add(Part(parts[1]), Time());
  EXPECT_EQ(CountOf(reassembly.Add(Part(other), Time()).lost), 2U);
}

TEST_P(BothFamiliesTest, ADatagramEndsOnce) {
  const Frames longer = Datagram(GetParam(), 9);
  const Frames shorter = frames::Fragments(Echo(GetParam(), 40), 32, 9);
  Reassembly two_ends;
  two_ends.Add(Part(longer[2]), Time());
  EXPECT_EQ(CountOf(two_ends.Add(Part(shorter[1]), Time()).lost), 2U);
  Reassembly behind_the_end;
  behind_the_end.Add(Part(shorter[1]), Time());
  EXPECT_EQ(CountOf(behind_the_end.Add(Part(longer[2]), Time()).lost), 2U);
}

TEST_P(BothFamiliesTest, AllButTheLastHaveAMultipleOfEightBytes) {
  frames::Bytes part = Datagram(GetParam(), 9)[0];
  part.pop_back();
  part[GetParam() ? 17 : 19] -= 1;  // Of its length.
  Reassembly reassembly;
  EXPECT_EQ(CountOf(reassembly.Add(Part(part), Time()).lost), 1U);
  EXPECT_FALSE(reassembly.NextExpiry());
}

TEST_P(BothFamiliesTest, WhatNeverIsWholeIsGivenUpAndItsSenderIsTold) {
  const Frames parts = Datagram(GetParam(), 9);
  Reassembly reassembly;
  reassembly.Add(Part(parts[1]), Time());
  reassembly.Add(Part(parts[0]), Time() + std::chrono::seconds(1));
  EXPECT_EQ(reassembly.NextExpiry(), Time() + kReassemblyTimeout) << "from the one that came first";
  EXPECT_TRUE(reassembly.TakeExpired(Time() + kReassemblyTimeout - std::chrono::milliseconds(1)).empty());
  const auto lost = reassembly.TakeExpired(Time() + kReassemblyTimeout);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].sender, vswitch::PortOwner(PortId("vm")));
  EXPECT_EQ(lost[0].fragments, 2U);
  ASSERT_TRUE(lost[0].first);
  EXPECT_EQ(lost[0].first->frame, parts[0]);
  EXPECT_FALSE(reassembly.NextExpiry());

  reassembly.Add(Part(parts[1]), Time());
  EXPECT_FALSE(reassembly.TakeExpired(Time() + kReassemblyTimeout).at(0).first) << "the first never came";
}

TEST_P(BothFamiliesTest, PortsAndNetworksAndRoutersHaveNothingInCommon) {
  const Frames parts = Datagram(GetParam(), 9);
  Reassembly reassembly;
  SlowPathPacket in_another_network = Part(parts[1]);
  in_another_network.network = NetworkId("m");
  SlowPathPacket at_another_router = Part(parts[1]);
  at_another_router.router = RouterId("q");
  reassembly.Add(Part(parts[0]), Time());
  reassembly.Add(Part(parts[2]), Time());
  EXPECT_FALSE(reassembly.Add(Part(parts[1], "other"), Time()).whole);
  EXPECT_FALSE(reassembly.Add(in_another_network, Time()).whole);
  EXPECT_FALSE(reassembly.Add(at_another_router, Time()).whole);
  EXPECT_TRUE(reassembly.Add(Part(parts[1]), Time()).whole);
}

TEST_P(BothFamiliesTest, APortBeyondItsShareLosesItsOldest) {
  Reassembly reassembly;
  const auto first = [](uint32_t id) { return Datagram(GetParam(), id)[0]; };
  reassembly.Add(Part(first(0), "other"), Time());
  for (uint32_t id = 0; id < Reassembly::kPerSender; ++id) {
    EXPECT_TRUE(reassembly.Add(Part(first(id)), Time()).lost.empty());
  }
  const auto lost = reassembly.Add(Part(first(1000)), Time()).lost;
  ASSERT_EQ(CountOf(lost), 1U);
  EXPECT_EQ(lost[0].sender, vswitch::PortOwner(PortId("vm")));
  const auto rest = [&](uint32_t id, const char* port) {
    const Frames parts = Datagram(GetParam(), id);
    reassembly.Add(Part(parts[1], port), Time());
    return reassembly.Add(Part(parts[2], port), Time()).whole.has_value();
  };
  EXPECT_TRUE(rest(0, "other"));
  EXPECT_TRUE(rest(1000, "vm"));
  EXPECT_TRUE(rest(1, "vm"));
  EXPECT_FALSE(rest(0, "vm")) << "it was the oldest";
}

TEST_P(BothFamiliesTest, OthersLeaveRoomForOneOfEach) {
  Reassembly reassembly;
  for (size_t port = 0; port < 3 * Reassembly::kTotal; ++port) {
    for (uint32_t id = 0; id < Reassembly::kPerSender; ++id) {
      const std::string name = "flood" + std::to_string(port);
      reassembly.Add(Part(Datagram(GetParam(), id)[0], name.c_str()), Time());
    }
  }
  const Frames parts = Datagram(GetParam(), 5);
  reassembly.Add(Part(parts[0]), Time());
  reassembly.Add(Part(parts[1]), Time());
  EXPECT_TRUE(reassembly.Add(Part(parts[2]), Time()).whole);
}

TEST_P(BothFamiliesTest, ADatagramOfTooManyFragmentsIsRefused) {
  const Frames parts = frames::Fragments(Echo(GetParam(), 8 * Reassembly::kFragments), 8, 9);
  ASSERT_EQ(parts.size(), Reassembly::kFragments + 1);
  Reassembly reassembly;
  for (size_t n = 0; n < Reassembly::kFragments; ++n) {
    EXPECT_TRUE(reassembly.Add(Part(parts[n]), Time()).lost.empty());
  }
  const auto outcome = reassembly.Add(Part(parts.back()), Time());
  EXPECT_FALSE(outcome.whole);
  EXPECT_EQ(CountOf(outcome.lost), parts.size());
}

TEST_P(BothFamiliesTest, TheLargestDatagramFits) {
  // 65,535 bytes count the header in IPv4, not in IPv6.
  const size_t data = (GetParam() ? 65535 - 20 : 65535) - 8;
  const Frames parts = frames::Fragments(Echo(GetParam(), data), 1232, 9);
  Reassembly reassembly;
  for (const frames::Bytes& part : parts) {
    const auto outcome = reassembly.Add(Part(part), Time());
    EXPECT_EQ(outcome.whole.has_value(), &part == &parts.back());
  }
}

TEST_P(BothFamiliesTest, NothingIsLongerThanALengthCanSay) {
  // Its last fragment ends behind 65,535 bytes of data; in IPv4 the header makes it too long before that.
  Frames parts = frames::Fragments(Echo(GetParam(), 65520), 1472, 9);
  Reassembly reassembly;
  bool whole = false;
  for (frames::Bytes& part : parts) {
    if (&part == &parts.back()) {
      part.resize(part.size() + 64);
      const size_t length = part.size() - (GetParam() ? 14 : 54);
      part[GetParam() ? 16 : 18] = static_cast<uint8_t>(length >> 8);
      part[GetParam() ? 17 : 19] = static_cast<uint8_t>(length);
    }
    whole = reassembly.Add(Part(part), Time()).whole || whole;
  }
  EXPECT_FALSE(whole);
}

TEST(ReassemblyTest, AnAtomicFragmentIsWholeAndLeavesOthersOfItsIdAlone) {
  const Frames parts = Datagram(false, 9);
  frames::Bytes atomic = parts[0];
  atomic[14 + 40 + 3] = 2;  // A reserved bit: else it would be no fragment at all (RFC 6946).
  Reassembly reassembly;
  reassembly.Add(Part(parts[0]), Time());
  reassembly.Add(Part(parts[1]), Time());
  const auto outcome = reassembly.Add(Part(atomic), Time());
  ASSERT_TRUE(outcome.whole);
  EXPECT_EQ(outcome.whole->frame.size(), atomic.size() - 8);
  EXPECT_TRUE(reassembly.Add(Part(parts[2]), Time()).whole);
}

TEST(ReassemblyTest, HeadersBeforeTheFragmentHeaderStay) {
  Frames parts = Datagram(false, 9);
  for (frames::Bytes& part : parts) {  // Destination options, of padding.
    const frames::Bytes options = {44, 0, 1, 4, 0, 0, 0, 0};
    part.insert(part.begin() + 54, options.begin(), options.end());
    part[20] = 60;
    part[19] = static_cast<uint8_t>(part[19] + 8);
  }
  Reassembly reassembly;
  reassembly.Add(Part(parts[0]), Time());
  reassembly.Add(Part(parts[1]), Time());
  const auto outcome = reassembly.Add(Part(parts[2]), Time());
  ASSERT_TRUE(outcome.whole);
  const packet::Packet whole(outcome.whole->frame);
  EXPECT_EQ(whole.frame()[20], 60);
  EXPECT_EQ(whole.frame()[54], packet::kProtoIcmpv6);
  EXPECT_FALSE(whole.fragment());
  EXPECT_TRUE(whole.icmpv6_checksum_right());
}

TEST(ReassemblyTest, ForgetsThoseThatAreGone) {
  const Frames parts = Datagram(true, 9);
  Reassembly reassembly;
  for (const char* port : {"vm", "other"}) {
    reassembly.Add(Part(parts[0], port), Time());
    reassembly.Add(Part(parts[1], port), Time());
  }
  reassembly.Forget([](const vswitch::Owner& sender) { return sender.id == "vm"; });
  EXPECT_TRUE(reassembly.Add(Part(parts[2], "other"), Time()).whole);
  EXPECT_FALSE(reassembly.Add(Part(parts[2], "vm"), Time()).whole);
}

// A datagram of a random size from a port, cut anywhere.
struct Sent {
  std::string port;
  frames::Bytes whole;
  Frames parts;
};

class RandomFragmentsTest : public ::testing::Test {
 protected:
  size_t Below(size_t n) { return static_cast<size_t>(random_() % n); }

  Sent Send(uint32_t id) {
    const bool v4 = Below(2) == 0;
    frames::Bytes echo = Echo(v4, 16 + Below(480));
    echo.back() = static_cast<uint8_t>(random_());
    if (v4) echo = frames::Fragments(echo, 1024, id)[0];  // With that id.
    // In two parts at least.
    const size_t units = (echo.size() - (v4 ? 34 : 54) - 1) / 8;
    return {"vm" + std::to_string(Below(3)), echo, frames::Fragments(echo, 8 * (1 + Below(units)), id)};
  }

  std::mt19937_64 random_{7};
  Reassembly reassembly_;
  Time now_;
};

// Fragments of several datagrams mixed, repeated and left out: those that are all there come out as they were
// sent, and of the others each fragment is lost, once.
TEST_F(RandomFragmentsTest, MakeWhatWasSent) {
  size_t wholes = 0;
  for (uint32_t round = 0; round < 2000; ++round) {
    std::vector<std::pair<std::string, frames::Bytes>> wire;
    std::multiset<frames::Bytes> expected;
    size_t to_lose = 0;
    for (uint32_t n = 0; n < 1 + Below(Reassembly::kPerSender); ++n) {
      const Sent sent = Send(100 * round + n);
      const size_t missing = Below(3) == 0 ? Below(sent.parts.size()) : sent.parts.size();
      const bool complete = missing == sent.parts.size();
      if (complete) expected.insert(sent.whole);
      if (!complete) to_lose += sent.parts.size() - 1;
      for (size_t part = 0; part < sent.parts.size(); ++part) {
        if (part != missing) wire.emplace_back(sent.port, sent.parts[part]);
      }
      // Again before it can be whole: behind that it would begin another.
      if (complete || Below(4) != 0) continue;
      wire.emplace_back(sent.port, sent.parts[missing == 0 ? 1 : 0]);
      ++to_lose;
    }
    std::shuffle(wire.begin(), wire.end(), random_);
    std::multiset<frames::Bytes> seen;
    size_t lost = 0;
    for (const auto& [port, part] : wire) {
      Reassembly::Outcome outcome = reassembly_.Add(Part(part, port.c_str()), now_);
      lost += CountOf(outcome.lost);
      if (outcome.whole) seen.insert(std::move(outcome.whole->frame));
    }
    now_ += kReassemblyTimeout;
    lost += CountOf(reassembly_.TakeExpired(now_));
    ASSERT_EQ(seen, expected) << "round " << round;
    ASSERT_EQ(lost, to_lose) << "round " << round;
    ASSERT_FALSE(reassembly_.NextExpiry());
    wholes += seen.size();
  }
  EXPECT_GT(wholes, 2000U);
}

// A few ids only, bytes that are changed anywhere, and more at a time than there is room for: what comes out is
// well-formed, no fragment is lost twice, and nothing stays.
TEST_F(RandomFragmentsTest, OfAnyKindDoNoHarm) {
  size_t added = 0;
  size_t lost = 0;
  size_t wholes = 0;
  for (int step = 0; step < 20000; ++step) {
    const Sent sent = Send(static_cast<uint32_t>(Below(6)));
    const size_t count = Below(4) == 0 ? 1 + Below(sent.parts.size()) : sent.parts.size();
    for (size_t n = 0; n < count; ++n) {
      frames::Bytes part = sent.parts[n];
      if (Below(40) == 0) part[14 + Below(part.size() - 14)] ^= static_cast<uint8_t>(1 + Below(255));
      if (Below(40) == 0) part.resize(14 + Below(part.size() - 14));
      ++added;
      const Reassembly::Outcome outcome = reassembly_.Add(Part(part, sent.port.c_str()), now_);
      lost += CountOf(outcome.lost);
      if (!outcome.whole) continue;
      ++wholes;
      const packet::Packet whole(outcome.whole->frame);
      ASSERT_TRUE(whole.has_ip());
      ASSERT_EQ(whole.frame().size(), 14 + whole.ip_packet().size());
    }
    now_ += std::chrono::seconds(Below(10));
    lost += CountOf(reassembly_.TakeExpired(now_));
  }
  lost += CountOf(reassembly_.TakeExpired(now_ + kReassemblyTimeout));
  EXPECT_FALSE(reassembly_.NextExpiry());
  EXPECT_GT(wholes, 1000U);
  EXPECT_GT(lost, 1000U);
  EXPECT_LE(lost + wholes, added);
}

}  // namespace
}  // namespace kasane::slowpath
