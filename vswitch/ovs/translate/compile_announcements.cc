#include "vswitch/ovs/translate/compile_announcements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "vswitch/ovs/translate/actions.h"

namespace kasane::ovs {
namespace {

constexpr uint16_t kAnnounced = 60;  // In kL2 and kTunnelL2: above replication.

// The addresses of a network that more than one port may have, so that they can move.
struct Movable {
  bool any = false;
  std::set<IpPrefix> v4;

  void Add(const IpPrefix& prefix) {
    any = true;
    if (prefix.family() == IpFamily::kV4) v4.insert(prefix);
  }
};

template <typename Port>
void AddMovable(const Port& port, Movable& movable) {
  if (!port.port_security_enabled) return movable.Add(IpPrefix());
  const auto is_own = [&](const vswitch::AllowedAddress& allowed) {
    const IpAddress& ip = allowed.prefix.address();
    if (allowed.prefix.length() != ip.bits()) return false;
    return ip == IpAddress::LinkLocal(allowed.mac) ||
           std::find(port.ips.begin(), port.ips.end(), ip) != port.ips.end();
  };
  for (const vswitch::AllowedAddress& allowed : port.allowed) {
    if (!is_own(allowed)) movable.Add(allowed.prefix);
  }
}

std::map<NetworkId, Movable> MovableByNetwork(const vswitch::HostView& view) {
  std::map<NetworkId, Movable> movable;
  for (const auto& [id, port] : view.ports) AddMovable(port, movable[port.network]);
  for (const auto& [id, endpoint] : view.endpoints) AddMovable(endpoint, movable[endpoint.network]);
  return movable;
}

// What may announce something is shown to the agent, which judges it, and goes on to `next`. OpenFlow cannot
// compare two fields: where a whole prefix may move, every request within it is shown. `first` is done before
// that.
void Show(Table table, const std::string& from, const std::set<IpPrefix>& v4, const std::string& first,
          Table next, const vswitch::Owner& owner, FlowTable& out) {
  const std::string group = from + ",dl_dst=01:00:00:00:00:00/01:00:00:00:00:00";
  const std::string actions =
      fmt::format("{}{},{}", first, ToAgent(slowpath::SlowPathCause::kAnnouncement), Goto(next));
  for (const IpPrefix& prefix : v4) {
    const std::string sender_is_target =
        prefix.length() == 0 ? "" : fmt::format(",arp_spa={},arp_tpa={}", prefix, prefix);
    Add(out, table, kAnnounced, fmt::format("arp,{},arp_op=1{}", group, sender_is_target), actions, owner);
  }
  Add(out, table, kAnnounced, fmt::format("arp,{},arp_op=2", group), actions, owner);
  Add(out, table, kAnnounced, fmt::format("icmp6,{},icmp_type=136,icmp_code=0", group), actions, owner);
}

std::set<IpPrefix> MayAnnounce(const vswitch::LocalPort& port) {
  if (!port.port_security_enabled) return {IpPrefix()};
  std::set<IpPrefix> v4;
  for (const vswitch::AllowedAddress& allowed : port.allowed) {
    if (allowed.prefix.family() == IpFamily::kV4) v4.insert(allowed.prefix);
  }
  return v4;
}

}  // namespace

void CompileAnnouncements(const vswitch::HostView& view, const Bindings& bindings, FlowTable& out) {
  std::map<NetworkId, Movable> movable = MovableByNetwork(view);
  for (const auto& [id, port] : view.ports) {
    const auto ofport = bindings.ports.find(id);
    const vswitch::NetworkView& network = view.networks.at(port.network);
    if (ofport == bindings.ports.end() || !port.admin_state_up || !network.admin_state_up) continue;
    if (network.router_hosts.empty() && !movable[network.id].any) continue;
    Show(Table::kL2, fmt::format("metadata={:#x},in_port={}", network.vni.value(), ofport->second),
         MayAnnounce(port), ThroughMeter(bindings.replication_limit, ofport->second), Table::kFlood,
         {vswitch::OwnerKind::kPort, id.str()}, out);
  }
  for (const auto& [id, network] : view.networks) {
    if (!network.admin_state_up || !movable[id].any) continue;
    Show(Table::kTunnelL2, fmt::format("metadata={:#x}", network.vni.value()), movable[id].v4, "",
         Table::kFloodLocal, {vswitch::OwnerKind::kNetwork, id.str()}, out);
  }
}

}  // namespace kasane::ovs
