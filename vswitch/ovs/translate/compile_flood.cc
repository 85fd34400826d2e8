#include "vswitch/ovs/translate/compile_flood.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "vswitch/claims.h"
#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/datapath_bounds.h"
#include "vswitch/ovs/translate/learned_places.h"
#include "vswitch/ovs/translate/places.h"
#include "vswitch/ovs/translate/replication.h"

namespace kasane::ovs {
namespace {

constexpr int kLearnedSeconds = 300;  // Since the MAC was last seen, as a bridge ages its table (802.1D).
constexpr int kMaxLearnedPerOwner =
    2048;  // A port, or a host's in one network, that invents MACs fills its own share.

// Back to an earlier table, where goto_table does not lead.
std::string Resubmit(Table table) { return fmt::format("resubmit(,{})", static_cast<int>(table)); }

std::string HexCookie(const vswitch::Owner& owner) {
  return fmt::format("{:#x}", CookieOf(owner, std::nullopt));
}

// (network, MAC) to a place.
std::string Learn(const vswitch::Owner& owner, uint32_t place) {
  return fmt::format(
      "learn(table={},hard_timeout={},priority=100,cookie={},limit={},OXM_OF_METADATA[],"
      "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:{:#x}->{}),",
      static_cast<int>(Table::kLearned), kLearnedSeconds, HexCookie(owner), kMaxLearnedPerOwner, place,
      reg::kLearnedPlaceField);
}

std::string Deliver(uint32_t ofport) { return fmt::format("set_field:{:#x}->{},", ofport, reg::kOutPort); }

// Of each host, its ports of the network that have port security off.
std::map<HostId, std::vector<PortId>> UnsecuredElsewhere(const vswitch::HostView& view,
                                                         const NetworkId& network) {
  std::map<HostId, std::vector<PortId>> ports;
  for (const auto& [id, endpoint] : view.endpoints) {
    if (endpoint.network == network && !endpoint.port_security_enabled) ports[endpoint.host].push_back(id);
  }
  return ports;
}

// What is behind no port of this host, whoever says so: the MACs of other hosts' ports and of routers.
std::set<MacAddress> MacsElsewhere(const vswitch::HostView& view, const NetworkId& network) {
  std::set<MacAddress> macs;
  for (const auto& [id, endpoint] : view.endpoints) {
    if (endpoint.network == network) macs.insert(endpoint.mac);
  }
  for (const auto& [key, port] : vswitch::ClaimedMacs(view)) {
    if (key.first == network && view.endpoints.count(port) != 0) macs.insert(key.second);
  }
  for (const auto& [id, router] : view.routers) {
    for (const vswitch::RouterPort& port : router.ports) {
      if (port.network == network) macs.insert(port.mac);
    }
  }
  return macs;
}

CopyList LocalCopies(const std::map<PortId, uint32_t>& ports) {
  CopyList list;
  for (const auto& [id, ofport] : ports) {
    list.copies.push_back({Deliver(ofport) + Resubmit(Table::kDeliver), kLocalCopyBytes});
  }
  return list;
}

template <typename Hosts>
CopyList TunnelCopies(const vswitch::HostView& view, const Hosts& hosts, Vni vni, const Bindings& bindings) {
  CopyList list{.before = SetTunnelId(vni), .copies = {}};
  for (const HostId& host : hosts) {
    std::string tunnel = ToTunnel(view, host, bindings);
    if (!tunnel.empty()) list.copies.push_back({std::move(tunnel), kTunnelCopyBytes});
  }
  return list;
}

// Compiles one network.
class NetworkCompiler {
 public:
  NetworkCompiler(const vswitch::HostView& view, const vswitch::NetworkView& network, const Bindings& bindings,
                  const NetworkPorts& ports, FlowTable& out)
      : view_(view),
        network_(network),
        bindings_(bindings),
        ports_(ports),
        out_(out),
        owner_{vswitch::OwnerKind::kNetwork, network.id.str()},
        here_(fmt::format("metadata={:#x}", network.vni.value())) {}

  void Replication() {
    const std::string group = here_ + ",dl_dst=01:00:00:00:00:00/01:00:00:00:00:00";
    Add(out_, Table::kL2, 50, group, Goto(Table::kFlood), owner_);
    Limit(Table::kL2, 55, group, "in_port", Table::kFlood);
    const CopyList local =
        Replicate(ReplicationKind::kFloodLocal, Table::kFloodLocal, 100, {LocalCopies(ports_.all)});
    Replicate(ReplicationKind::kFlood, Table::kFlood, 100, {Tunnels(network_.flood_hosts), local});
    Add(out_, Table::kTunnel, 100, FromTunnel(), SetMetadata(network_.vni) + Goto(Table::kTunnelAnnounce),
        owner_);
    Add(out_, Table::kTunnelL2, 50, group, Goto(Table::kFloodLocal), owner_);
  }

