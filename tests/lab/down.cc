#include "tests/lab/down.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tests/lab/lock.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"
#include "tests/lab/up.h"

namespace kasane::lab {
namespace {

constexpr int kPatienceMs = 3000;
// Each pass ends all that it finds; more than a few mean that somebody makes things as fast as they go.
constexpr int kMaxPasses = 50;

// True for the command line, as in /proc/PID/cmdline, of a daemon that names `directory` in its arguments.
// A user's `tail` of a log in it is none.
bool IsDaemonOf(const std::string& command_line, const std::string& directory) {
  constexpr std::string_view kDaemons[] = {"kasane-controller", "kasaned", "ovs-vswitchd", "ovsdb-server"};
  const std::string program = std::filesystem::path(command_line.c_str()).filename().string();
  const bool responder = program == "kasane-lab" && command_line.find("--lab-dir") != std::string::npos;
  return (responder || std::count(std::begin(kDaemons), std::end(kDaemons), program) != 0) &&
         command_line.find(directory) != std::string::npos;
}

// The lab's daemons wherever they live: also those in a namespace that lost its name.
std::vector<pid_t> DaemonsOf(const Layout& layout) {
  const std::string directory = layout.StateDir() + "/";
  std::vector<pid_t> processes;
  for (const pid_t pid : OtherProcesses()) {
    const auto command_line = ReadFile(fmt::format("/proc/{}/cmdline", pid));
    if (command_line.ok() && IsDaemonOf(*command_line, directory)) processes.push_back(pid);
  }
  return processes;
}

// What lives in the lab's namespaces, and its daemons should these be gone.
std::vector<pid_t> ProcessesOf(const Layout& layout, const std::vector<std::string>& namespaces) {
  std::set<pid_t> processes;
  for (const pid_t pid : ProcessesIn(namespaces)) processes.insert(pid);
  for (const pid_t pid : DaemonsOf(layout)) processes.insert(pid);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(layout.ProcessDir(), error)) {
    const pid_t pid = RecordedProcess(entry.path().string());
    if (pid != 0) processes.insert(pid);
  }
  return {processes.begin(), processes.end()};
}

}  // namespace

void TearDown(const Layout& layout) {
  // Again, for what a process made or started before it ended. Down() looks what is left.
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const std::vector<std::string> namespaces = ListNetns(layout.NamespacePrefix());
    const std::vector<pid_t> processes = ProcessesOf(layout, namespaces);
    if (namespaces.empty() && processes.empty()) break;
    EndProcesses(processes, kPatienceMs);
    if (!processes.empty()) continue;
    for (const std::string& name : namespaces) DeleteNetns(name).IgnoreError();
  }
  std::error_code ignored;
  std::filesystem::remove_all(layout.StateDir(), ignored);
}

absl::Status Down(const std::string& lab) {
  const Layout layout(lab);
  ASSIGN_OR_RETURN(LabLock lock, LabLock::Take(layout));
  TearDown(layout);
  if (Exists(lab)) {
    return Error(absl::StatusCode::kInternal, "lab \"{}\" could not be removed: look at {} and /run/netns/{}*",
                 lab, layout.StateDir(), layout.NamespacePrefix());
  }
  lock.RemoveFile();
  return absl::OkStatus();
}

}  // namespace kasane::lab
