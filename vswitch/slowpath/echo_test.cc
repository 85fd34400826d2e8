// An echo request to a router that came in fragments, from the first of them to the answer.
#include <gtest/gtest.h>

#include <string>

#include "vswitch/packet/testing/frames.h"
#include "vswitch/slowpath/reassembly.h"
#include "vswitch/slowpath/testing/fake_facts.h"

namespace kasane::slowpath {
namespace {

IpAddress Ip(const std::string& text) { return *IpAddress::Parse(text); }

const MacAddress kVm({0xfa, 0x16, 0x3e, 0, 0, 1});
const MacAddress kGateway({0xfa, 0x16, 0x3e, 0, 0, 0xfe});
const RouterId kRouter("r");

FakeFacts Facts() {
  FakeFacts facts;
  facts.routers[kRouter] = {{PortId("r-n"),
                             NetworkId("n"),
                             kGateway,
                             {{Ip("10.0.0.254"), 24}, {Ip("2001:db8::fe"), 64}},
                             IpAddress::LinkLocal(kGateway)}};
  return facts;
}

SlowPathPacket Part(const frames::Bytes& frame) {
  return {SlowPathCause::kEcho, PortId("vm"), std::nullopt, NetworkId("n"), kRouter, 0, frame};
}

// What comes of the last of `parts`.
SlowPathOutcome Ask(const FakeFacts& facts, const std::vector<frames::Bytes>& parts) {
  Reassembly reassembly;
  SlowPathOutcome outcome;
  for (const frames::Bytes& part : parts) {
    outcome = HandleSlowPath(facts, Part(part));
    if (!outcome.is_part) return outcome;
    if (const auto whole = reassembly.Add(Part(part), {}).whole) return HandleSlowPath(facts, *whole);
  }
  return outcome;
}

frames::Bytes Request(const std::string& from, const std::string& to, size_t data) {
  return frames::Echo({kGateway, kVm}, {Ip(from), Ip(to), 9}, 1, data);
}

std::vector<frames::Bytes> FramesOf(const SlowPathOutcome& outcome) {
  std::vector<frames::Bytes> frames;
  for (const Injection& injection : outcome.injections) frames.push_back(injection.frame);
  return frames;
}

// The answer to frames::Echo, by the helper that makes frames for tests.
frames::Bytes Reply(const std::string& from, const std::string& to, size_t data) {
  const frames::Bytes request = frames::Echo({kVm, kGateway}, {Ip(from), Ip(to), 64}, 1, data);
  const bool v4 = Ip(from).is_v4();
  frames::Bytes message(request.begin() + (v4 ? 34 : 54), request.end());
  message[0] = v4 ? 0 : 129;
  return frames::Packet({kVm, kGateway}, {Ip(from), Ip(to), 64}, v4 ? 1 : 58, message);
}

TEST(EchoTest, TheAnswerIsRoutedInFragmentsLikeThoseOfTheQuestion) {
  for (const auto& [from, to] :
       {std::pair("10.0.0.1", "10.0.0.254"), std::pair("2001:db8::1", "2001:db8::fe")}) {
    const SlowPathOutcome outcome = Ask(Facts(), frames::Fragments(Request(from, to, 3000), 1400, 0x123));
    EXPECT_EQ(FramesOf(outcome), frames::Fragments(Reply(to, from, 3000), 1400, 0x123));
    for (const Injection& injection : outcome.injections) {
      EXPECT_EQ(injection.router, kRouter);
      EXPECT_FALSE(injection.port);
    }
    EXPECT_FALSE(outcome.drop);
  }
}

TEST(EchoTest, NoFragmentIsLargerThanTheNetworkThatItGoesBackOn) {
  FakeFacts facts = Facts();
  facts.mtus[{kRouter, Ip("10.0.0.1")}] = 20 + 600;
  facts.mtus[{kRouter, Ip("2001:db8::1")}] = 48 + 607;
  for (const auto& [from, to] :
       {std::pair("10.0.0.1", "10.0.0.254"), std::pair("2001:db8::1", "2001:db8::fe")}) {
    const SlowPathOutcome outcome = Ask(facts, frames::Fragments(Request(from, to, 3000), 1400));
    EXPECT_EQ(FramesOf(outcome), frames::Fragments(Reply(to, from, 3000), 600));
  }
  // One that any link takes, whatever is said of it.
  facts.mtus[{kRouter, Ip("10.0.0.1")}] = 0;
  EXPECT_EQ(FramesOf(Ask(facts, frames::Fragments(Request("10.0.0.1", "10.0.0.254", 200), 104))),
            frames::Fragments(Reply("10.0.0.254", "10.0.0.1", 200), 48));
}

TEST(EchoTest, OnALinkItGoesBackToWhereItCameFrom) {
  const std::string own = IpAddress::LinkLocal(kGateway).ToString();
  const std::string vm = IpAddress::LinkLocal(kVm).ToString();
  for (const auto& [from, to] : {std::pair(vm, own), std::pair(vm, std::string("2001:db8::fe")),
                                 std::pair(std::string("2001:db8::1"), own)}) {
    const SlowPathOutcome outcome = Ask(Facts(), frames::Fragments(Request(from, to, 3000), 1232));
    EXPECT_EQ(FramesOf(outcome), frames::Fragments(Reply(to, from, 3000), 1232)) << from << " to " << to;
    for (const Injection& injection : outcome.injections) EXPECT_EQ(injection.port, PortId("vm"));
  }
}

TEST(EchoTest, OptionsAndExtensionHeadersAreNotGivenBack) {
  std::vector<frames::Bytes> parts = frames::Fragments(Request("2001:db8::1", "2001:db8::fe", 100), 64);
  for (frames::Bytes& part : parts) {
    const frames::Bytes options = {44, 0, 1, 4, 0, 0, 0, 0};
    part.insert(part.begin() + 54, options.begin(), options.end());
    part[20] = 60;
    part[19] = static_cast<uint8_t>(part[19] + 8);
  }
  // The largest was 8 bytes larger than those of the answer need be.
  EXPECT_EQ(FramesOf(Ask(Facts(), parts)), frames::Fragments(Reply("2001:db8::fe", "2001:db8::1", 100), 72));
}

TEST(EchoTest, WhatIsNoEchoRequestForTheRouterIsDropped) {
  const auto drop = [](const std::vector<frames::Bytes>& parts) { return Ask(Facts(), parts).drop; };
  const auto udp = frames::Udp({kGateway, kVm}, {Ip("2001:db8::1"), Ip("2001:db8::fe"), 9}, 1, 2, 100);
  EXPECT_EQ(drop(frames::Fragments(udp, 64)), vswitch::DropReason::kRouterLocal);
  EXPECT_EQ(drop(frames::Fragments(Request("10.0.0.1", "10.0.0.253", 100), 64)),
            vswitch::DropReason::kRouterLocal);
  EXPECT_EQ(drop({Request("10.0.0.1", "10.0.0.254", 100)}), vswitch::DropReason::kRouterLocal) << "no fragment";
  EXPECT_EQ(drop({frames::Bytes()}), vswitch::DropReason::kRouterLocal);
}

TEST(EchoTest, WhatDoesNotFitItsChecksumIsDropped) {
  for (const auto& [from, to] :
       {std::pair("10.0.0.1", "10.0.0.254"), std::pair("2001:db8::1", "2001:db8::fe")}) {
    std::vector<frames::Bytes> parts = frames::Fragments(Request(from, to, 100), 64);
    parts.back().back() ^= 1;
    const SlowPathOutcome outcome = Ask(Facts(), parts);
    EXPECT_EQ(outcome.drop, vswitch::DropReason::kMalformed);
    EXPECT_TRUE(outcome.injections.empty());
  }
}

TEST(EchoTest, TheSenderOfWhatNeverWasWholeIsTold) {
  const auto error = [](const std::string& from, const std::string& to) {
    SlowPathPacket first = Part(frames::Fragments(Request(from, to, 100), 64)[0]);
    first.cause = SlowPathCause::kReassemblyTime;
    return HandleSlowPath(Facts(), first);
  };
  const packet::Packet v4(error("10.0.0.1", "10.0.0.254").injections.at(0).frame);
  EXPECT_EQ(v4.icmp_type(), 11);
  EXPECT_EQ(v4.icmp_code(), 1);
  EXPECT_EQ(v4.icmp_message()[8 + 8], 9) << "the TTL as it came";
  const packet::Packet v6(error("2001:db8::1", "2001:db8::fe").injections.at(0).frame);
  EXPECT_EQ(v6.icmp_type(), 3);
  EXPECT_EQ(v6.icmp_code(), 1);
  EXPECT_TRUE(error(IpAddress::LinkLocal(kVm).ToString(), "2001:db8::fe").injections.empty())
      << "nothing is routed to a link-local address";
}

}  // namespace
}  // namespace kasane::slowpath
