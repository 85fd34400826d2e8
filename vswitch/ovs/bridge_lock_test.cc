#include "vswitch/ovs/bridge_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/status.h"

namespace kasane::ovs {
namespace {

class BridgeLockTest : public ::testing::Test {
 protected:
  BridgeLockTest() {
    std::string directory = ::testing::TempDir() + "bridge_lock_XXXXXX";
    config_.run_dir = mkdtemp(directory.data());
  }
  ~BridgeLockTest() override { std::filesystem::remove_all(config_.run_dir); }

  OvsConfig config_;
};

TEST_F(BridgeLockTest, OneHolderPerBridge) {
  absl::StatusOr<std::unique_ptr<BridgeLock>> first = BridgeLock::Take(config_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_NE(*first, nullptr);

  const absl::Status second = BridgeLock::Take(config_).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Message(second), fmt::format("another kasaned (pid {}) works on bridge br-int of {}: stop it first",
                                         getpid(), config_.run_dir));

  OvsConfig other = config_;
  other.bridge = "br-other";
  EXPECT_TRUE(BridgeLock::Take(other).ok());

  first->reset();
  EXPECT_TRUE(BridgeLock::Take(config_).ok());
}

TEST_F(BridgeLockTest, WithoutARunDirectoryThereIsNothingToLock) {
  config_.run_dir += "/missing";
  const absl::StatusOr<std::unique_ptr<BridgeLock>> lock = BridgeLock::Take(config_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(*lock, nullptr);
  EXPECT_FALSE(std::filesystem::exists(config_.run_dir));
}

}  // namespace
}  // namespace kasane::ovs
