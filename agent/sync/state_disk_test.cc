#include "agent/sync/state_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/sqlite.h"
#include "base/status.h"

namespace kasane::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

model::ResourceKey PortKey(const std::string& id) { return {model::Kind::kPort, id}; }

DiskChanges Put(const std::string& id, const std::string& bytes) {
  DiskChanges changes;
  changes.resources[PortKey(id)] = bytes;
  return changes;
}

class StateDiskTest : public ::testing::Test {
 protected:
  StateDiskTest() {
    std::string name = "/tmp/kasane_state_disk_XXXXXX";
    parent_ = mkdtemp(name.data());
    folder_ = parent_ + "/state";
    file_ = folder_ + "/agent.db";
  }
  ~StateDiskTest() override { std::filesystem::remove_all(parent_); }

  std::unique_ptr<StateDisk> Open() {
    auto disk = StateDisk::Open(folder_);
    EXPECT_TRUE(disk.ok()) << Message(disk.status());
    return disk.ok() ? *std::move(disk) : nullptr;
  }
  // What one holds that opens it now. What was written is there: closing writes it.
  DiskContent Reopen() { return Open()->Load(); }

  void Execute(const std::string& sql) {
    auto connection = sqlite::Connection::Open(file_);
    ASSERT_TRUE(connection.ok());
    const absl::Status status = connection->Execute(sql);
    ASSERT_TRUE(status.ok()) << Message(status);
  }

  std::string parent_;
  std::string folder_;
  std::string file_;
};

TEST_F(StateDiskTest, HoldsTheLastOfEachKey) {
  {
    auto disk = Open();
    EXPECT_THAT(disk->Load().resources, IsEmpty());
    disk->Write(Put("p1", "old"));
    disk->Write(Put("p2", "two"));
    DiskChanges changes = Put("p1", "new");
    changes.resources[PortKey("p2")] = std::nullopt;
    changes.resources[{model::Kind::kNetwork, "p1"}] = "net";
    changes.claims[AddressClaimId("n/10.0.0.1")] = "claim";
    changes.revision = "r7";
    disk->Write(std::move(changes));
  }
  const DiskContent content = Reopen();
  EXPECT_THAT(content.resources, UnorderedElementsAre("new", "net"));
  EXPECT_THAT(content.claims, ElementsAre("claim"));
  EXPECT_EQ(content.revision, "r7");
  EXPECT_THAT(content.losses, IsEmpty());
}

