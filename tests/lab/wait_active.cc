#include "tests/lab/wait_active.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::steady_clock;

// The lab's recorded daemons, each with a descriptor that tells of its end.
class Daemons {
 public:
  explicit Daemons(const Layout& layout) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(layout.ProcessDir(), error)) {
      auto fd = OpenPidfd(RecordedProcess(entry.path().string()));
      if (fd.ok()) {
        names_.push_back(entry.path().filename().string());
        fds_.push_back({*fd, POLLIN, 0});
      } else {
        ended_ = entry.path().filename().string();
      }
    }
  }
  Daemons(const Daemons&) = delete;
  Daemons& operator=(const Daemons&) = delete;
  ~Daemons() {
    for (const pollfd& fd : fds_) close(fd.fd);
  }

  // Waits for the end of a daemon, for `fd` to become readable, or for the time.
  void Wait(int fd, std::chrono::milliseconds time) {
    std::vector<pollfd> all = fds_;
    all.push_back({fd, POLLIN, 0});
    poll(all.data(), all.size(), static_cast<int>(std::max<int64_t>(time.count(), 0)));
    for (size_t i = 0; i < fds_.size(); ++i) {
      if (all[i].revents != 0) ended_ = names_[i];
    }
  }

  // The name of one that ended, or empty.
  const std::string& ended() const { return ended_; }

 private:
  std::vector<std::string> names_;
  std::vector<pollfd> fds_;
  std::string ended_;
};

// "hv1-kasaned" wrote to hosts/hv1/kasaned.log.
std::string LogOf(const Layout& layout, const std::string& daemon) {
  if (daemon == "controller") return layout.ControllerLog();
  for (const std::string_view program : {"ovsdb-server", "ovs-vswitchd", "kasaned"}) {
    const std::string suffix = fmt::format("-{}", program);
    if (daemon.size() <= suffix.size() || daemon.substr(daemon.size() - suffix.size()) != suffix) continue;
    const std::string host = daemon.substr(0, daemon.size() - suffix.size());
    return program == "kasaned" ? layout.AgentLog(host)
                                : fmt::format("{}/{}.log", layout.OvsDir(host), program);
  }
  return layout.StateDir();
}

PortProgress ProgressOf(const std::map<PortId, PortProgress>& ports, const Vm& vm) {
  const auto found = ports.find(vm.port);
  return found == ports.end() ? PortProgress() : found->second;
}

size_t CountActive(const std::map<PortId, PortProgress>& ports, const LabPlan& plan) {
  return static_cast<size_t>(std::count_if(plan.vms.begin(), plan.vms.end(), [&](const Vm& vm) {
    return ProgressOf(ports, vm).state == PortState::kActive;
  }));
}

std::string DescribeInactive(const std::map<PortId, PortProgress>& ports, const Layout& layout,
                             const LabPlan& plan) {
  std::string text;
  for (size_t host = 0; host < plan.hosts.size(); ++host) {
    std::string inactive;
    for (const Vm& vm : plan.vms) {
      const PortProgress progress = ProgressOf(ports, vm);
      if (vm.host != host || progress.state == PortState::kActive) continue;
      inactive += fmt::format("  {} (port {}): {}\n", vm.node, vm.port, Label(progress.state));
      for (const std::string& rejection : progress.rejections)
        inactive += fmt::format("    refused by {}\n", rejection);
    }
    if (inactive.empty()) continue;
    text += fmt::format("not ACTIVE on {} (its agent's log: {}):\n{}", plan.hosts[host].node,
                        layout.AgentLog(plan.hosts[host].node), inactive);
  }
  return text + fmt::format(
                    "`kasane-lab --name {} exec HOST kasanectl status` says what an agent lacks; the "
                    "controller's log: {}",
                    layout.name(), layout.ControllerLog());
}

void ShowProgress(size_t active, size_t total) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} of {} ports ACTIVE{}", active, total, active == total ? "\n" : "");
  std::fflush(stderr);
}

}  // namespace

absl::Status WaitUntilActive(const ControllerClient& client, const Layout& layout, const LabPlan& plan,
                             std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  Daemons daemons(layout);
  PortWatch watch(client);
  while (true) {
    const auto ports = watch.Take();
    const size_t active = CountActive(ports, plan);
    ShowProgress(active, plan.vms.size());
    if (active == plan.vms.size()) return absl::OkStatus();
    if (!daemons.ended().empty()) {
      const std::string log = LogOf(layout, daemons.ended());
      return Error(absl::StatusCode::kAborted, "{} ended; its log {} ends with:\n{}", daemons.ended(), log,
                   TailOfFile(log, 5));
    }
    RETURN_IF_ERROR(watch.status());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      return Error(absl::StatusCode::kDeadlineExceeded, "{} of {} ports ACTIVE after {} s\n{}", active,
                   plan.vms.size(), std::chrono::duration_cast<std::chrono::seconds>(deadline).count(),
                   DescribeInactive(ports, layout, plan));
    }
    daemons.Wait(watch.fd(), left);
  }
}

}  // namespace kasane::lab
