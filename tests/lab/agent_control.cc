#include "tests/lab/agent_control.h"

#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/status.h"
#include "kasane/v1/agent.grpc.pb.h"
#include "tests/lab/hypervisor.h"
#include "tests/lab/layout.h"
#include "tests/lab/lock.h"
#include "tests/lab/process.h"

namespace kasane::lab {
namespace {

using Clock = std::chrono::system_clock;

constexpr std::chrono::seconds kConnectDeadline{30};
constexpr std::chrono::milliseconds kPace{20};
constexpr int kEndMs = 5000;

// The admin API only answers questions, so it is asked until the answer is the one waited for.
absl::Status WaitUntilApplied(const Layout& layout, const std::string& host) {
  auto stub = v1::AgentService::NewStub(
      grpc::CreateChannel("unix:" + layout.AgentSocket(host), grpc::InsecureChannelCredentials()));
  const auto deadline = Clock::now() + kConnectDeadline;
  v1::AgentStatusResponse reply;
  std::string problem;
  while (Clock::now() < deadline) {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    context.set_wait_for_ready(true);
    const grpc::Status status = stub->AgentStatus(&context, v1::AgentStatusRequest(), &reply);
    problem = status.ok() ? reply.ShortDebugString() : status.error_message();
    if (status.ok() && reply.synced() && reply.datapath_ready() && reply.received().counter() != 0 &&
        reply.applied().counter() == reply.received().counter() &&
        reply.active_ports() == reply.local_ports()) {
      return absl::OkStatus();
    }
    std::this_thread::sleep_for(kPace);
  }
  return Error(absl::StatusCode::kDeadlineExceeded,
               "the agent of {} has not applied everything: {}; its log is {}", host, problem,
               layout.AgentLog(host));
}

}  // namespace

absl::Status RestartAgent(const std::string& lab, const std::string& host, bool kill_it) {
  const Layout layout(lab);
  if (!std::filesystem::exists(layout.AgentConfig(host))) {
    return Error(absl::StatusCode::kNotFound, "lab \"{}\" has no hypervisor \"{}\"", lab, host);
  }
  ASSIGN_OR_RETURN(const std::string program, FindProgram("kasaned"));
  ASSIGN_OR_RETURN(const LabLock lock, LabLock::Take(layout));
  const pid_t pid = RecordedProcess(fmt::format("{}/{}-kasaned", layout.ProcessDir(), host));
  if (pid != 0 && kill_it) kill(pid, SIGKILL);
  if (pid != 0) EndProcesses({pid}, kEndMs);
  RETURN_IF_ERROR(StartAgent(layout, host, program));
  return WaitUntilApplied(layout, host);
}

}  // namespace kasane::lab
