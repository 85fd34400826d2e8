// kasane-lab: virtual hypervisors and VMs on one machine, with real agents and a real controller.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/lab/agent_control.h"
#include "tests/lab/down.h"
#include "tests/lab/exec.h"
#include "tests/lab/expectation.h"
#include "tests/lab/layout.h"
#include "tests/lab/matrix.h"
#include "tests/lab/plan.h"
#include "tests/lab/prober.h"
#include "tests/lab/process.h"
#include "tests/lab/responder.h"
#include "tests/lab/status.h"
#include "tests/lab/stream.h"
#include "tests/lab/topology.h"
#include "tests/lab/up.h"
#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

constexpr std::chrono::seconds kMatrixDeadline{30};
// As a shell does for a command that cannot be run.
constexpr int kCannotRun = 126;

struct Options {
  std::string lab = "lab";
  UpOptions up;
  bool down_all = false;
  std::vector<std::string> exec;
  std::string expect;
  std::string output = "table";
  StreamOptions stream;
  std::string stream_to;
  std::string restart_host;
  bool restart_kill = false;
  std::string responder_name;
  int ready_fd = -1;
  std::string lab_dir;
};

int Fail(const absl::Status& status, int exit_status = 1) {
  fmt::print(stderr, "kasane-lab: {}\n", Message(status));
  return exit_status;
}

int RunDown(const Options& options) {
  const std::vector<std::string> labs = options.down_all ? FindLabs() : std::vector<std::string>{options.lab};
  int result = 0;
  for (const std::string& lab : labs) {
    const absl::Status status = Down(lab);
    if (!status.ok()) result = Fail(status);
  }
  return result;
}

int RunStatus(const Options& options) {
  auto text = StatusText(options.lab);
  if (!text.ok()) return Fail(text.status());
  fmt::print("{}", *text);
  return 0;
}

absl::StatusOr<bool> Matrix(const Options& options) {
  const Layout layout(options.lab);
  if (!Exists(options.lab)) return Error(absl::StatusCode::kNotFound, "lab \"{}\" is not up", options.lab);
  ASSIGN_OR_RETURN(const Topology topology, LoadTopology(layout.TopologyFile()));
  ASSIGN_OR_RETURN(const LabPlan plan, MakePlan(topology.state));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(options.expect));
  ASSIGN_OR_RETURN(const Expectation expectation, ParseExpectation(options.expect, text));
  RETURN_IF_ERROR(CheckExpectation(expectation, plan));
  ASSIGN_OR_RETURN(const std::vector<Probe> probes, ProbesFor(plan, expectation));
  ASSIGN_OR_RETURN(const std::vector<ProbeResult> results, RunProbes(layout, plan, probes, kMatrixDeadline));
  const std::vector<Verdict> verdicts = Judge(plan, expectation, probes, results);
  fmt::print("{}", options.output == "json" ? MatrixJson(plan, verdicts) : MatrixText(plan, verdicts));
  return AllAsExpected(verdicts);
}

int RunMatrix(const Options& options) {
  auto as_expected = Matrix(options);
  if (!as_expected.ok()) return Fail(as_expected.status());
  return *as_expected ? 0 : 1;
}

int RunStreamCommand(Options& options) {
  options.stream.lab = options.lab;
  auto to = IpAddress::Parse(options.stream_to);
  if (!to.ok()) return Fail(to.status());
  options.stream.to = *to;
  const auto result = RunStream(options.stream);
  if (!result.ok()) return Fail(result.status());
  fmt::print("sent={} answered={} lost={}\n", result->sent, result->answered, result->sent - result->answered);
  return result->sent == result->answered ? 0 : 1;
}

int RunRestartAgent(const Options& options) {
  const absl::Status status = RestartAgent(options.lab, options.restart_host, options.restart_kill);
  return status.ok() ? 0 : Fail(status);
}

int RunExec(const Options& options) {
  const std::vector<std::string> command(options.exec.begin() + 1, options.exec.end());
  return Fail(Exec(options.lab, options.exec.front(), command), kCannotRun);
}

