#include "vswitch/ovs/openflow/handler_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace kasane::ovs {
namespace {

// This process, under the name of another.
class HandlerThreadsTest : public ::testing::Test {
 protected:
  HandlerThreadsTest() {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ + "/ovs-vswitchd.pid") << getpid() << "\n";
    pthread_getname_np(pthread_self(), name_, sizeof name_);
  }
  ~HandlerThreadsTest() override {
    pthread_setname_np(pthread_self(), name_);
    std::filesystem::remove_all(directory_);
  }

  const std::string directory_ = ::testing::TempDir() + "/handlers." + std::to_string(getpid());
  char name_[16] = {};
};

TEST_F(HandlerThreadsTest, AreCountedByName) {
  pthread_setname_np(pthread_self(), "ovs-vswitchd");
  EXPECT_EQ(CountHandlerThreads(directory_), 0);
  std::promise<void> named;
  std::promise<void> done;
  std::thread handler([&] {
    pthread_setname_np(pthread_self(), "handler7");
    named.set_value();
    done.get_future().wait();
  });
  named.get_future().wait();
  EXPECT_EQ(CountHandlerThreads(directory_), 1);
  done.set_value();
  handler.join();
}

TEST_F(HandlerThreadsTest, OfAnotherProgramOrNoneAreUnknown) {
  EXPECT_EQ(CountHandlerThreads(directory_), std::nullopt) << "the number is of another program by now";
  EXPECT_EQ(CountHandlerThreads(directory_ + "/none"), std::nullopt);
}

}  // namespace
}  // namespace kasane::ovs
