#include "tests/lab/vm.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "tests/lab/links.h"
#include "tests/lab/process.h"
#include "tests/lab/responder.h"
#include "vswitch/base/status.h"

namespace kasane::lab {
namespace {

absl::Status ConfigureVm(const Layout& layout, const Vm& vm, const Programs& programs) {
  Command command;
  command.netns = layout.Namespace(vm.node);
  // The switch reads frames through a packet socket, which sees a checksum that is still to be computed
  // as a wrong one.
  command.argv = {programs.ethtool, "-K", "eth0", "tx", "off"};
  RETURN_IF_ERROR(Run(command).status());
  command.argv = {programs.ip, "-batch", "-"};
  command.input = VmBatch(vm);
  return Run(command).status();
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

absl::Status StartVms(const Layout& layout, const LabPlan& plan, const Programs& programs) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return Error(absl::StatusCode::kInternal, "pipe: {}", std::strerror(errno));
  absl::Status status;
  for (const Vm& vm : plan.vms) {
    status = ConfigureVm(layout, vm, programs);
    if (status.ok()) status = StartResponder(layout, vm, programs, ready[1]);
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
