#include "tests/lab/down.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/lab/lock.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"
#include "tests/lab/up.h"
#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

constexpr int kPatienceMs = 3000;

// What still lives in the lab's namespaces, and the recorded daemons should these be gone.
std::vector<pid_t> ProcessesOf(const Layout& layout, const std::vector<std::string>& namespaces) {
  std::set<pid_t> processes;
  for (const pid_t pid : ProcessesIn(namespaces)) processes.insert(pid);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(layout.ProcessDir(), error)) {
    const pid_t pid = RecordedProcess(entry.path().string());
    if (pid != 0) processes.insert(pid);
  }
  return {processes.begin(), processes.end()};
}

}  // namespace

void TearDown(const Layout& layout) {
  const std::vector<std::string> namespaces = ListNetns(layout.NamespacePrefix());
  // Again, for what a process started before it ended.
  for (auto processes = ProcessesOf(layout, namespaces); !processes.empty();
       processes = ProcessesOf(layout, namespaces)) {
    EndProcesses(processes, kPatienceMs);
  }
  for (const std::string& name : namespaces) DeleteNetns(name).IgnoreError();  // Down() looks what is left.
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