  // Nothing where all ports have port security: then an unknown MAC is nobody's.
  void UnknownUnicast() {
    const std::map<HostId, uint32_t> places = AssignHostPlaces(UnsecuredElsewhere(view_, network_.id));
    if (places.empty() && ports_.unsecured.empty()) return;
    std::vector<HostId> hosts;
    for (const auto& [host, place] : places) hosts.push_back(host);
    const std::string look_up = Resubmit(Table::kLearned) + ",";
    Add(out_, Table::kL2, 10, here_, look_up + Goto(Table::kUnknown), owner_);
    Add(out_, Table::kUnknown, 50, here_, Goto(Table::kUnknownFlood), owner_);
    Limit(Table::kUnknown, 60, here_, reg::kInPort, Table::kUnknownFlood);
    const CopyList local =
        Replicate(ReplicationKind::kUnknownLocal, Table::kTunnelUnknown, 50, {LocalCopies(ports_.unsecured)});
    Replicate(ReplicationKind::kUnknown, Table::kUnknownFlood, 50, {Tunnels(hosts), local});
    for (const auto& [host, place] : places) LearnedRemote(host, place);
    LearnedLocal(Table::kUnknown);
    if (local.copies.empty()) return;
    Add(out_, Table::kTunnelL2, 10, here_, look_up + Goto(Table::kTunnelUnknown), owner_);
    for (const MacAddress& mac : MacsElsewhere(view_, network_.id)) {
      AddDrop(out_, Table::kTunnelL2, 90, fmt::format("{},dl_dst={}", here_, mac), owner_,
              vswitch::DropReason::kNotLocal);
    }
    LearnedLocal(Table::kTunnelUnknown);
  }

 private:
  std::string FromTunnel() const { return fmt::format("tun_id={:#x}", network_.vni.value()); }
  std::string Learned(uint32_t place) const {
    return fmt::format("{},{}={:#x}", here_, reg::kLearnedPlace, place);
  }

  // What `match` says, from one of our ports, goes on to `next` as fast as that port may.
  void Limit(Table table, uint16_t priority, const std::string& match, std::string_view port_field,
             Table next) {
    if (!bindings_.replication_limit) return;
    for (const auto& [id, ofport] : ports_.all) {
      Add(out_, table, priority, fmt::format("{},{}={}", match, port_field, ofport),
          ThroughMeter(bindings_.replication_limit, ofport) + Goto(next),
          {vswitch::OwnerKind::kPort, id.str()});
    }
  }

  template <typename Hosts>
  CopyList Tunnels(const Hosts& hosts) const {
    return TunnelCopies(view_, hosts, network_.vni, bindings_);
  }

  CopyList Replicate(ReplicationKind kind, Table table, uint16_t priority, const std::vector<CopyList>& lists) {
    return AddReplication({kind, table, priority, here_, owner_}, lists, out_);
  }

  void LearnedRemote(const HostId& host, uint32_t place) {
    if (!view_.hosts.contains(host)) return;
    const std::string tunnel = ToTunnel(view_, host, bindings_);
    if (tunnel.empty()) {
      AddDrop(out_, Table::kUnknown, 100, Learned(place), owner_, vswitch::DropReason::kNoTunnel);
    } else {
      Add(out_, Table::kUnknown, 100, Learned(place), SetTunnelId(network_.vni) + tunnel, owner_);
    }
    const vswitch::TunnelAddresses& addresses = view_.hosts.at(host).addresses;
    // The network is in the key: who fills this host's share in one network takes no other network's.
    const std::string learn =
        Learn({vswitch::OwnerKind::kHost, fmt::format("{}/{}", network_.id, host)}, place);
    const auto add = [&](const std::optional<IpAddress>& address, const char* field) {
      if (!address) return;
      Add(out_, Table::kTunnel, 110, fmt::format("{},{}={}", FromTunnel(), field, *address),
          SetMetadata(network_.vni) + learn + Goto(Table::kTunnelAnnounce), owner_);
    };
    add(addresses.v4, "tun_src");
    add(addresses.v6, "tun_ipv6_src");
  }

  void LearnedLocal(Table table) {
    for (const auto& [id, ofport] : ports_.unsecured) {
      Add(out_, table, 100, Learned(ports_.places.at(id)), Deliver(ofport) + Resubmit(Table::kDeliver),
          {vswitch::OwnerKind::kPort, id.str()});
    }
  }

  const vswitch::HostView& view_;
  const vswitch::NetworkView& network_;
  const Bindings& bindings_;
  const NetworkPorts& ports_;
  FlowTable& out_;
  const vswitch::Owner owner_;
  const std::string here_;
};

// What is larger than the network's MTU ends where it enters.
void CompileMtu(const vswitch::NetworkView& network, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kNetwork, network.id.str()};
  const std::string here = fmt::format("metadata={:#x}", network.vni.value());
  Add(out, Table::kMtu, 100, here, TestMtu(network.mtu) + Goto(Table::kMtuVerdict), owner);
  Add(out, Table::kMtuVerdict, 100, fmt::format("{},{}=0x1/0x1", here, reg::kTooBig),
      ToAgent(slowpath::SlowPathCause::kTooBig, network.mtu), owner);
}

}  // namespace

std::string ToTunnel(const vswitch::HostView& view, const HostId& id, const Bindings& bindings) {
  const auto host = view.hosts.find(id);
  if (host == view.hosts.end() || !host->second.vtep) return "";
  return ToVtep(*host->second.vtep, bindings);
}

std::string SetTunnelId(Vni vni) { return fmt::format("set_field:{:#x}->tun_id,", vni.value()); }

std::string LearnLocal(const vswitch::Owner& owner, uint32_t place) { return Learn(owner, place); }

void CompileNetwork(const vswitch::HostView& view, const vswitch::NetworkView& network,
                    const Bindings& bindings, const NetworkPorts& ports, FlowTable& out) {
  if (!network.admin_state_up) {
    AddDrop(out, Table::kTunnel, 100, fmt::format("tun_id={:#x}", network.vni.value()),
            {vswitch::OwnerKind::kNetwork, network.id.str()}, vswitch::DropReason::kAdminDown);
    return;
  }
  CompileMtu(network, out);
  NetworkCompiler compiler(view, network, bindings, ports, out);
  compiler.Replication();
  compiler.UnknownUnicast();
}

}  // namespace kasane::ovs
