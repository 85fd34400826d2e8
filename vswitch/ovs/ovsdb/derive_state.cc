#include "vswitch/ovs/ovsdb/derive_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::ovs {
namespace {

constexpr size_t kOpenFlowNameLength = 15;

uint32_t PortNumber(const SwitchLink& link, const std::string& name) {
  const auto found = link.ports.find(name.substr(0, kOpenFlowNameLength));
  return found == link.ports.end() ? 0 : found->second;
}

const OvsdbInterface* Find(const OvsdbSnapshot& snapshot, const OvsConfig& config, const std::string& name) {
  for (const OvsdbInterface& interface : snapshot.interfaces) {
    if (interface.name == name && interface.bridge == config.bridge) return &interface;
  }
  return nullptr;
}

// What others of the bridge's interfaces the switch's list of ports cannot tell from `interface`.
std::vector<std::string> SameInOpenFlow(const OvsdbSnapshot& snapshot, const OvsdbInterface& interface) {
  const std::string cut = interface.name.substr(0, kOpenFlowNameLength);
  std::vector<std::string> names;
  for (const OvsdbInterface& other : snapshot.interfaces) {
    if (other.bridge == interface.bridge && other.name != interface.name &&
        other.name.compare(0, kOpenFlowNameLength, cut) == 0) {
      names.push_back(other.name);
    }
  }
  return names;
}

// An interface that asks for a port, and its number in the switch.
struct Candidate {
  const OvsdbInterface* interface = nullptr;
  uint32_t number = 0;
};

// Which of several interfaces has the port: the one that had it, else the one that the switch numbered first. A
// late one never takes the port of a running VM.
const Candidate& Holder(const std::vector<Candidate>& candidates, const vswitch::Attachment* held) {
  for (const Candidate& candidate : candidates) {
    if (held != nullptr && candidate.interface->name == held->interface) return candidate;
  }
  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const Candidate& a, const Candidate& b) { return a.number < b.number; });
}

void AddAttachments(const OvsdbSnapshot& snapshot, const SwitchLink& link, const OvsConfig& config,
                    const Attachments& held, SwitchState& state) {
  std::map<PortId, std::vector<Candidate>> candidates;
  for (const OvsdbInterface& interface : snapshot.interfaces) {
    if (interface.bridge != config.bridge || interface.iface_id.empty()) continue;
    const uint32_t number = PortNumber(link, interface.name);
    if (number == 0) continue;
    if (const std::vector<std::string> others = SameInOpenFlow(snapshot, interface); !others.empty()) {
      state.problems.push_back(
          {fmt::format("interface {}", interface.name),
           fmt::format("is not bound to port {}: OpenFlow cuts names at {} characters, where it is the same as "
                       "interface {}; rename one",
                       interface.iface_id, kOpenFlowNameLength, fmt::join(others, ", "))});
      continue;
    }
    candidates[PortId(interface.iface_id)].push_back({&interface, number});
  }
  for (const auto& [port, list] : candidates) {
    const auto before = held.find(port);
    const Candidate& holder = Holder(list, before == held.end() ? nullptr : &before->second);
    state.attachments[port] = {.interface = holder.interface->name, .number = holder.number};
    for (const Candidate& candidate : list) {
      if (candidate.interface == holder.interface) continue;
      state.problems.push_back(
          {fmt::format("interface {}", candidate.interface->name),
           fmt::format(
               "has the same external_ids:iface-id {} as interface {}, which keeps the port: remove one", port,
               holder.interface->name)});
    }
  }
}

std::string HowToMend(const OvsdbInterface& interface) {
  if (interface.port_owner != kOwnerMark) return "fix or remove it";
  return fmt::format(
      "without it this host cannot forward as asked, so nothing new is installed; fix the cause "
      "(often another vxlan port with the same UDP port), then ovs-vsctl del-port {}, and it is added anew",
      interface.name);
}