TEST_F(StateDiskTest, OnlyItsOwnerReadsIt) {
  Reopen();
  struct stat info = {};
  ASSERT_EQ(stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(StateDiskTest, TwoAgentsDoNotShareIt) {
  auto disk = Open();
  const auto second = StateDisk::Open(folder_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(Message(second.status()), HasSubstr("is used by another agent (pid "));
}

TEST_F(StateDiskTest, AFlippedBitCostsOnlyItsRow) {
  {
    auto disk = Open();
    disk->Write(Put("p1", "one"));
    disk->Write(Put("p2", "two"));
  }
  Execute("UPDATE rows SET value = 'onE' WHERE id = 'p1'");
  const DiskContent content = Reopen();
  EXPECT_THAT(content.resources, ElementsAre("two"));
  ASSERT_THAT(content.losses, SizeIs(1));
  EXPECT_THAT(content.losses[0], HasSubstr(file_ + ": damaged: port p1; it is kept as " + file_ + ".damaged"));
  EXPECT_THAT(Reopen().losses, IsEmpty()) << "named once: the row is gone";
}

TEST_F(StateDiskTest, ARowUnderAnotherKeyIsDamaged) {
  {
    auto disk = Open();
    disk->Write(Put("p1", "one"));
  }
  Execute("UPDATE rows SET id = 'p9'");
  const DiskContent content = Reopen();
  EXPECT_THAT(content.resources, IsEmpty());
  EXPECT_THAT(content.losses, SizeIs(1));
}

// Whatever length a crash of the file system leaves: what can be read stays, the rest is named, and the next
// write works.
TEST_F(StateDiskTest, ATruncatedFileIsNamedAndReplaced) {
  {
    auto disk = Open();
    for (int n = 0; n < 200; ++n) disk->Write(Put(fmt::format("p{:03}", n), std::string(300, 'x')));
  }
  const auto whole = std::filesystem::file_size(file_);
  ASSERT_GT(whole, 40'000U);
  const std::string copy = parent_ + "/copy";
  std::filesystem::copy_file(file_, copy);
  size_t losses = 0;
  for (uintmax_t size = 0; size < whole; size += 3'001) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::filesystem::copy_file(copy, file_);
    std::filesystem::resize_file(file_, size);
    DiskContent content;
    {
      auto disk = Open();
      ASSERT_NE(disk, nullptr) << size;
      content = disk->Load();
      disk->Write(Put("next", "next"));
    }
    losses += content.losses.size();
    EXPECT_LT(content.resources.size(), 200U) << size;
    EXPECT_EQ(content.losses.empty(), size == 0) << size << ": an empty file is a new one";
    const DiskContent after = Reopen();
    EXPECT_THAT(after.losses, IsEmpty()) << size;
    EXPECT_EQ(after.resources.size(), content.resources.size() + 1) << size;
  }
  EXPECT_GT(losses, 10U);
}

// Bytes changed anywhere in the file: never a crash, never a row that is not as it was written.
TEST_F(StateDiskTest, FlippedBytesNeverBecomeState) {
  {
    auto disk = Open();
    for (int n = 0; n < 100; ++n) disk->Write(Put(fmt::format("p{:03}", n), std::string(300, 'x')));
  }
  const std::string copy = parent_ + "/copy";
  std::filesystem::copy_file(file_, copy);
  const auto size = std::filesystem::file_size(file_);
  for (uintmax_t at = 0; at < size; at += 397) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::filesystem::copy_file(copy, file_);
    {
      std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file.put('\xa5');
    }
    const auto disk = StateDisk::Open(folder_);
    ASSERT_TRUE(disk.ok()) << at << ": " << Message(disk.status());
    for (const std::string& bytes : (*disk)->Load().resources) EXPECT_EQ(bytes, std::string(300, 'x')) << at;
  }
}

TEST_F(StateDiskTest, ANewerFormatIsKeptAsideAndNamed) {
  {
    auto disk = Open();
    disk->Write(Put("p1", "one"));
  }
  Execute("PRAGMA user_version = 2");
  const DiskContent content = Reopen();
  EXPECT_THAT(content.resources, IsEmpty());
  ASSERT_THAT(content.losses, SizeIs(1));
  EXPECT_THAT(content.losses[0],
              HasSubstr("it has format 2, and this kasaned knows 1; it is kept as " + file_ + ".newer"));
  EXPECT_TRUE(std::filesystem::exists(file_ + ".newer"));
}

TEST_F(StateDiskTest, AFolderThatCannotBeMadeIsNamed) {
  const auto disk = StateDisk::Open(parent_ + "/no/state");
  ASSERT_FALSE(disk.ok());
  EXPECT_THAT(Message(disk.status()),
              HasSubstr("state_dir " + parent_ + "/no/state cannot be made: No such file"));
}

// The writer is killed at some moment: what is there then is a state that was handed over whole.
TEST_F(StateDiskTest, AKilledWriterLeavesWholeWrites) {
  for (int round = 0; round < 5; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto disk = StateDisk::Open(folder_);
      if (!disk.ok()) _exit(1);
      for (int n = 0;; ++n) {
        DiskChanges changes = Put("p1", fmt::format("{}", n));
        changes.resources[PortKey("p2")] = fmt::format("{}", n);
        (*disk)->Write(std::move(changes));
        if (n == 2'000 * (round + 1) && write(ready[1], "x", 1) != 1) _exit(1);
      }
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const DiskContent content = Reopen();
    EXPECT_THAT(content.losses, IsEmpty());
    if (content.resources.empty()) continue;
    ASSERT_THAT(content.resources, SizeIs(2));
    EXPECT_EQ(content.resources[0], content.resources[1]);
  }
}

// A disk that cannot be written costs nothing but what it would hold: it is said, and tried again.
TEST_F(StateDiskTest, AWriteThatFailsIsTriedAgain) {
  auto opened = StateDisk::Open(folder_, {std::chrono::milliseconds(20), std::chrono::milliseconds(20)});
  ASSERT_TRUE(opened.ok());
  const auto& disk = *opened;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  {
    auto other = sqlite::Connection::Open(file_);
    ASSERT_TRUE(other.ok());
    auto transaction = sqlite::Transaction::Begin(*other);
    ASSERT_TRUE(transaction.ok());
    disk->Write(Put("p1", "one"));
    while (disk->Problem().empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_THAT(disk->Problem(), HasSubstr(file_ + " cannot be written: database is locked; trying again"));
    disk->Write(Put("p1", "two"));
  }
  while (!disk->Problem().empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(disk->Problem(), "");
  opened = absl::UnknownError("closed");
  EXPECT_THAT(Reopen().resources, ElementsAre("two"));
}

}  // namespace
}  // namespace kasane::agent
