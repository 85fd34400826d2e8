#include "agent/admin/admin_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/status.h"

namespace kasane::agent {
namespace {

using ::testing::HasSubstr;

class AdminSocketTest : public ::testing::Test {
 protected:
  AdminSocketTest() {
    std::string name = "/tmp/kasane_admin_socket_XXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ + "/run/agent.sock";
  }
  ~AdminSocketTest() override { std::filesystem::remove_all(directory_); }

  // A socket that listens at path_.
  int Listen() {
    std::filesystem::create_directories(directory_ + "/run");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }

  std::string directory_;
  std::string path_;
};

TEST_F(AdminSocketTest, MakesTheDirectory) {
  EXPECT_TRUE(AdminSocket::Claim(path_).ok());
  struct stat info {};
  ASSERT_EQ(stat((directory_ + "/run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755);
}

TEST_F(AdminSocketTest, RemovesAStaleSocket) {
  close(Listen());
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_TRUE(AdminSocket::Claim(path_).ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(AdminSocketTest, ALiveSocketIsNamedWithItsPid) {
  const int fd = Listen();
  const absl::Status status = AdminSocket::Claim(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Message(status), HasSubstr("admin socket " + path_ + " in use by another kasaned (pid " +
                                         std::to_string(getpid())));
  EXPECT_TRUE(std::filesystem::exists(path_));
  close(fd);
}

TEST_F(AdminSocketTest, AFileThatIsNoSocketIsLeftAlone) {
  std::filesystem::create_directories(directory_ + "/run");
  std::ofstream(path_) << "precious";
  EXPECT_THAT(Message(AdminSocket::Claim(path_).status()), HasSubstr("a file that is no socket"));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(AdminSocketTest, OneClaimAtATime) {
  auto first = AdminSocket::Claim(path_);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(Message(AdminSocket::Claim(path_).status()), HasSubstr("just starting"));
  first->reset();
  EXPECT_TRUE(AdminSocket::Claim(path_).ok());
}

TEST_F(AdminSocketTest, ADirectoryThatCannotBeMadeIsNamed) {
  std::ofstream(directory_ + "/run") << "a file";
  EXPECT_THAT(Message(AdminSocket::Claim(path_).status()), HasSubstr("directory " + directory_ + "/run"));
}

}  // namespace
}  // namespace kasane::agent
