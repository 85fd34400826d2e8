#include "agent/reconcile/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kasane::agent {
namespace {

const std::string* Failure(const Installed& installed, vswitch::OwnerKind kind, const std::string& id) {
  auto failed = installed.result.failed_owners.find(vswitch::Owner{kind, id});
  return failed == installed.result.failed_owners.end() ? nullptr : &failed->second;
}

// Why what the port needs is not in the switch. Empty: it is.
std::string WhyNotInstalled(const vswitch::LocalPort& port, const std::optional<Installed>& installed,
                            const vswitch::DatapathFacts& facts) {
  auto attached = facts.attachments.find(port.id);
  if (attached == facts.attachments.end()) {
    return fmt::format("not plugged: no interface of the switch has {}={}", facts.binding_key, port.id);
  }
  if (!installed || installed->session != facts.session) return "its flows are not in the switch yet";
  auto applied = installed->attachments.find(port.id);
  auto applied_port = installed->view->ports.find(port.id);
  if (applied == installed->attachments.end() || applied->second != attached->second ||
      applied_port == installed->view->ports.end()) {
    return "its flows are not in the switch yet";
  }
  if (const std::string* reason = Failure(*installed, vswitch::OwnerKind::kPipeline, "")) {
    return fmt::format("the switch refused flows of the pipeline: {}", *reason);
  }
  if (const std::string* reason = Failure(*installed, vswitch::OwnerKind::kNetwork, port.network.str())) {
    return fmt::format("the switch refused flows of its network: {}", *reason);
  }
  if (const std::string* reason = Failure(*installed, vswitch::OwnerKind::kPort, port.id.str())) {
    return fmt::format("the switch refused its flows: {}", *reason);
  }
  return "";
}

// `network`, and what can be reached from it through routers.
std::set<NetworkId> Reach(const vswitch::HostView& view, const NetworkId& network) {
  std::set<NetworkId> reached = {network};
  std::vector<NetworkId> queue = {network};
  while (!queue.empty()) {
    const NetworkId from = queue.back();
    queue.pop_back();
    for (const auto& [id, router] : view.routers) {
      const bool there = router.admin_state_up &&
                         std::any_of(router.ports.begin(), router.ports.end(),
                                     [&from](const vswitch::RouterPort& port) { return port.network == from; });
      if (!there) continue;
      for (const vswitch::RouterPort& port : router.ports) {
        if (reached.insert(port.network).second) queue.push_back(port.network);
      }
    }
  }
  return reached;
}

// The hosts that have ports on `networks`.
std::set<HostId> HostsOf(const vswitch::HostView& view, const std::set<NetworkId>& networks) {
  std::set<HostId> hosts;
  for (const NetworkId& id : networks) {
    auto network = view.networks.find(id);
    if (network == view.networks.end() || !network->second.admin_state_up) continue;
    hosts.insert(network->second.flood_hosts.begin(), network->second.flood_hosts.end());
  }
  return hosts;
}

// Why the tunnels that the network's packets take are not settled. Empty: they are.
std::string WhyNoTunnels(const vswitch::HostView& view, const NetworkId& network,
                         const vswitch::DatapathFacts& facts) {
  for (const HostId& id : HostsOf(view, Reach(view, network))) {
    auto host = view.hosts.find(id);
    if (host == view.hosts.end() || !host->second.vtep) continue;
    auto tunnel = facts.tunnels.find(*host->second.vtep);
    const bool settled =
        tunnel != facts.tunnels.end() && (tunnel->second.ready || !tunnel->second.problem.empty());
    if (!settled) return fmt::format("waiting for the tunnel to {} (host {})", *host->second.vtep, id);
  }
  return "";
}

std::string WhyNotActive(const vswitch::HostView& view, const vswitch::LocalPort& port,
                         const std::optional<Installed>& installed, const vswitch::DatapathFacts& facts,
                         std::map<NetworkId, std::string>& why_no_tunnels) {
  if (!port.admin_state_up) return "admin_state_up is false";
  auto network = view.networks.find(port.network);
  if (network == view.networks.end()) return fmt::format("its network {} is not known here", port.network);
  if (!network->second.admin_state_up) return "admin_state_up of its network is false";
  if (!facts.ready) return "the switch is not ready";
  std::string why = WhyNotInstalled(port, installed, facts);
  if (!why.empty()) return why;
  auto [known, unjudged] = why_no_tunnels.try_emplace(port.network);
  if (unjudged) known->second = WhyNoTunnels(view, port.network, facts);
  return known->second;
}

std::string Subject(const vswitch::HostView& view, const vswitch::Owner& owner) {
  if (owner.kind == vswitch::OwnerKind::kPort) {
    auto port = view.ports.find(PortId(owner.id));
    if (port != view.ports.end() && !port->second.name.empty()) {
      return fmt::format("port {} ({})", owner.id, port->second.name);
    }
  }
  return owner.id.empty() ? std::string(Label(owner.kind)) : fmt::format("{} {}", Label(owner.kind), owner.id);
}

vswitch::Problem TunnelProblem(const vswitch::RemoteHost& host, const vswitch::TunnelAddresses& own) {
  if (!host.addresses.v4 && !host.addresses.v6) {
    return {fmt::format("host {}", host.id),
            "has no tunnel address yet: start kasaned there; packets to its ports are dropped as no_tunnel"};
  }
  return {
      fmt::format("host {}", host.id),
      fmt::format("has a tunnel address over IPv{} only, this host over IPv{} only: give both one of the same "
                  "family in tunnel_addresses; packets to its ports are dropped as no_tunnel",
                  host.addresses.v4 ? 4 : 6, own.v4 ? 4 : 6)};
}

void AddTunnelProblems(const vswitch::HostView& view, const vswitch::DatapathFacts& facts,
                       std::vector<vswitch::Problem>& problems) {
  for (const auto& [id, host] : view.hosts) {
    if (!host.vtep) {
      problems.push_back(TunnelProblem(host, view.tunnel_addresses));
      continue;
    }
    auto tunnel = facts.tunnels.find(*host.vtep);
    if (tunnel != facts.tunnels.end() && !tunnel->second.problem.empty()) {
      problems.push_back({fmt::format("tunnel {} (host {})", *host.vtep, id), tunnel->second.problem});
    }
  }
}

// Networks whose largest packets the underlay does not carry to one of their hosts.
void AddMtuProblems(const vswitch::HostView& view, const vswitch::DatapathFacts& facts,
                    std::vector<vswitch::Problem>& problems) {
  for (const auto& [id, network] : view.networks) {
    for (const HostId& peer : network.flood_hosts) {
      const auto host = view.hosts.find(peer);
      if (host == view.hosts.end() || !host->second.vtep) continue;
      const auto limit = facts.tunnel_mtu.find(host->second.vtep->family());
      if (limit == facts.tunnel_mtu.end() || network.mtu <= limit->second) continue;
      problems.push_back(
          {fmt::format("network {} ({})", id, network.name),
           fmt::format("its MTU is {}, and a tunnel carries {} here: larger packets to host {} are lost; "
                       "lower the network's mtu, or raise the underlay's by {} on all hosts",
                       network.mtu, limit->second, peer, network.mtu - limit->second)});
      break;
    }
  }
}

// Networks of which a broadcast's copies to the ports here are more than the kernel queues.
void AddBacklogProblems(const vswitch::HostView& view, const vswitch::DatapathFacts& facts,
                        std::vector<vswitch::Problem>& problems) {
  if (facts.local_copies == 0 || facts.attachments.size() <= facts.local_copies) return;
  std::map<NetworkId, size_t> copies;
  for (const auto& [id, port] : view.ports) copies[port.network] += facts.attachments.count(id);
  for (const auto& [id, count] : copies) {
    const auto network = view.networks.find(id);
    if (count <= facts.local_copies || network == view.networks.end()) continue;
    problems.push_back(
        {fmt::format("network {} ({})", id, network->second.name),
         fmt::format(
             "a broadcast has {} copies here, and beyond {} the kernel may drop those for interfaces of "
             "its own (veth, not a VM's tap): sysctl -w net.core.netdev_max_backlog={}, then restart "
             "ovs-vswitchd",
             count, facts.local_copies, 2 * count)});
  }
}

}  // namespace

