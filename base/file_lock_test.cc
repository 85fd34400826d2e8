#include "base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/status.h"

namespace kasane {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest() {
    std::string directory = testing::TempDir() + "file_lock_XXXXXX";
    directory_ = mkdtemp(directory.data());
    path_ = directory_ + "/lock";
  }
  ~FileLockTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  std::string path_;
};

TEST_F(FileLockTest, ASecondHolderIsToldOfTheFirst) {
  absl::StatusOr<FileLock> first = FileLock::Take(path_, 0600);
  ASSERT_TRUE(first.ok()) << first.status();
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  const absl::Status second = FileLock::Take(path_, 0600).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Message(second), fmt::format("pid {}", getpid()));
}

TEST_F(FileLockTest, IsHeldByWhoeverItWasMovedTo) {
  absl::StatusOr<FileLock> first = FileLock::Take(path_, 0600);
  ASSERT_TRUE(first.ok());
  {
    const FileLock moved = std::move(*first);
    EXPECT_FALSE(FileLock::Take(path_, 0600).ok());
  }
  EXPECT_TRUE(FileLock::Take(path_, 0600).ok());
}

TEST_F(FileLockTest, IsNeverALinkToSomethingElse) {
  std::filesystem::create_symlink(directory_ + "/victim", path_);
  EXPECT_EQ(FileLock::Take(path_, 0600).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/victim"));
}

TEST_F(FileLockTest, AMissingDirectoryIsTold) {
  EXPECT_EQ(FileLock::Take(directory_ + "/missing/lock", 0600).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace kasane