void AddUp(CLI::App& app, Options& options) {
  CLI::App* up = app.add_subcommand("up", "Bring a topology up and leave it running");
  up->add_option("TOPOLOGY", options.up.topology,
                 "Resource file: every port with device_owner compute:* becomes a VM")
      ->required();
  up->add_option("--datapath-type", options.up.datapath_type,
                 "netdev: Open vSwitch's userspace datapath; system: the kernel's")
      ->check(CLI::IsMember({"netdev", "system"}))
      ->capture_default_str();
  up->add_flag("!--no-wait", options.up.wait, "Do not wait until every port is ACTIVE");
}

void AddMatrix(CLI::App& app, Options& options) {
  CLI::App* matrix = app.add_subcommand("matrix", "Try who reaches whom and compare with an expectation");
  matrix->add_option("--expect", options.expect, "Expectation file")->required();
  matrix->add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
}

void AddStream(CLI::App& app, Options& options) {
  CLI::App* stream =
      app.add_subcommand("stream", "Send probes from a VM until interrupted; exit 1 if one is lost");
  stream->add_option("FROM", options.stream.from, "VM that sends")->required();
  stream->add_option("ADDRESS", options.stream_to, "Address of a VM, which answers")->required();
  stream->add_option("--rate", options.stream.rate, "Packets per second")->capture_default_str();
}

void AddRestartAgent(CLI::App& app, Options& options) {
  CLI::App* restart = app.add_subcommand("restart-agent", "End a hypervisor's agent and start it again");
  restart->add_option("HOST", options.restart_host)->required();
  restart->add_flag("--kill", options.restart_kill, "By SIGKILL instead of SIGTERM");
}

void AddResponder(CLI::App& app, Options& options) {
  CLI::App* responder = app.add_subcommand("responder", "Answer probes; run in each VM")->group("");
  responder->add_option("NAME", options.responder_name)->required();
  responder->add_option("--ready-fd", options.ready_fd);
  responder->add_option("--lab-dir", options.lab_dir, "Whose it is: read by `down` in its command line");
}

int Dispatch(const CLI::App& app, Options& options) {
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "responder") return Fail(RunResponder(options.responder_name, options.ready_fd));
  const absl::Status named = CheckLabName(options.lab);
  if (!named.ok()) return Fail(named);
  if (geteuid() != 0) {
    return Fail(absl::PermissionDeniedError("it makes network namespaces, which needs root: run it with sudo"));
  }
  if (command == "up") {
    options.up.lab = options.lab;
    const absl::Status status = Up(options.up);
    return status.ok() ? 0 : Fail(status);
  }
  if (command == "down") return RunDown(options);
  if (command == "status") return RunStatus(options);
  if (command == "stream") return RunStreamCommand(options);
  if (command == "restart-agent") return RunRestartAgent(options);
  if (command == "exec") return RunExec(options);
  return RunMatrix(options);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Virtual hypervisors and VMs on one machine, with real agents and a real controller.",
               "kasane-lab");
  app.require_subcommand(1);
  app.add_option("--name", options.lab, "The lab's name, so that several can be up")->capture_default_str();
  AddUp(app, options);
  CLI::App* down = app.add_subcommand("down", "Remove a lab, also one that crashed");
  down->add_flag("--all", options.down_all, "Every lab on this machine");
  app.add_subcommand("status", "How the lab's daemons and ports are");
  CLI::App* exec =
      app.add_subcommand("exec", "Run a command in a VM, on a hypervisor, or where the controller is");
  exec->prefix_command();
  AddMatrix(app, options);
  AddStream(app, options);
  AddRestartAgent(app, options);
  AddResponder(app, options);
  CLI11_PARSE(app, argc, argv);
  options.exec = exec->remaining();
  if (exec->parsed() && options.exec.size() < 2) {
    return Fail(Invalid("exec needs a node and a command: kasane-lab exec NODE CMD..."));
  }
  return Dispatch(app, options);
}

}  // namespace
}  // namespace kasane::lab

int main(int argc, char** argv) { return kasane::lab::Main(argc, argv); }
