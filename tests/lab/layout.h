// Where a lab's parts are: the names of its namespaces and the paths of its state. Everything a lab owns
// carries its name, so that labs never collide and one that crashed is found again.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
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

class Layout {
 public:
  explicit Layout(std::string name) : name_(std::move(name)) {}

  static std::string Root() { return "/run/kasane-lab"; }

  const std::string& name() const { return name_; }
  std::string NamespacePrefix() const { return "kl-" + name_ + "-"; }
  std::string Namespace(std::string_view node) const { return NamespacePrefix() + std::string(node); }

  std::string StateDir() const { return Root() + "/" + name_; }
  std::string LockFile() const { return Root() + "/" + name_ + ".lock"; }
  // Copy of the topology that the lab was brought up with.
  std::string TopologyFile() const { return StateDir() + "/topology"; }
  // What the user called it.
  std::string TopologyNameFile() const { return StateDir() + "/topology-name"; }
  // One file per daemon: "PID START_TIME".
  std::string ProcessDir() const { return StateDir() + "/processes"; }
  std::string ControllerDir() const { return StateDir() + "/controller"; }
  std::string ControllerLog() const { return ControllerDir() + "/kasane-controller.log"; }

  // A hypervisor's own directory, and what is in it.
  std::string HostDir(std::string_view host) const { return StateDir() + "/hosts/" + std::string(host); }
  std::string OvsDir(std::string_view host) const { return HostDir(host) + "/ovs"; }
  std::string AgentSocket(std::string_view host) const { return HostDir(host) + "/kasaned.sock"; }
  std::string AgentConfig(std::string_view host) const { return HostDir(host) + "/agent.yaml"; }
  std::string AgentLog(std::string_view host) const { return HostDir(host) + "/kasaned.log"; }

 private:
  std::string name_;
};

// Names of the labs that left anything behind: state, or namespaces.
std::vector<std::string> FindLabs();

}  // namespace kasane::lab
