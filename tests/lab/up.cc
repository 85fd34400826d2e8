#include "tests/lab/up.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/lab/controller_client.h"
#include "tests/lab/down.h"
#include "tests/lab/hypervisor.h"
#include "tests/lab/layout.h"
#include "tests/lab/links.h"
#include "tests/lab/lock.h"
#include "tests/lab/netns.h"
#include "tests/lab/plan.h"
#include "tests/lab/process.h"
#include "tests/lab/programs.h"
#include "tests/lab/sysctls.h"
#include "tests/lab/topology.h"
#include "tests/lab/vm.h"
#include "tests/lab/wait_active.h"

namespace kasane::lab {
namespace {

constexpr std::chrono::seconds kControllerDeadline{20};
constexpr std::chrono::seconds kActiveDeadline{60};

absl::Status RunIp(const Programs& programs, const std::string& netns, std::string batch) {
  Command command;
  command.argv = {programs.ip, "-batch", "-"};
  command.netns = netns;
  command.input = std::move(batch);
  return Run(command).status();
}

absl::Status MakeStateDir(const Layout& layout, const std::string& name, const std::string& text) {
  std::error_code error;
  for (const std::string& directory : {layout.ProcessDir(), layout.ControllerDir()}) {
    std::filesystem::create_directories(directory, error);
    if (error) return Error(absl::StatusCode::kInternal, "{}: {}", directory, error.message());
  }
  RETURN_IF_ERROR(WriteFile(layout.TopologyFile(), text));
  return WriteFile(layout.TopologyNameFile(), name);
}

absl::Status BuildNetworks(const Layout& layout, const LabPlan& plan, const Programs& programs) {
  RETURN_IF_ERROR(RunIp(programs, "", NamespaceBatch(layout, plan)));
  RETURN_IF_ERROR(SetSysctls(layout, plan));
  RETURN_IF_ERROR(RunIp(programs, "", LinkBatch(layout, plan)));
  return RunIp(programs, layout.Namespace(kFabricNode), FabricBatch(plan));
}

}  // namespace

absl::Status StartController(const Layout& layout, const Programs& programs) {
  Command command;
  command.argv = {
      programs.controller, "--listen", ControllerEndpoint(), "--store", layout.ControllerDir() + "/store.db",
      "--insecure"};
  command.netns = layout.Namespace(kFabricNode);
  command.log = layout.ControllerLog();
  ASSIGN_OR_RETURN(const pid_t pid, Start(command));
  return RecordProcess(layout.ProcessDir() + "/controller", pid);
}

namespace {

// All hypervisors and all VMs at once: most of it is waiting for programs.
absl::Status StartNodes(const Layout& layout, const LabPlan& plan, const Programs& programs,
                        Responders responders) {
  std::vector<absl::Status> statuses(plan.hosts.size() + 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < plan.hosts.size(); ++i) {
    threads.emplace_back([&, i] { statuses[i] = StartHypervisor(layout, plan, plan.hosts[i], programs); });
  }
  statuses.back() = StartVms(layout, plan, programs, responders);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status ApplyTopology(ControllerClient& client, const Layout& layout, const files::ResourceFile& file) {
  auto faults = client.Apply(file, kControllerDeadline);
  if (!faults.ok()) {
    return Error(faults.status().code(), "{}\nits log {} ends with:\n{}", Message(faults.status()),
                 layout.ControllerLog(), TailOfFile(layout.ControllerLog(), 5));
  }
  if (faults->empty()) return absl::OkStatus();
  std::string message;
  for (const model::Fault& fault : *faults) {
    message += fmt::format("{}{}: {}", message.empty() ? "" : "\n", file.name, ToString(fault));
  }
  return absl::InvalidArgumentError(Absl(message));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControllerClient>> Build(const Layout& layout, const LabPlan& plan,
                                                        const files::ResourceFile& file,
                                                        const std::string& text, const Programs& programs,
                                                        Responders responders) {
  RETURN_IF_ERROR(MakeStateDir(layout, file.name, text));
  RETURN_IF_ERROR(BuildNetworks(layout, plan, programs));
  RETURN_IF_ERROR(StartController(layout, programs));
  RETURN_IF_ERROR(StartNodes(layout, plan, programs, responders));
  RETURN_IF_ERROR(EnterNetns(layout.Namespace(kFabricNode)));
  auto client = std::make_unique<ControllerClient>(ControllerEndpoint());
  RETURN_IF_ERROR(ApplyTopology(*client, layout, file));
  return client;
}

bool Exists(const std::string& lab) {
  const Layout layout(lab);
  return std::filesystem::exists(layout.StateDir()) || !ListNetns(layout.NamespacePrefix()).empty();
}

absl::Status Up(const UpOptions& options) {
  const Layout layout(options.lab);
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Programs programs, FindPrograms());
  ASSIGN_OR_RETURN(const Topology topology, LoadTopology(options.topology));
  for (const std::string& line : topology.left_out) fmt::print(stderr, "left out: {}\n", line);
  auto planned = MakePlan(topology.state);
  if (!planned.ok()) return Annotate(planned.status(), options.topology);
  for (Hypervisor& host : planned->hosts) host.datapath_type = options.datapath_type;
  const LabPlan& plan = *planned;
  ASSIGN_OR_RETURN(LabLock lock, LabLock::Take(layout));
  if (Exists(options.lab)) {
    return Error(absl::StatusCode::kAlreadyExists,
                 "lab \"{0}\" is up already, or left over: `kasane-lab --name {0} down` removes it",
                 options.lab);
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(options.topology));
  auto client = Build(layout, plan, topology.file, text, programs, Responders::kProcesses);
  if (!client.ok()) {
    TearDown(layout);
    lock.RemoveFile();
    return client.status();
  }
  if (options.wait) RETURN_IF_ERROR(WaitUntilActive(**client, layout, plan, kActiveDeadline));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(stderr, "lab \"{}\": {} hypervisors and {} VMs up in {:.1f} s\n", options.lab, plan.hosts.size(),
             plan.vms.size(), took.count());
  return absl::OkStatus();
}

}  // namespace kasane::lab
