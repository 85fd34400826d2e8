#include "base/loop_thread.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <future>

namespace kasane {
namespace {

TEST(LoopThreadTest, WakesTheLoopAndEndsIt) {
  std::promise<void> second;
  int rounds = 0;
  LoopThread thread;
  ASSERT_TRUE(thread.valid());
  thread.Start([&] {
    while (!thread.stopping()) {
      thread.Drain();
      if (++rounds == 2) second.set_value();
      pollfd fd{.fd = thread.wake_fd(), .events = POLLIN, .revents = 0};
      poll(&fd, 1, -1);
    }
  });
  thread.Wake();
  // The first round may have taken the first one.
  std::future<void> done = second.get_future();
  while (done.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout) thread.Wake();
  thread.Stop();
  thread.Stop();
  EXPECT_GE(rounds, 2);
}

TEST(LoopThreadTest, StoppedBeforeItStartsIsNoThread) {
  LoopThread thread;
  thread.Stop();
  EXPECT_TRUE(thread.stopping());
}

}  // namespace
}  // namespace kasane
