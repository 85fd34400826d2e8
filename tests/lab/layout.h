// Where a lab's parts are: the names of its namespaces and the paths of its state. Everything a lab owns
// carries its name, so that labs never collide and one that crashed is found again.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasane::lab {

// Namespaces that are neither a hypervisor nor a VM. It holds the two networks between hypervisors, the
// underlay and the management network, and the controller.
inline constexpr std::string_view kFabricNode = "fabric";
// What users call the fabric namespace: the place where the controller runs.
inline constexpr std::string_view kControllerNode = "controller";

// 1 to 16 letters, digits and '_'. No '-': it ends a lab's name in the names of its namespaces.
absl::Status CheckLabName(std::string_view name);

// True if `name` can be a node: a part of a namespace's and a directory's name.
bool IsNodeName(std::string_view name);

// Where the state of all labs is.
inline constexpr std::string_view kLabsDir = "/run/kasane-lab";

class Layout {
 public:
  explicit Layout(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::string NamespacePrefix() const;
  std::string Namespace(std::string_view node) const;

  std::string StateDir() const;
  std::string LockFile() const;
  // Copy of the topology that the lab was brought up with.
  std::string TopologyFile() const;
  // What the user called it.
  std::string TopologyNameFile() const;
  // One file per daemon: "PID START_TIME".
  std::string ProcessDir() const;
  std::string ControllerDir() const;
  std::string ControllerLog() const;

  // A hypervisor's own directory, and what is in it.
  std::string HostDir(std::string_view host) const;
  std::string OvsDir(std::string_view host) const;
  std::string AgentSocket(std::string_view host) const;
  std::string AgentConfig(std::string_view host) const;
  std::string AgentLog(std::string_view host) const;

 private:
  std::string name_;
};

// Names of the labs that left anything behind: state, or namespaces.
std::vector<std::string> FindLabs();

}  // namespace kasane::lab
