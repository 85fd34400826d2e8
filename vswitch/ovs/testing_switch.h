// For tests: a real Open vSwitch in a network namespace of this process.
//
// Cleans up by itself: the namespaces are anonymous and end with their processes, the daemons end with the
// test process, whatever ends it, and the run directory goes with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kasane::ovs {

// Moves the calling thread, and all that start from it later, to a new network namespace with `lo` up. False
// if that is not permitted.
bool EnterNewNetworkNamespace();

// Runs a program to its end; its output. A failure is reported as a test failure with its output.
std::string RunCommand(const std::vector<std::string>& argv);

// A process of this test that ends with it.
class ChildProcess {
 public:
  ChildProcess() = default;
  // `environment`: further variables, "NAME=VALUE".
  ChildProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
               const std::string& log);
  ~ChildProcess() { Stop(9); }
  ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_) { other.pid_ = 0; }
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  void Stop(int signal);  // Returns when it has ended.
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

class TestingSwitch {
 public:
  TestingSwitch();  // With nothing running.
  ~TestingSwitch();
  TestingSwitch(const TestingSwitch&) = delete;
  TestingSwitch& operator=(const TestingSwitch&) = delete;

  void StartDatabase();  // Empty the first time, then as it was.
  void KillDatabase() { database_.Stop(9); }
  void StartSwitch();
  void KillSwitch() { switch_.Stop(9); }

  const std::string& run_dir() const { return run_dir_; }
  std::string Vsctl(std::vector<std::string> args) const;
  std::string Ofctl(const std::string& command, const std::vector<std::string>& args = {}) const;
  std::string Appctl(std::vector<std::string> args) const;

 private:
  std::vector<std::string> Environment() const;

  std::string run_dir_;
  ChildProcess database_;
  ChildProcess switch_;
};

}  // namespace kasane::ovs
