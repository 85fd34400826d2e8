#include "vswitch/ovs/ovsdb/ovsdb_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace kasane::ovs {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// In the database an empty datapath type means the kernel's.
std::string TypeOf(const OvsdbBridge& bridge) {
  return bridge.datapath_type.empty() ? "system" : bridge.datapath_type;
}

void Block(OvsdbPlan& plan, std::string subject, std::string message) {
  plan.problems.push_back({std::move(subject), std::move(message)});
  plan.blocked = true;
}

std::string ChooseType(const OvsdbSnapshot& snapshot, const OvsConfig& config, bool kernel_module) {
  if (!config.datapath_type.empty()) return config.datapath_type;
  const auto bridge = snapshot.bridges.find(config.bridge);
  if (bridge != snapshot.bridges.end() && !bridge->second.datapath_type.empty()) {
    return bridge->second.datapath_type;
  }
  return kernel_module && Contains(snapshot.datapath_types, "system") ? "system" : "netdev";
}

// Adds problems if the switch lacks what we need.
void CheckFeatures(const OvsdbSnapshot& snapshot, const std::string& type, bool kernel_module,
                   OvsdbPlan& plan) {
  if (type != "netdev" && type != "system") {
    Block(plan, "datapath_type",
          fmt::format("{} is not supported: configure netdev, system, or leave it out", type));
  } else if (!Contains(snapshot.datapath_types, type)) {
    Block(plan, "ovs",
          fmt::format("Open vSwitch {} offers the datapath types [{}], not {}: configure one that it has",
                      snapshot.ovs_version, fmt::join(snapshot.datapath_types, ", "), type));
  } else if (type == "system" && !kernel_module) {
    Block(
        plan, "ovs",
        "the kernel has no openvswitch module: load it (modprobe openvswitch), or configure the datapath type "
        "netdev");
  }
  if (!Contains(snapshot.iface_types, "vxlan")) {
    Block(plan, "ovs",
          fmt::format("Open vSwitch {} offers no vxlan interfaces (it has [{}]): install a version that does",
                      snapshot.ovs_version, fmt::join(snapshot.iface_types, ", ")));
  }
}

OptionMap VxlanOptions(const IpAddress& local, uint16_t port) {
  OptionMap options = {{"remote_ip", "flow"}, {"key", "flow"}, {"local_ip", local.ToString()}};
  if (port != 4789) options["dst_port"] = fmt::format("{}", port);
  return options;
}

void PlanVxlanPort(const OvsdbSnapshot& snapshot, const OvsConfig& config, const std::string& name,
                   const std::optional<IpAddress>& local, OvsdbPlan& plan) {
  const auto found =
      std::find_if(snapshot.interfaces.begin(), snapshot.interfaces.end(),
                   [&name](const OvsdbInterface& i) { return i.name == name || i.port == name; });
  if (found == snapshot.interfaces.end()) {
    if (local) {
      plan.ops.push_back({.kind = OvsdbOp::Kind::kAddPort,
                          .port = name,
                          .datapath_type = "",
                          .options = VxlanOptions(*local, config.vxlan_port)});
    }
    return;
  }
  if (found->port_owner != kOwnerMark || found->bridge != config.bridge) {
    if (!local) return;
    plan.problems.push_back(
        {fmt::format("port {}", name),
         fmt::format(
             "on bridge {} is not Kasane's (no external_ids:kasane-owner={}), and its name is needed for "
             "the tunnels: remove or rename it (ovs-vsctl del-port {})",
             found->bridge, kOwnerMark, name)});
    return;
  }
  if (!local) {
    plan.ops.push_back({.kind = OvsdbOp::Kind::kDeletePort, .port = name, .datapath_type = "", .options = {}});
    return;
  }
  OptionMap options = VxlanOptions(*local, config.vxlan_port);
  if (found->type != "vxlan" || found->options != options) {
    plan.ops.push_back(
        {.kind = OvsdbOp::Kind::kSetOptions, .port = name, .datapath_type = "", .options = std::move(options)});
  }
}

void PlanBridge(const OvsdbSnapshot& snapshot, const OvsConfig& config, OvsdbPlan& plan) {
  const auto found = snapshot.bridges.find(config.bridge);
  if (found == snapshot.bridges.end()) {
    // Its ports follow in the next transaction, when the database shows it.
    plan.ops.push_back(
        {.kind = OvsdbOp::Kind::kAddBridge, .port = "", .datapath_type = plan.datapath_type, .options = {}});
    return;
  }
  const OvsdbBridge& bridge = found->second;
  if (TypeOf(bridge) != plan.datapath_type || bridge.fail_mode != "secure" ||
      !Contains(bridge.protocols, "OpenFlow15")) {
    plan.ops.push_back(
        {.kind = OvsdbOp::Kind::kSetBridge, .port = "", .datapath_type = plan.datapath_type, .options = {}});
  }
  PlanVxlanPort(snapshot, config, kVxlanPort4, config.tunnel_addresses.v4, plan);
  PlanVxlanPort(snapshot, config, kVxlanPort6, config.tunnel_addresses.v6, plan);
}

}  // namespace

std::string Describe(const OvsdbOp& op) {
  switch (op.kind) {
    case OvsdbOp::Kind::kAddBridge:
      return "the bridge was missing";
    case OvsdbOp::Kind::kSetBridge:
      return "its datapath_type, fail_mode or protocols were others";
    case OvsdbOp::Kind::kAddPort:
      return fmt::format("port {} was missing", op.port);
    case OvsdbOp::Kind::kSetOptions:
      return fmt::format("the options of port {} were others", op.port);
    case OvsdbOp::Kind::kDeletePort:
      break;
  }
  return fmt::format("port {} was too many", op.port);
}

OvsdbPlan PlanOvsdb(const OvsdbSnapshot& snapshot, const OvsConfig& config, bool kernel_module) {
  OvsdbPlan plan;
  if (!snapshot.initialised) {
    Block(
        plan, "ovs",
        snapshot.connected
            ? fmt::format("the database at {} was never initialised: start ovs-vswitchd (on Debian: systemctl "
                          "start openvswitch-switch)",
                          config.Remote())
            : fmt::format("no Open vSwitch database answers at {}: install and start Open vSwitch (on Debian: "
                          "apt install openvswitch-switch), or configure where it is",
                          config.Remote()));
    return plan;
  }
  if (snapshot.datapath_types.empty()) {
    Block(plan, "ovs",
          "ovs-vswitchd has not run on this database yet: start it (on Debian: systemctl start "
          "openvswitch-switch)");
    return plan;
  }
  const std::string type = ChooseType(snapshot, config, kernel_module);
  CheckFeatures(snapshot, type, kernel_module, plan);
  if (plan.blocked) return plan;
  plan.datapath_type = type;
  PlanBridge(snapshot, config, plan);
  return plan;
}

}  // namespace kasane::ovs
