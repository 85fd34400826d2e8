// kasane-lab: virtual hypervisors and VMs on one machine, with real agents and a real controller.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "base/arguments.h"
#include "base/status.h"
#include "tests/lab/agent_control.h"
#include "tests/lab/case/run_command.h"
#include "tests/lab/case/trace_check.h"
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
  RunOptions run;
  std::string run_datapaths = "sim";
  TraceCheckOptions trace_check;
  std::string case_file;
  std::string case_lab;
  std::string case_datapath = "ovs";
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
  if (!status.ok()) return Fail(status);
  fmt::print(stderr, "the agent of {} is up again\n", options.restart_host);
  return 0;
}

int RunExec(const Options& options) {
  const std::vector<std::string> command(options.exec.begin() + 1, options.exec.end());
  return Fail(Exec(options.lab, options.exec.front(), command), kCannotRun);
}

void AddUp(cli::Command& app, Options& options) {
  cli::Command up = app.AddCommand("up", "Bring a topology up and leave it running");
  up.AddOption("TOPOLOGY", options.up.topology,
               "Resource file: every port with device_owner compute:* becomes a VM")
      .Required();
  up.AddOption("--datapath-type", options.up.datapath_type,
               "netdev: Open vSwitch's userspace datapath; system: the kernel's")
      .OneOf({"netdev", "system"})
      .ShowDefault();
  up.AddFlag("!--no-wait", options.up.wait, "Do not wait until every port is ACTIVE");
}

void AddMatrix(cli::Command& app, Options& options) {
  cli::Command matrix = app.AddCommand("matrix", "Try who reaches whom and compare with an expectation");
  matrix.AddOption("--expect", options.expect, "Expectation file").Required();
  matrix.AddOption("-o,--output", options.output, "table or json").OneOf({"table", "json"});
}

void AddStream(cli::Command& app, Options& options) {
  cli::Command stream =
      app.AddCommand("stream", "Send probes from a VM until interrupted; exit 1 if one is lost");
  stream.AddOption("FROM", options.stream.from, "VM that sends").Required();
  stream.AddOption("ADDRESS", options.stream_to, "Address of a VM, which answers").Required();
  stream.AddOption("--rate", options.stream.rate, "Packets per second").ShowDefault();
}

void AddRestartAgent(cli::Command& app, Options& options) {
  cli::Command restart = app.AddCommand("restart-agent", "End a hypervisor's agent and start it again");
  restart.AddOption("HOST", options.restart_host).Required();
  restart.AddFlag("--kill", options.restart_kill, "By SIGKILL instead of SIGTERM");
}

void AddResponder(cli::Command& app, Options& options) {
  cli::Command responder = app.AddCommand("responder", "Answer probes; run in each VM");
  responder.Hide();
  responder.AddOption("NAME", options.responder_name).Required();
  responder.AddOption("--ready-fd", options.ready_fd);
  responder.AddOption("--lab-dir", options.lab_dir, "Whose it is: read by `down` in its command line");
}

void AddTraceCheck(cli::Command& app, Options& options) {
  cli::Command check = app.AddCommand(
      "trace-check", "Bring a lab up and compare what kasanectl trace says of random packets with the wire");
  check.AddOption("TOPOLOGY", options.trace_check.topology, "Resource file").Required();
  check.AddOption("--packets", options.trace_check.packets, "So many").ShowDefault();
  check.AddOption("--seed", options.trace_check.seed, "Of the random packets").ShowDefault();
}

void AddRun(cli::Command& app, Options& options) {
  cli::Command run = app.AddCommand("run", "Run cases; exit 1 if one fails (docs/cases.md)");
  run.AddOption("CASE", options.run.files, "Case files").Required();
  run.AddOption("--datapath", options.run_datapaths,
                "Where to run them: sim, ovs and ovs-kernel, with commas between")
      .ShowDefault();
  run.AddOption("--jobs", options.run.jobs, "So many at a time; by default two per processor");
  run.AddOption("-o,--output", options.output, "table or json").OneOf({"table", "json"});
  run.AddFlag("--lines", options.run.lines, "A line of JSON for each case, as it ends");
  cli::Command one = app.AddCommand("run-case", "Run one case in a lab of its own; used by run");
  one.Hide();
  one.AddOption("CASE", options.case_file).Required();
  one.AddOption("--lab", options.case_lab).Required();
  one.AddOption("--datapath", options.case_datapath).OneOf({"ovs", "ovs-kernel"});
}