bool NeedsApply(const vswitch::HostView& wanted, const std::optional<Installed>& installed,
                const vswitch::DatapathFacts& facts) {
  if (!facts.ready) return false;
  if (!installed || installed->session != facts.session || installed->generation != facts.generation ||
      installed->disturbances != facts.disturbances || installed->attachments != facts.attachments) {
    return true;
  }
  return installed->view.get() != &wanted && *installed->view != wanted;
}

std::map<PortId, inspect::PortActivity> AssessPorts(const vswitch::HostView& wanted,
                                                    const std::optional<Installed>& installed,
                                                    const vswitch::DatapathFacts& facts) {
  std::map<PortId, inspect::PortActivity> ports;
  std::map<NetworkId, std::string> why_no_tunnels;  // What was judged already: many ports share a network.
  for (const auto& [id, port] : wanted.ports) {
    std::string why_not = WhyNotActive(wanted, port, installed, facts, why_no_tunnels);
    ports.emplace(id, inspect::PortActivity{why_not.empty(), why_not});
  }
  return ports;
}

AppliedReport MakeApplied(const Installed& installed, const std::map<PortId, inspect::PortActivity>& ports) {
  AppliedReport report{installed.revision, {}, {}};
  for (const auto& [id, activity] : ports) {
    if (!installed.view->ports.contains(id)) continue;
    (activity.active ? report.active_ports : report.down_ports).push_back(id);
  }
  return report;
}

std::vector<IpAddress> WantedTunnels(const vswitch::HostView& view) {
  std::set<IpAddress> remotes;
  for (const auto& [id, host] : view.hosts) {
    if (host.vtep) remotes.insert(*host.vtep);
  }
  return {remotes.begin(), remotes.end()};
}

std::vector<vswitch::Problem> DatapathProblems(const vswitch::HostView* wanted,
                                               const std::optional<Installed>& installed,
                                               const vswitch::DatapathFacts& facts) {
  std::vector<vswitch::Problem> problems = facts.problems;
  if (installed) {
    for (const auto& [owner, reason] : installed->result.failed_owners) {
      problems.push_back(
          {Subject(*installed->view, owner), fmt::format("the switch refused its flows: {}", reason)});
    }
  }
  if (wanted != nullptr) {
    AddTunnelProblems(*wanted, facts, problems);
    AddMtuProblems(*wanted, facts, problems);
    AddBacklogProblems(*wanted, facts, problems);
  }
  return problems;
}

}  // namespace kasane::agent
