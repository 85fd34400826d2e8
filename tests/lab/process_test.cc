#include "tests/lab/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/status.h"

namespace kasane::lab {
namespace {

using ::testing::HasSubstr;

std::string TemporaryFile(const std::string& name) {
  return fmt::format("{}kasane-lab-test-{}-{}", ::testing::TempDir(), getpid(), name);
}

Command Shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  return command;
}

TEST(RunTest, ReturnsOutputAndFeedsInput) {
  Command command = Shell("tr a-z A-Z; echo $WHO");
  command.input = "hello ";
  command.environment = {"WHO=world"};
  EXPECT_EQ(*lab::Run(command), "HELLO world\n");
}

TEST(RunTest, AFailureCarriesTheCommandAndWhatItSaid) {
  const auto result = lab::Run(Shell("echo no such bridge >&2; exit 3"));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(Message(result.status()), HasSubstr("no such bridge"));
  EXPECT_THAT(Message(result.status()), HasSubstr("/bin/sh -c"));
}

TEST(RunTest, SaysWhatCannotBeExecuted) {
  Command command;
  command.argv = {"/no/such/program"};
  EXPECT_THAT(Message(lab::Run(command).status()), HasSubstr("/no/such/program: No such file"));
  command = Shell("true");
  command.netns = "no-such-namespace";
  EXPECT_THAT(Message(lab::Run(command).status()), HasSubstr("in namespace no-such-namespace"));
}

TEST(RunTest, TheProgramDoesNotOutliveItsCaller) {
  const std::string fifo = TemporaryFile("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const pid_t caller = fork();
  if (caller == 0) {
    lab::Run(Shell("echo $$ >" + fifo + "; exec sleep 1000")).IgnoreError();
    _exit(0);
  }
  pid_t program = 0;
  std::ifstream(fifo) >> program;
  const auto end = OpenPidfd(program);
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  ASSERT_TRUE(end.ok()) << end.status();
  pollfd ended = {*end, POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10000), 1);
  close(*end);
  std::filesystem::remove(fifo);
}

TEST(ProcessesTest, AreRecordedAndEnded) {
  const std::string record = TemporaryFile("record");
  // It does not end by SIGTERM.
  const auto pid = Start(Shell("trap '' TERM; exec sleep 1000"));
  ASSERT_TRUE(pid.ok()) << pid.status();
  ASSERT_TRUE(RecordProcess(record, *pid).ok());
  EXPECT_EQ(RecordedProcess(record), *pid);
  EndProcesses({*pid}, 50);
  EXPECT_EQ(RecordedProcess(record), 0) << "a record of a dead process that was not reaped yet";
  std::filesystem::remove(record);
}

TEST(ProcessesTest, ARecordDoesNotMatchALaterProcessWithTheSameNumber) {
  const std::string record = TemporaryFile("stale");
  ASSERT_TRUE(WriteFile(record, fmt::format("{} 1\n", getpid())).ok());
  EXPECT_EQ(RecordedProcess(record), 0);
  std::filesystem::remove(record);
}

TEST(TailOfFileTest, IsTheLastLines) {
  const std::string file = TemporaryFile("tail");
  ASSERT_TRUE(WriteFile(file, "1\n2\n3\n").ok());
  EXPECT_EQ(TailOfFile(file, 2), "2\n3\n");
  EXPECT_EQ(TailOfFile(file, 9), "1\n2\n3\n");
  EXPECT_EQ(TailOfFile("/no/such/file", 2), "");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kasane::lab
