#include "tests/lab/vm.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "base/status.h"
#include "tests/lab/links.h"
#include "tests/lab/mute.h"
#include "tests/lab/netns.h"
#include "tests/lab/process.h"
#include "tests/lab/responder.h"

namespace kasane::lab {
namespace {

absl::Status ConfigureVm(const Layout& layout, const Vm& vm, const Programs& programs) {
  {
    ASSIGN_OR_RETURN(const NetnsScope scope, NetnsScope::Enter(layout.Namespace(vm.node)));
    RETURN_IF_ERROR(DisableChecksumOffload("eth0"));
  }
  Command command;
  command.netns = layout.Namespace(vm.node);
  command.argv = {programs.ip, "-batch", "-"};
  command.input = VmBatch(vm);
  return Run(command).status();
}

// Its descriptor is its own: it closes it.
void StartResponderThread(const Layout& layout, const Vm& vm, int ready_fd) {
  std::thread([netns = layout.Namespace(vm.node), name = vm.node, fd = fcntl(ready_fd, F_DUPFD_CLOEXEC, 0)] {
    if (EnterNetns(netns).ok()) {
      RunResponder(name, fd).IgnoreError();
    } else {
      close(fd);
    }
  }).detach();
}

absl::Status StartResponder(const Layout& layout, const Vm& vm, const Programs& programs, int ready_fd) {
  Command command;
  // The directory tells `down` whose it is, should its namespace lose its name.
  command.argv = {
      programs.lab,           "responder", vm.node, "--ready-fd", std::to_string(ready_fd), "--lab-dir",
      layout.StateDir() + "/"};
  command.netns = layout.Namespace(vm.node);
  command.log = layout.StateDir() + "/responders.log";
  command.inherited_fd = ready_fd;
  return Start(command).status();
}

// Reads until every responder has closed its end: by being ready, after one byte, or by dying.
size_t CountReady(int fd) {
  size_t ready = 0;
  std::array<char, 64> buffer;
  for (ssize_t size = 0; (size = read(fd, buffer.data(), buffer.size())) != 0;) {
    if (size > 0) ready += static_cast<size_t>(size);
    if (size < 0 && errno != EINTR) break;
  }
  return ready;
}

}  // namespace

absl::Status StartVms(const Layout& layout, const LabPlan& plan, const Programs& programs,
                      Responders responders) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return Error(absl::StatusCode::kInternal, "pipe: {}", std::strerror(errno));
  absl::Status status;
  for (const Vm& vm : plan.vms) {
    status = ConfigureVm(layout, vm, programs);
    if (status.ok() && responders == Responders::kThreads) StartResponderThread(layout, vm, ready[1]);
    if (status.ok() && responders == Responders::kProcesses)
      status = StartResponder(layout, vm, programs, ready[1]);
    if (!status.ok()) break;
  }
  close(ready[1]);
  const size_t count = CountReady(ready[0]);
  close(ready[0]);
  RETURN_IF_ERROR(status);
  if (count == plan.vms.size()) return absl::OkStatus();
  return Error(absl::StatusCode::kInternal, "{} of {} responders came up; see {}/responders.log", count,
               plan.vms.size(), layout.StateDir());
}

}  // namespace kasane::lab
