#include "base/backoff.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kasane {
namespace {

using std::chrono::milliseconds;

const BackoffOptions kOptions{milliseconds(250), milliseconds(30'000)};

TEST(BackoffTest, CeilingDoublesUpToTheMaximum) {
  EXPECT_EQ(Backoff::Ceiling(kOptions, 0), milliseconds(250));
  EXPECT_EQ(Backoff::Ceiling(kOptions, 1), milliseconds(500));
  EXPECT_EQ(Backoff::Ceiling(kOptions, 6), milliseconds(16'000));
  EXPECT_EQ(Backoff::Ceiling(kOptions, 7), milliseconds(30'000));
  EXPECT_EQ(Backoff::Ceiling(kOptions, 1'000'000), milliseconds(30'000));
}

TEST(BackoffTest, JitterIsFullAndResetStartsOver) {
  Backoff backoff(kOptions, 1);
  for (int i = 0; i < 20; ++i) {
    const milliseconds wait = backoff.Next();
    EXPECT_GE(wait, milliseconds(0));
    EXPECT_LE(wait, Backoff::Ceiling(kOptions, i));
  }
  bool low = false;
  bool high = false;
  for (int i = 0; i < 100; ++i) {
    const milliseconds wait = backoff.Next();
    low |= wait < milliseconds(10'000);
    high |= wait > milliseconds(20'000);
  }
  EXPECT_TRUE(low && high);
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(250));
}

}  // namespace
}  // namespace kasane
