#include "tests/lab/hypervisor.h"

#include <charconv>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/lab/links.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

constexpr char kSchema[] = "/usr/share/openvswitch/vswitch.ovsschema";

// Open vSwitch's daemons put themselves in the background when they are ready, and write their own number.
absl::Status RecordOvsDaemon(const Layout& layout, const std::string& host, const std::string& name) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(fmt::format("{}/{}.pid", layout.OvsDir(host), name)));
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return RecordProcess(fmt::format("{}/{}-{}", layout.ProcessDir(), host, name), pid);
}

class HostStarter {
 public:
  HostStarter(const Layout& layout, const LabPlan& plan, const Hypervisor& host, const Programs& programs)
      : layout_(layout), plan_(plan), host_(host), programs_(programs), ovs_(layout.OvsDir(host.node)) {}

  // The control sockets keep their default names, by which the agent and ovs-appctl(8) find them.
  absl::Status StartSwitch() {
    RETURN_IF_ERROR(RunHere({programs_.ovsdb_tool, "create", ovs_ + "/conf.db", kSchema}));
    RETURN_IF_ERROR(RunHere({programs_.ovsdb_server, ovs_ + "/conf.db", "--remote=punix:" + ovs_ + "/db.sock",
                             "--pidfile=" + ovs_ + "/ovsdb-server.pid",
                             "--log-file=" + ovs_ + "/ovsdb-server.log", "--no-chdir", "--detach"}));
    RETURN_IF_ERROR(RecordOvsDaemon(layout_, host_.node, "ovsdb-server"));
    // One thread of each kind is enough for a hypervisor of a lab, and many share this machine.
    RETURN_IF_ERROR(
        RunHere({programs_.ovs_vsctl, Database(), "--no-wait", "--", "init", "--", "set", "open_vswitch", ".",
                 "external_ids:system-id=" + host_.node, "external_ids:hostname=" + host_.node,
                 "other_config:n-handler-threads=1", "other_config:n-revalidator-threads=1"}));
    return StartVswitchd(layout_, host_.node, programs_);
  }

  absl::Status Plug() {
    std::vector<std::string> argv = {programs_.ovs_vsctl, Database(), "--timeout=30"};
    for (std::string& argument : PlugArguments(plan_, host_)) argv.push_back(std::move(argument));
    RETURN_IF_ERROR(RunHere(std::move(argv)));
    if (host_.vtep.family() == IpFamily::kV6) RETURN_IF_ERROR(AllowIpv6OnUnderlay());
    return RunHere({programs_.ip, "-batch", "-"}, VtepBatch(host_));
  }

  absl::Status SetUpLinks() { return RunHere({programs_.ip, "-batch", "-"}, HypervisorBatch(plan_, host_)); }

 private:
  std::string Database() const { return "--db=unix:" + ovs_ + "/db.sock"; }

  // The other links of a hypervisor stay without it (sysctls.cc).
  absl::Status AllowIpv6OnUnderlay() const {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout_.Namespace(host_.node)));
    return SetSysctl(fmt::format("ipv6/conf/{}/disable_ipv6", UnderlayOwner(host_)), "0");
  }

  absl::Status RunHere(std::vector<std::string> argv, std::string input = "") const {
    Command command;
    command.argv = std::move(argv);
    command.netns = layout_.Namespace(host_.node);
    command.environment = HypervisorEnvironment(layout_, host_.node);
    command.input = std::move(input);
    return Run(command).status();
  }

  const Layout& layout_;
  const LabPlan& plan_;
  const Hypervisor& host_;
  const Programs& programs_;
  const std::string ovs_;
};

}  // namespace

std::string AgentConfigText(const Layout& layout, const Hypervisor& host) {
  return fmt::format(
      "host_id: \"{}\"\n"
      "controller: {}\n"
      "insecure: true  # The management network is a bridge in the lab's own namespace.\n"
      "tunnel_addresses: [\"{}\"]\n"
      "admin_socket: {}\n"
      "state_dir: {}\n"
      "datapath:\n"
      "  type: ovs\n"
      "  ovs_run_dir: {}\n"
      "  bridge: br-int\n"
      "  datapath_type: {}\n"
      "log:\n"
      "  level: info\n"
      "  format: text\n",
      host.node, ControllerEndpoint(), host.vtep.address(), layout.AgentSocket(host.node),
      layout.HostDir(host.node) + "/state", layout.OvsDir(host.node), host.datapath_type);
}