void AddInterfaceProblems(const OvsdbSnapshot& snapshot, const OvsConfig& config, SwitchState& state) {
  for (const OvsdbInterface& interface : snapshot.interfaces) {
    const bool ours = interface.port_owner == kOwnerMark;
    if (interface.bridge != config.bridge || (interface.iface_id.empty() && !ours)) continue;
    if (interface.error.empty() && interface.ofport.value_or(0) >= 0) continue;
    state.problems.push_back(
        {fmt::format("interface {}", interface.name),
         fmt::format("Open vSwitch could not add it{}: {}; {}",
                     ours ? std::string() : fmt::format(" for port {}", interface.iface_id),
                     interface.error.empty() ? "its log says why" : interface.error, HowToMend(interface))});
  }
}

// Is the NIC, or something like it, on the bridge?
bool HoldsNic(const OvsdbSnapshot& snapshot, const std::string& bridge) {
  return std::any_of(
      snapshot.interfaces.begin(), snapshot.interfaces.end(), [&bridge](const OvsdbInterface& i) {
        return i.bridge == bridge && i.type != "internal" && i.type != "patch" && i.ofport.value_or(-1) > 0;
      });
}

std::string HowToMakeBridge(const IpAddress& address) {
  return fmt::format(
      "make a netdev bridge that holds the NIC and give it the address: ovs-vsctl add-br br-phy -- set bridge "
      "br-phy datapath_type=netdev other_config:hwaddr=MAC-of-NIC -- add-port br-phy NIC; "
      "ip addr add {}/PREFIX dev br-phy; ip link set br-phy up; "
      "sysctl -w net.ipv4.conf.br-phy.arp_ignore=1 net.ipv4.conf.NIC.arp_ignore=1",
      address);
}

// What is wrong with `link_name` as the owner of the VTEP address with the userspace datapath, or "".
std::string NetdevFault(const OvsdbSnapshot& snapshot, const OvsConfig& config, const IpAddress& address,
                        const std::string& link_name) {
  const auto bridge = snapshot.bridges.find(link_name);
  if (bridge == snapshot.bridges.end()) {
    return fmt::format(
        "is on {}, which is no bridge of Open vSwitch, and the userspace datapath sends only through "
        "a netdev bridge: {}",
        link_name, HowToMakeBridge(address));
  }
  if (link_name == config.bridge) {
    return fmt::format("is on {}, the integration bridge: {}", link_name, HowToMakeBridge(address));
  }
  if (bridge->second.datapath_type != "netdev") {
    return fmt::format(
        "is on bridge {}, which is not a netdev bridge: ovs-vsctl set bridge {} datapath_type=netdev",
        link_name, link_name);
  }
  if (!HoldsNic(snapshot, link_name)) {
    return fmt::format("is on bridge {}, which holds no NIC: ovs-vsctl add-port {} NIC", link_name, link_name);
  }
  return "";
}

underlay::UnderlayState Underlay(const OvsdbSnapshot& snapshot, const std::string& datapath_type,
                                 const IpAddress& address, const std::vector<underlay::LocalAddress>& addresses,
                                 const OvsConfig& config) {
  const auto owner =
      std::find_if(addresses.begin(), addresses.end(),
                   [&address](const underlay::LocalAddress& local) { return local.address == address; });
  const bool netdev = datapath_type == "netdev";
  underlay::UnderlayState state;
  if (owner == addresses.end()) {
    state.problem =
        netdev ? fmt::format("is on no interface of this host: {}", HowToMakeBridge(address))
               : fmt::format("is on no interface of this host: ip addr add {}/PREFIX dev NIC", address);
    return state;
  }
  if (netdev) state.problem = NetdevFault(snapshot, config, address, owner->link);
  state.usable = state.problem.empty();
  if (state.usable && netdev) state.link = owner->link;
  // The loopback's says nothing of the way out.
  if (owner->link != "lo") state.mtu = owner->mtu;
  return state;
}

void AddUnderlay(const OvsdbSnapshot& snapshot, const std::vector<underlay::LocalAddress>& addresses,
                 const OvsConfig& config, SwitchState& state) {
  for (const std::optional<IpAddress>& address : {config.tunnel_addresses.v4, config.tunnel_addresses.v6}) {
    if (!address || state.datapath_type.empty()) continue;
    underlay::UnderlayState underlay = Underlay(snapshot, state.datapath_type, *address, addresses, config);
    if (!underlay.usable) {
      state.problems.push_back({fmt::format("tunnel address {}", *address), underlay.problem});
    }
    state.underlay[address->family()] = std::move(underlay);
  }
}

