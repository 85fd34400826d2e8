#include "tests/lab/status.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/lab/controller_client.h"
#include "tests/lab/layout.h"
#include "tests/lab/netns.h"
#include "tests/lab/plan.h"
#include "tests/lab/process.h"
#include "tests/lab/topology.h"
#include "tests/lab/up.h"

namespace kasane::lab {
namespace {

constexpr std::chrono::milliseconds kStatusDeadline{3000};

std::string DaemonText(const Layout& layout, const std::string& name) {
  const pid_t pid = RecordedProcess(layout.ProcessDir() + "/" + name);
  return pid == 0 ? "gone" : fmt::format("pid {}", pid);
}

std::string VmNames(const LabPlan& plan, size_t host) {
  std::string names;
  for (const Vm& vm : plan.vms) {
    if (vm.host == host) names += (names.empty() ? "" : " ") + vm.node;
  }
  return names;
}

// What the controller tells; without an answer from it the rest of the status still stands.
struct Reported {
  absl::Status status;
  std::map<std::string, HostProgress> hosts;
  std::map<PortId, PortProgress> ports;
};

Reported AskController(const Layout& layout) {
  Reported reported;
  reported.status = EnterNetns(layout.Namespace(kFabricNode));
  if (!reported.status.ok()) return reported;
  ControllerClient client(ControllerEndpoint());
  auto hosts = client.Hosts(kStatusDeadline);
  reported.status = hosts.status();
  if (!hosts.ok()) return reported;
  for (HostProgress& host : *hosts) reported.hosts[host.id] = host;
  auto ports = client.Ports(kStatusDeadline);
  reported.status = ports.status();
  if (ports.ok()) reported.ports = std::move(*ports);
  return reported;
}

std::string HostText(const Layout& layout, const LabPlan& plan, size_t index, const Reported& reported) {
  const Hypervisor& host = plan.hosts[index];
  const auto found = reported.hosts.find(host.node);
  const bool connected = found != reported.hosts.end() && found->second.connected;
  size_t total = 0;
  size_t active = 0;
  for (const Vm& vm : plan.vms) {
    if (vm.host != index) continue;
    ++total;
    const auto port = reported.ports.find(vm.port);
    if (port != reported.ports.end() && port->second.state == PortState::kActive) ++active;
  }
  return fmt::format(
      "{}  VTEP {}, kasaned {} ({}), ovs-vswitchd {}, ovsdb-server {}, {} of {} ports ACTIVE\n    VMs: {}\n    "
      "logs: {}\n",
      host.node, host.vtep.address(), DaemonText(layout, host.node + "-kasaned"),
      connected ? "connected" : "not connected", DaemonText(layout, host.node + "-ovs-vswitchd"),
      DaemonText(layout, host.node + "-ovsdb-server"), active, total, VmNames(plan, index),
      layout.HostDir(host.node));
}

}  // namespace

absl::StatusOr<std::string> StatusText(const std::string& lab) {
  const Layout layout(lab);
  if (!Exists(lab)) return Error(absl::StatusCode::kNotFound, "lab \"{}\" is not up", lab);
  const std::string name = ReadFile(layout.TopologyNameFile()).value_or("?");
  auto topology = LoadTopology(layout.TopologyFile());
  if (!topology.ok()) {
    return Error(absl::StatusCode::kDataLoss,
                 "lab \"{0}\" was left half built: `kasane-lab --name {0} down` removes it", lab);
  }
  ASSIGN_OR_RETURN(const LabPlan plan, MakePlan(topology->state));
  const Reported reported = AskController(layout);
  std::string text =
      fmt::format("lab \"{}\", topology {}\ncontroller  {} at {}, log {}\n", lab, name,
                  DaemonText(layout, "controller"), ControllerEndpoint(), layout.ControllerLog());
  if (!reported.status.ok()) text += fmt::format("    {}\n", Message(reported.status));
  for (size_t i = 0; i < plan.hosts.size(); ++i) text += HostText(layout, plan, i, reported);
  return text;
}

}  // namespace kasane::lab
