// Programs that the lab runs: to their end, or as daemons of a lab that `down` finds again.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace kasane::lab {

struct Command {
  std::vector<std::string> argv;         // argv[0] is a path.
  std::string netns;                     // Network namespace to run in. Empty: the caller's.
  std::vector<std::string> environment;  // "NAME=value", beside the caller's.
  std::string input;                     // Standard input (Run only).
  std::string log;                       // Start only: where output is appended.
  int inherited_fd = -1;                 // Start only: stays open in the program, under the same number.
};

// Path of a program: beside this executable, then in PATH and the sbin directories. The error says what
// installs it.
absl::StatusOr<std::string> FindProgram(const std::string& name);

// Directory of this executable.
std::string OwnDirectory();

// Runs to the end and returns standard output. An error if it exits with other than 0: the message has the
// command and what it printed. The program is killed if the calling thread dies before it ends. Any thread.
absl::StatusOr<std::string> Run(const Command& command);

// Starts a daemon in its own session. An error if it cannot be executed. Any thread.
absl::StatusOr<pid_t> Start(const Command& command);

// Writes a record that tells this process from a later one with the same number.
absl::Status RecordProcess(const std::string& path, pid_t pid);
// The process that `path` records, or 0 if it is gone.
pid_t RecordedProcess(const std::string& path);

// Ends these processes: SIGTERM, and SIGKILL to those that remain after `patience_ms`. Returns when all are
// gone.
void EndProcesses(const std::vector<pid_t>& processes, int patience_ms);

// Every process of this machine but the calling one. Each may be gone by now.
std::vector<pid_t> OtherProcesses();

// A descriptor that becomes readable when the process ends. The caller closes it.
absl::StatusOr<int> OpenPidfd(pid_t pid);

absl::Status WriteFile(const std::string& path, std::string_view text);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The last `lines` lines; empty if it cannot be read.
std::string TailOfFile(const std::string& path, int lines);

}  // namespace kasane::lab
