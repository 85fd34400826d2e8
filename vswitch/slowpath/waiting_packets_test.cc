#include "vswitch/slowpath/waiting_packets.h"

#include <gtest/gtest.h>

namespace kasane::slowpath {
namespace {

using Waiting = WaitingPackets<int>;

vswitch::Owner Port(const std::string& id) { return {vswitch::OwnerKind::kPort, id}; }
vswitch::ClaimKey Address(uint32_t n) { return {NetworkId("n"), IpAddress::V4(n)}; }

// Whether it found room, at nobody's cost.
bool Fits(Waiting& waiting, uint32_t address, const std::string& sender, int payload = 0) {
  return !waiting.Add(Address(address), {Port(sender), payload, Waiting::Time()});
}

TEST(WaitingPacketsTest, ThreeWaitForAnAddressAndNoMoreOfOneSender) {
  Waiting waiting;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Fits(waiting, 1, "a", i));
  const auto lost = waiting.Add(Address(1), {Port("a"), 3, Waiting::Time()});
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->payload, 3);
}

TEST(WaitingPacketsTest, AnotherSenderTakesThePlaceOfOneThatHasMore) {
  Waiting waiting;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Fits(waiting, 1, "a", i));
  const auto first = waiting.Add(Address(1), {Port("b"), 10, Waiting::Time()});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->sender, Port("a"));
  EXPECT_EQ(first->payload, 0) << "the oldest";
  const auto again = waiting.Add(Address(1), {Port("a"), 4, Waiting::Time()});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->payload, 4) << "who has more finds none";
  std::vector<int> left;
  for (const auto& packet : waiting.TakeKnown([](const auto&) { return true; })) left.push_back(packet.payload);
  EXPECT_EQ(left, (std::vector{1, 2, 10}));
  EXPECT_TRUE(waiting.empty());
}

TEST(WaitingPacketsTest, OneSenderHasItsShareAndNoMore) {
  Waiting waiting;
  for (uint32_t n = 0; n < Waiting::kPerSender; ++n) EXPECT_TRUE(Fits(waiting, n, "a"));
  EXPECT_FALSE(Fits(waiting, 1000, "a"));
  EXPECT_TRUE(Fits(waiting, 1000, "b"));
  EXPECT_EQ(waiting.TakeKnown([](const auto& address) { return address == Address(1); }).size(), 1U);
  EXPECT_TRUE(Fits(waiting, 1001, "a"));
}

TEST(WaitingPacketsTest, HoweverManySendersFillItAnotherOneFindsRoom) {
  Waiting waiting;
  uint32_t address = 0;
  size_t kept = 0;
  for (int sender = 0; sender < 200; ++sender) {
    for (size_t i = 0; i < 2 * Waiting::kPerSender; ++i)
      kept += Fits(waiting, ++address, std::to_string(sender)) ? 1 : 0;
  }
  EXPECT_LE(kept, Waiting::kTotal + 200);
  EXPECT_TRUE(Fits(waiting, ++address, "quiet"));
  EXPECT_EQ(waiting.TakeExpired(Waiting::Time()).size(), kept + 1);
  EXPECT_TRUE(waiting.empty());
  EXPECT_TRUE(Fits(waiting, 1, "quiet"));
}

}  // namespace
}  // namespace kasane::slowpath