// Fills options.run.datapaths.
absl::Status ReadDatapaths(Options& options) {
  options.run.datapaths.clear();
  std::stringstream words(options.run_datapaths);
  for (std::string word; std::getline(words, word, ',');) {
    if (word != "sim" && word != "ovs" && word != "ovs-kernel") {
      return Invalid("--datapath: \"{}\" is not sim, ovs or ovs-kernel", word);
    }
    options.run.datapaths.push_back(word);
  }
  return options.run.datapaths.empty() ? Invalid("--datapath: name sim, ovs or ovs-kernel") : absl::OkStatus();
}

bool NeedsRoot(const std::string& command, const Options& options) {
  return command != "run" || options.run.datapaths != std::vector<std::string>{"sim"};
}

int RunCasesCommand(Options& options) {
  options.run.json = options.output == "json";
  return RunCases(options.run);
}

int Dispatch(const cli::CommandLine& app, Options& options) {
  const std::string command = app.GivenCommand();
  if (command == "run") {
    const absl::Status read = ReadDatapaths(options);
    if (!read.ok()) return Fail(read, 2);
  }
  if (command == "responder") return Fail(RunResponder(options.responder_name, options.ready_fd));
  const absl::Status named = CheckLabName(options.lab);
  if (!named.ok()) return Fail(named);
  if (geteuid() != 0 && NeedsRoot(command, options)) {
    return Fail(absl::PermissionDeniedError("it makes network namespaces, which needs root: run it with sudo"));
  }
  if (command == "up") {
    options.up.lab = options.lab;
    const absl::Status status = Up(options.up);
    return status.ok() ? 0 : Fail(status);
  }
  if (command == "down") return RunDown(options);
  if (command == "trace-check") {
    options.trace_check.lab = options.lab;
    return RunTraceCheck(options.trace_check);
  }
  if (command == "run") return RunCasesCommand(options);
  if (command == "run-case") return RunCaseInLab(options.case_file, options.case_lab, options.case_datapath);
  if (command == "status") return RunStatus(options);
  if (command == "stream") return RunStreamCommand(options);
  if (command == "restart-agent") return RunRestartAgent(options);
  if (command == "exec") return RunExec(options);
  return RunMatrix(options);
}

int Main(int argc, char** argv) {
  Options options;
  cli::CommandLine app("Virtual hypervisors and VMs on one machine, with real agents and a real controller.",
                       "kasane-lab");
  app.RequireCommand();
  app.AddOption("--name", options.lab, "The lab's name, so that several can be up").ShowDefault();
  AddUp(app, options);
  cli::Command down = app.AddCommand("down", "Remove a lab, also one that crashed");
  down.AddFlag("--all", options.down_all, "Every lab on this machine");
  app.AddCommand("status", "How the lab's daemons and ports are");
  cli::Command exec =
      app.AddCommand("exec", "Run a command in a VM, on a hypervisor, or where the controller is");
  exec.TakeRest();
  AddMatrix(app, options);
  AddStream(app, options);
  AddRestartAgent(app, options);
  AddResponder(app, options);
  AddRun(app, options);
  AddTraceCheck(app, options);
  if (const auto ending = app.Parse(argc, argv)) {
    ending->Print();
    return ending->code;
  }
  options.exec = exec.Rest();
  if (exec.IsGiven() && options.exec.size() < 2) {
    return Fail(Invalid("exec needs a node and a command: kasane-lab exec NODE CMD..."));
  }
  return Dispatch(app, options);
}

}  // namespace
}  // namespace kasane::lab

int main(int argc, char** argv) { return kasane::lab::Main(argc, argv); }
