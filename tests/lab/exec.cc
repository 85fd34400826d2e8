#include "tests/lab/exec.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/status.h"
#include "tests/lab/hypervisor.h"
#include "tests/lab/layout.h"
#include "tests/lab/netns.h"
#include "tests/lab/plan.h"
#include "tests/lab/process.h"
#include "tests/lab/up.h"

namespace kasane::lab {
namespace {

void SetVariable(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
}

void SetEnvironment(const Layout& layout, const std::string& node, bool hypervisor) {
  const char* path = std::getenv("PATH");
  SetVariable(
      fmt::format("PATH={}:{}:/usr/sbin:/sbin", OwnDirectory(), path == nullptr ? "/usr/bin:/bin" : path));
  if (hypervisor) {
    for (const std::string& assignment : HypervisorEnvironment(layout, node)) SetVariable(assignment);
  }
  if (!hypervisor && node != kControllerNode) return;
  SetVariable("KASANE_CONTROLLER=" + ControllerEndpoint());
  SetVariable("KASANE_INSECURE=true");
}

std::string Nodes(const Layout& layout) {
  std::string nodes = std::string(kControllerNode);
  for (const std::string& name : ListNetns(layout.NamespacePrefix())) {
    const std::string node = name.substr(layout.NamespacePrefix().size());
    if (node != kFabricNode) nodes += ", " + node;
  }
  return nodes;
}

}  // namespace

absl::Status Exec(const std::string& lab, const std::string& node, const std::vector<std::string>& command) {
  const Layout layout(lab);
  if (!Exists(lab)) {
    return Error(absl::StatusCode::kNotFound, "lab \"{0}\" is not up: `kasane-lab --name {0} up TOPOLOGY`",
                 lab);
  }
  const absl::Status entered =
      EnterNetns(layout.Namespace(node == kControllerNode ? kFabricNode : std::string_view(node)));
  if (absl::IsNotFound(entered)) {
    return Error(absl::StatusCode::kNotFound, "lab \"{}\" has no node \"{}\"; it has {}", lab, node,
                 Nodes(layout));
  }
  RETURN_IF_ERROR(entered);
  SetEnvironment(layout, node, std::filesystem::exists(layout.HostDir(node)));
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return Error(absl::StatusCode::kNotFound, "{}: {}", command[0], std::strerror(errno));
}

}  // namespace kasane::lab
