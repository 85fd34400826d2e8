#include "agent/reconcile/event_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

namespace kasane::agent {
namespace {

TEST(EventQueueTest, KeepsOrderAndOneDatapathChanged) {
  EventQueue queue;
  queue.Push(DatapathChanged{});
  queue.Push(StreamOpened{1});
  queue.Push(DatapathChanged{});
  queue.Push(StreamClosed{1, {}});
  std::optional<std::vector<Event>> events = queue.TakeAll(std::nullopt);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3);
  EXPECT_TRUE(std::holds_alternative<DatapathChanged>((*events)[0]));
  EXPECT_TRUE(std::holds_alternative<StreamOpened>((*events)[1]));
  EXPECT_TRUE(std::holds_alternative<StreamClosed>((*events)[2]));

  queue.Push(DatapathChanged{});
  events = queue.TakeAll(std::nullopt);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->size(), 1) << "one that comes after the last was taken is new";
}

AddressAnnounced By(const std::string& port) {
  return {{NetworkId("n"), *IpAddress::Parse("10.0.0.1"), MacAddress(), PortId(port)}};
}

TEST(EventQueueTest, AFloodOfAnnouncementsCostsNoOtherPortItsOwn) {
  EventQueue queue;
  for (int i = 0; i < 5000; ++i) queue.Push(By("flooding"));
  EXPECT_EQ(queue.TakeAll(std::nullopt)->size(), EventQueue::kMaxAnnouncementsOfPort);
  for (int port = 0; port < 100; ++port) {
    for (int i = 0; i < 500; ++i) queue.Push(By(std::to_string(port)));
  }
  queue.Push(By("failing-over"));
  const auto events = queue.TakeAll(std::nullopt);
  EXPECT_LE(events->size(), EventQueue::kMaxAnnouncements + 101);
  EXPECT_EQ(std::get<AddressAnnounced>(events->back()).announcement.port, PortId("failing-over"));
}

TEST(EventQueueTest, DeadlineGivesAnEmptyListAndCloseGivesNone) {
  EventQueue queue;
  const std::optional<std::vector<Event>> events = queue.TakeAll(EventQueue::Clock::now());
  ASSERT_TRUE(events);
  EXPECT_TRUE(events->empty());

  std::thread closer([&queue] { queue.Close(); });
  EXPECT_FALSE(queue.TakeAll(std::nullopt).has_value());
  closer.join();
  queue.Push(DatapathChanged{});
  EXPECT_FALSE(queue.TakeAll(std::nullopt).has_value());
}

}  // namespace
}  // namespace kasane::agent
