#include "vswitch/ovs/testing_switch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace kasane::ovs {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the child between fork and exec.
[[noreturn]] void Exec(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                       int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(argv[0].c_str(), Pointers(argv).data());
  _exit(127);
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  return text;
}

}  // namespace

bool EnterNewNetworkNamespace() {
  if (unshare(CLONE_NEWNET) != 0) return false;
  RunCommand({"ip", "link", "set", "lo", "up"});
  return true;
}

std::string RunCommand(const std::vector<std::string>& argv) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe";
    return "";
  }
  const pid_t pid = fork();
  if (pid == 0) Exec(argv, {}, fds[1]);
  close(fds[1]);
  std::string output = ReadAll(fds[0]);
  close(fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) {
    std::string line;
    for (const std::string& word : argv) line += word + " ";
    ADD_FAILURE() << line << "failed: " << output;
  }
  return output;
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                           const std::string& log) {
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  pid_ = fork();
  if (pid_ == 0) Exec(argv, environment, output);
  close(output);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  Stop(SIGKILL);
  pid_ = std::exchange(other.pid_, 0);
  return *this;
}

void ChildProcess::Stop(int signal) {
  if (pid_ <= 0) return;
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

TestingSwitch::TestingSwitch() {
  std::string path = fmt::format("/tmp/kasane-ovstest-{}-XXXXXX", getpid());
  if (mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << path;
  run_dir_ = path;
}

TestingSwitch::~TestingSwitch() {
  switch_.Stop(SIGTERM);
  database_.Stop(SIGTERM);
  std::error_code ignored;
  std::filesystem::remove_all(run_dir_, ignored);
}

std::vector<std::string> TestingSwitch::Environment() const {
  return {"OVS_RUNDIR=" + run_dir_, "OVS_LOGDIR=" + run_dir_, "OVS_DBDIR=" + run_dir_};
}

void TestingSwitch::StartDatabase() {
  const std::string db = run_dir_ + "/conf.db";
  if (!std::filesystem::exists(db)) {
    RunCommand({"ovsdb-tool", "create", db, "/usr/share/openvswitch/vswitch.ovsschema"});
  }
  database_ = ChildProcess({"ovsdb-server", db, "--remote=punix:" + run_dir_ + "/db.sock", "--pidfile"},
                           Environment(), run_dir_ + "/ovsdb-server.log");
  Vsctl({"--retry", "--no-wait", "init"});
}

void TestingSwitch::StartSwitch() {
  switch_ = ChildProcess({"ovs-vswitchd", "unix:" + run_dir_ + "/db.sock", "--pidfile"}, Environment(),
                         run_dir_ + "/ovs-vswitchd.log");
}

std::string TestingSwitch::Vsctl(std::vector<std::string> args) const {
  std::vector<std::string> argv = {"ovs-vsctl", "--timeout=20", "--db=unix:" + run_dir_ + "/db.sock"};
  argv.insert(argv.end(), args.begin(), args.end());
  return RunCommand(argv);
}

std::string TestingSwitch::Ofctl(const std::string& command, const std::vector<std::string>& args) const {
  std::vector<std::string> argv = {"ovs-ofctl", "-O", "OpenFlow15", command,
                                   "unix:" + run_dir_ + "/br-int.mgmt"};
  argv.insert(argv.end(), args.begin(), args.end());
  return RunCommand(argv);
}

std::string TestingSwitch::Appctl(std::vector<std::string> args) const {
  std::vector<std::string> argv = {"ovs-appctl", "--timeout=20", "-t",
                                   fmt::format("{}/ovs-vswitchd.{}.ctl", run_dir_, switch_.pid())};
  argv.insert(argv.end(), args.begin(), args.end());
  return RunCommand(argv);
}

}  // namespace kasane::ovs