// A host without the VXLAN port of a family that it is to use would drop what it should forward. If the port
// never comes, a problem says why.
bool HasTunnelPorts(const SwitchState& state, const vswitch::TunnelAddresses& own) {
  return (!own.v4 || state.vxlan_v4 != 0) && (!own.v6 || state.vxlan_v6 != 0);
}

uint32_t VxlanPort(const OvsdbSnapshot& snapshot, const SwitchLink& link, const OvsConfig& config,
                   const std::string& name) {
  const OvsdbInterface* interface = Find(snapshot, config, name);
  const bool ours = interface != nullptr && interface->port_owner == kOwnerMark;
  return ours ? PortNumber(link, name) : 0;
}

}  // namespace

std::vector<SwitchPort> PortsToEnable(const std::vector<SwitchPort>& ports, const OvsdbSnapshot& snapshot,
                                      const OvsConfig& config) {
  std::map<std::string, bool> ours;  // To whether it is a tunnel, which has no device.
  for (const OvsdbInterface& interface : snapshot.interfaces) {
    const bool tunnel = interface.port_owner == kOwnerMark;
    if (interface.bridge != config.bridge || (interface.iface_id.empty() && !tunnel)) continue;
    ours[interface.name.substr(0, kOpenFlowNameLength)] = tunnel;
  }
  std::vector<SwitchPort> enable;
  for (SwitchPort port : ports) {
    const auto known = ours.find(port.name);
    if (known == ours.end()) continue;
    port.down = port.down && known->second;
    if (port.down || port.muted) enable.push_back(std::move(port));
  }
  return enable;
}

SwitchState DeriveState(const OvsdbSnapshot& snapshot, const OvsdbPlan& plan, const SwitchLink& link,
                        const std::vector<underlay::LocalAddress>& addresses, const OvsConfig& config,
                        const Attachments& held) {
  SwitchState state;
  state.session = link.session;
  state.datapath_type = plan.datapath_type;
  state.problems = plan.problems;
  if (snapshot.initialised && !snapshot.connected) {
    state.problems.push_back(
        {"ovs",
         fmt::format("the database at {} went away, and ovs-vswitchd takes no changes without it (what is "
                     "installed goes on forwarding): start ovsdb-server",
                     config.Remote())});
  }
  const bool has_bridge = snapshot.bridges.count(config.bridge) > 0;
  if (has_bridge && !link.connected && !link.error.empty()) {
    state.problems.push_back(
        {fmt::format("bridge {}", config.bridge),
         fmt::format("ovs-vswitchd does not answer ({}): is it running, with the run directory "
                     "{}? It must speak OpenFlow 1.5",
                     link.error, config.run_dir)});
  }
  if (link.connected && link.handlers == 0) {
    state.problems.push_back({"ovs",
                              "ovs-vswitchd has no handler threads, so that the first packets of every "
                              "connection are lost (Open vSwitch 3.1 "
                              "has none if it starts within 10 s of boot): restart ovs-vswitchd"});
  }
  AddUnderlay(snapshot, addresses, config, state);
  AddInterfaceProblems(snapshot, config, state);
  if (!has_bridge || !link.connected) return state;

  AddAttachments(snapshot, link, config, held, state);
  state.kernel_backlog = link.kernel_backlog;
  state.vxlan_v4 = VxlanPort(snapshot, link, config, kVxlanPort4);
  state.vxlan_v6 = VxlanPort(snapshot, link, config, kVxlanPort6);
  if (link.meters) {
    state.replication_limit = config.replication_limit;
  } else if (config.replication_limit) {
    state.problems.push_back(
        {fmt::format("bridge {}", config.bridge),
         "the switch has no meters (an old kernel module, before Linux 4.18?): what VMs send to "
         "be replicated is not limited"});
  }
  state.ready =
      snapshot.connected && !plan.blocked && plan.ops.empty() && HasTunnelPorts(state, config.tunnel_addresses);
  return state;
}

}  // namespace kasane::ovs