std::vector<std::string> PlugArguments(const LabPlan& plan, const Hypervisor& host) {
  std::vector<std::string> arguments;
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  if (host.datapath_type == "netdev") {
    add({"--", "add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev",
         fmt::format("other_config:hwaddr=\"{}\"", host.vtep_mac), "--", "add-port", "br-phy", "eth0"});
  }
  add({"--", "--may-exist", "add-br", "br-int", "--", "set", "bridge", "br-int",
       "datapath_type=" + host.datapath_type, "fail_mode=secure"});
  for (const Vm& vm : plan.vms) {
    if (plan.hosts[vm.host].node != host.node) continue;
    for (std::string& argument : PlugVmArguments(vm)) arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::vector<std::string> PlugVmArguments(const Vm& vm) {
  return {"--",
          "--may-exist",
          "add-port",
          "br-int",
          vm.interface,
          "--",
          "set",
          "interface",
          vm.interface,
          fmt::format("external_ids:iface-id=\"{}\"", vm.port),
          fmt::format("external_ids:attached-mac=\"{}\"", vm.mac),
          "external_ids:iface-status=active",
          fmt::format("external_ids:vm-id=\"{}\"", vm.node)};
}

std::vector<std::string> HypervisorEnvironment(const Layout& layout, const std::string& host) {
  const std::string ovs = layout.OvsDir(host);
  return {"OVS_RUNDIR=" + ovs, "OVS_LOGDIR=" + ovs, "OVS_DBDIR=" + ovs,
          "KASANE_AGENT=" + layout.AgentSocket(host)};
}

absl::Status StartVswitchd(const Layout& layout, const std::string& host, const Programs& programs) {
  const std::string ovs = layout.OvsDir(host);
  Command command;
  command.argv = {programs.ovs_vswitchd,
                  "unix:" + ovs + "/db.sock",
                  "--pidfile=" + ovs + "/ovs-vswitchd.pid",
                  "--log-file=" + ovs + "/ovs-vswitchd.log",
                  "--no-chdir",
                  "--detach"};
  command.netns = layout.Namespace(host);
  command.environment = HypervisorEnvironment(layout, host);
  RETURN_IF_ERROR(Run(command).status());
  return RecordOvsDaemon(layout, host, "ovs-vswitchd");
}

absl::Status StartAgent(const Layout& layout, const std::string& host, const std::string& agent_program) {
  Command command;
  command.argv = {agent_program, "--config", layout.AgentConfig(host)};
  command.netns = layout.Namespace(host);
  command.environment = HypervisorEnvironment(layout, host);
  command.log = layout.AgentLog(host);
  ASSIGN_OR_RETURN(const pid_t pid, Start(command));
  return RecordProcess(fmt::format("{}/{}-kasaned", layout.ProcessDir(), host), pid);
}

absl::Status StartHypervisor(const Layout& layout, const LabPlan& plan, const Hypervisor& host,
                             const Programs& programs) {
  std::error_code error;
  std::filesystem::create_directories(layout.OvsDir(host.node), error);
  std::filesystem::create_directories(layout.HostDir(host.node) + "/state", error);
  if (error) return Error(absl::StatusCode::kInternal, "{}: {}", layout.HostDir(host.node), error.message());
  RETURN_IF_ERROR(WriteFile(layout.AgentConfig(host.node), AgentConfigText(layout, host)));
  HostStarter starter(layout, plan, host, programs);
  RETURN_IF_ERROR(starter.SetUpLinks());
  RETURN_IF_ERROR(starter.StartSwitch());
  RETURN_IF_ERROR(starter.Plug());
  return StartAgent(layout, host.node, programs.agent);
}

}  // namespace kasane::lab
