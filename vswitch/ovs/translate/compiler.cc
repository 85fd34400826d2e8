#include "vswitch/ovs/translate/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vswitch/claims.h"
#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/compile_announcements.h"
#include "vswitch/ovs/translate/compile_flood.h"
#include "vswitch/ovs/translate/compile_port_security.h"
#include "vswitch/ovs/translate/compile_router.h"
#include "vswitch/packet/packet.h"

namespace kasane::ovs {
namespace {

const vswitch::Owner kPipelineOwner;

bool NetworkUp(const vswitch::HostView& view, const NetworkId& id) {
  return view.networks.at(id).admin_state_up;
}

// What holds for every host: the ingress sanity check of VMs' frames, the ends of the tables, and the ways
// between.
void CompilePipeline(const Bindings& bindings, FlowTable& out) {
  AddDrop(out, Table::kInput, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownPort);
  for (const uint32_t port : {bindings.vxlan_v4, bindings.vxlan_v6}) {
    if (port == 0) continue;
    AddDrop(out, Table::kInput, 80, fmt::format("in_port={}", port), kPipelineOwner,
            vswitch::DropReason::kUnknownVtep);
  }
  AddDrop(out, Table::kIngressSanity, 100, "vlan_tci=0x1000/0x1000", kPipelineOwner,
          vswitch::DropReason::kVlanTagged);
  AddDrop(out, Table::kIngressSanity, 90, "dl_dst=01:80:c2:00:00:00/ff:ff:ff:ff:ff:f0", kPipelineOwner,
          vswitch::DropReason::kReservedMulticast);
  AddDrop(out, Table::kIngressSanity, 80, "dl_src=01:00:00:00:00:00/01:00:00:00:00:00", kPipelineOwner,
          vswitch::DropReason::kMulticastSource);
  // A header that OVS cannot parse reads as zeros; no real packet has a TTL and a protocol of zero.
  for (const char* unparsed : {"ip,nw_proto=0,nw_ttl=0", "ipv6,nw_proto=0,nw_ttl=0", "arp,arp_op=0"}) {
    AddDrop(out, Table::kIngressSanity, 70, unparsed, kPipelineOwner, vswitch::DropReason::kMalformed);
  }
  Add(out, Table::kIngressSanity, 0, "", Goto(Table::kMtu), kPipelineOwner);
  Add(out, Table::kMtuVerdict, 0, "", Goto(Table::kPortSecurity), kPipelineOwner);
  CompilePortSecurityPipeline(out);
  Add(out, Table::kArp, 0, "", Goto(Table::kNd), kPipelineOwner);
  // Duplicate address detection for what nobody has.
  Add(out, Table::kNd, 120, "icmp6,icmp_type=135,icmp_code=0,ipv6_src=::", Goto(Table::kL2), kPipelineOwner);
  Add(out, Table::kNd, 0, "", Goto(Table::kL2), kPipelineOwner);
  Add(out, Table::kNdSize, 110, fmt::format("icmp6,icmp_type=135,icmp_code=0,{}=0x2/0x2", reg::kTooBig),
      ToAgent(slowpath::SlowPathCause::kNeighbour), kPipelineOwner);
  AddDrop(out, Table::kL2, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownMac);
  AddDrop(out, Table::kTunnel, 0, "", kPipelineOwner, vswitch::DropReason::kUnknownVni);
  AddDrop(out, Table::kTunnelL2, 0, "", kPipelineOwner, vswitch::DropReason::kNotLocal);
  CompileRouterPipeline(out);
}

// An address that this host answers for, and who must not be answered.
struct AnsweredAddress {
  Vni vni;
  IpAddress ip;
  MacAddress mac;
  bool router = false;
  bool anycast = false;     // Subnet-router anycast (RFC 4291, 2.6.1): advertised without Override.
  uint32_t owner_port = 0;  // Switch port of the owner, when it is local. 0: not.
  bool announced = false;   // Another local port may announce it by a gratuitous ARP.
};

// The IPv4 addresses that local ports may announce beside their own fixed ones, by network.
class Announcers {
 public:
  Announcers(const vswitch::HostView& view, const Bindings& bindings) : view_(view) {
    for (const auto& [id, port] : view.ports) {
      if (bindings.ports.count(id) == 0 || !port.admin_state_up) continue;
      if (!port.port_security_enabled) prefixes_[port.network].insert(IpPrefix());
      for (const vswitch::AllowedAddress& allowed : port.allowed) {
        if (allowed.prefix.family() == IpFamily::kV4 && !IsFixed(port, allowed)) {
          prefixes_[port.network].insert(allowed.prefix);
        }
      }
    }
  }

  // Whether a port that is not the one that is answered for may send a gratuitous ARP for `ip`.
  bool MayAnnounce(const NetworkId& network, const IpAddress& ip) const {
    if (!ip.is_v4()) return false;
    if (view_.claims.count({network, ip}) != 0) return true;
    const auto prefixes = prefixes_.find(network);
    return prefixes != prefixes_.end() && std::any_of(prefixes->second.begin(), prefixes->second.end(),
                                                      [&](const IpPrefix& p) { return p.Contains(ip); });
  }

 private:
  static bool IsFixed(const vswitch::LocalPort& port, const vswitch::AllowedAddress& allowed) {
    return allowed.prefix.length() == 32 &&
           std::find(port.ips.begin(), port.ips.end(), allowed.prefix.address()) != port.ips.end();
  }

  const vswitch::HostView& view_;
  std::map<NetworkId, std::set<IpPrefix>> prefixes_;
};

void CompileArpAnswer(const AnsweredAddress& a, const vswitch::Owner& owner, FlowTable& out) {
  const std::string request = fmt::format("arp,metadata={:#x},arp_op=1,arp_tpa={}", a.vni.value(), a.ip);
  Add(out, Table::kArp, 100, request,
      fmt::format("move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{0}->eth_src,set_field:2->arp_op,"
                  "move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],set_field:{0}->arp_sha,"
                  "move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],set_field:{1}->arp_spa,in_port",
                  a.mac, a.ip),
      owner);
  if (a.announced) {
    // Said, not asked: everybody must hear it.
    Add(out, Table::kArp, 115,
        fmt::format("arp,metadata={:#x},arp_op=1,arp_spa={},arp_tpa={}", a.vni.value(), a.ip, a.ip),
        Goto(Table::kL2), owner);
  }
  if (a.owner_port != 0) {
    Add(out, Table::kArp, 110, fmt::format("{},in_port={}", request, a.owner_port), Goto(Table::kL2), owner);
  }
}

// RFC 4861, 4.4: Router, Solicited and Override in the top bits of the reserved word.
uint32_t AdvertisementFlags(const AnsweredAddress& a) {
  constexpr uint32_t kRouterFlag = 0x80000000;
  constexpr uint32_t kSolicited = 0x40000000;
  constexpr uint32_t kOverride = 0x20000000;
  return (a.router ? kRouterFlag : 0) | kSolicited | (a.anycast ? 0 : kOverride);
}

// The solicitation is turned into the advertisement in place, in three tables: a frame with other options or
// headers would be mangled, since OVS takes the first option for the link-layer address; and the fields of an
// advertisement can be set only where the flow matches on one.
void CompileNdRewrite(const AnsweredAddress& a, const std::string& solicit, const std::string& target,
                      const vswitch::Owner& owner, FlowTable& out) {
  Add(out, Table::kNd, 100, solicit,
      fmt::format("check_pkt_larger({})->NXM_NX_REG6[1],{}", packet::kNdRewritable, Goto(Table::kNdSize)),
      owner);
  Add(out, Table::kNdSize, 100, solicit,
      fmt::format("set_field:{:#x}->nd_reserved,set_field:2->nd_options_type,set_field:136->icmpv6_type,"
                  "resubmit(,{})",
                  AdvertisementFlags(a), static_cast<int>(Table::kNdReply)),
      owner);
  Add(out, Table::kNdReply, 100, fmt::format("icmp6,icmp_type=136,icmp_code=0,{}", target),
      fmt::format(
          "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],set_field:{0}->eth_src,"
          "move:NXM_NX_IPV6_SRC[]->NXM_NX_IPV6_DST[],set_field:{1}->ipv6_src,set_field:{0}->nd_tll,in_port",
          a.mac, a.ip),
      owner);
  // No room for the answer's link-layer address, or an answer to all (RFC 4861, 7.2.4).
  Add(out, Table::kNd, 110, solicit + ",nd_sll=00:00:00:00:00:00", ToAgent(slowpath::SlowPathCause::kNeighbour),
      owner);
  Add(out, Table::kNd, 130, solicit + ",ipv6_src=::", ToAgent(slowpath::SlowPathCause::kNeighbour), owner);
}

void CompileNdAnswer(const AnsweredAddress& a, const vswitch::Owner& owner, bool in_tables, FlowTable& out) {
  const std::string target = fmt::format("metadata={:#x},nd_target={}", a.vni.value(), a.ip);
  const std::string solicit = fmt::format("icmp6,icmp_type=135,icmp_code=0,nw_ttl=255,{}", target);
  if (in_tables) {
    CompileNdRewrite(a, solicit, target, owner, out);
  } else {
    Add(out, Table::kNd, 130, solicit, ToAgent(slowpath::SlowPathCause::kNeighbour), owner);
  }
  if (a.owner_port != 0) {
    Add(out, Table::kNd, 140, fmt::format("{},in_port={}", solicit, a.owner_port), Goto(Table::kL2), owner);
  }
}

void CompileAnswer(const AnsweredAddress& address, const vswitch::Owner& owner, const Bindings& bindings,
                   FlowTable& out) {
  if (address.ip.is_v4()) {
    CompileArpAnswer(address, owner, out);
  } else {
    CompileNdAnswer(address, owner, bindings.nd_in_tables, out);
  }
}

std::string Destination(Vni vni, const MacAddress& mac) {
  return fmt::format("metadata={:#x},dl_dst={}", vni.value(), mac);
}

// `mac` leads to a port here.
void CompileLocalMac(const vswitch::HostView& view, const vswitch::LocalPort& port, const MacAddress& mac,
                     uint32_t ofport, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, port.id.str()};
  const std::string to_mac = Destination(view.networks.at(port.network).vni, mac);
  const std::string deliver =
      fmt::format("set_field:{:#x}->{},{}", ofport, reg::kOutPort, Goto(Table::kDeliver));
  Add(out, Table::kL2, 100, to_mac, deliver, owner);
  Add(out, Table::kTunnelL2, 100, to_mac, deliver, owner);
}

// `mac` leads to a port elsewhere.
void CompileRemoteMac(const vswitch::HostView& view, const vswitch::RemoteEndpoint& endpoint,
                      const MacAddress& mac, const Bindings& bindings, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, endpoint.id.str()};
  const Vni vni = view.networks.at(endpoint.network).vni;
  const std::string tunnel = ToTunnel(view, endpoint.host, bindings);
  if (tunnel.empty()) {
    AddDrop(out, Table::kL2, 100, Destination(vni, mac), owner, vswitch::DropReason::kNoTunnel);
  } else {
    Add(out, Table::kL2, 100, Destination(vni, mac), SetTunnelId(vni) + tunnel, owner);
  }
}

void CompileLocalPort(const vswitch::HostView& view, const vswitch::LocalPort& port, uint32_t ofport,
                      const Bindings& bindings, const Announcers& announcers, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, port.id.str()};
  const std::string from = fmt::format("in_port={}", ofport);
  if (!port.admin_state_up || !NetworkUp(view, port.network)) {
    AddDrop(out, Table::kInput, 100, from, owner, vswitch::DropReason::kAdminDown);
    return;
  }
  const Vni vni = view.networks.at(port.network).vni;
  Add(out, Table::kInput, 100, from,
      fmt::format("{}set_field:{:#x}->{},{}", SetMetadata(vni), ofport, reg::kInPort,
                  Goto(Table::kIngressSanity)),
      owner);
  CompilePortSecurity(port, ofport, out);
  if (bindings.replication_limit) {
    out.AddMeter(ofport, {*bindings.replication_limit, owner, vswitch::DropReason::kReplicationRate});
  }
  CompileLocalMac(view, port, port.mac, ofport, out);
  Add(out, Table::kDeliver, 100, fmt::format("{}={:#x}", reg::kOutPort, ofport),
      fmt::format("output:{}", ofport), owner);
  for (const IpAddress& ip : port.ips) {
    if (view.claims.count({port.network, ip}) != 0) continue;
    CompileAnswer({vni, ip, port.mac, false, false, ofport, announcers.MayAnnounce(port.network, ip)}, owner,
                  bindings, out);
  }
}

void CompileEndpoint(const vswitch::HostView& view, const vswitch::RemoteEndpoint& endpoint,
                     const Bindings& bindings, const Announcers& announcers, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kPort, endpoint.id.str()};
  if (!NetworkUp(view, endpoint.network)) return;
  const Vni vni = view.networks.at(endpoint.network).vni;
  CompileRemoteMac(view, endpoint, endpoint.mac, bindings, out);
  for (const IpAddress& ip : endpoint.ips) {
    if (view.claims.count({endpoint.network, ip}) != 0) continue;
    CompileAnswer({vni, ip, endpoint.mac, false, false, 0, announcers.MayAnnounce(endpoint.network, ip)}, owner,
                  bindings, out);
  }
}

// Only the tunnel addresses of known hosts are let in.
void CompileHost(const vswitch::RemoteHost& host, const Bindings& bindings, FlowTable& out) {
  const vswitch::Owner owner{vswitch::OwnerKind::kHost, host.id.str()};
  const auto admit = [&](const std::optional<IpAddress>& address, uint32_t port, const char* field) {
    if (!address || port == 0) return;
    Add(out, Table::kInput, 100, fmt::format("in_port={},{}={}", port, field, *address), Goto(Table::kTunnel),
        owner);
  };
  admit(host.addresses.v4, bindings.vxlan_v4, "tun_src");
  admit(host.addresses.v6, bindings.vxlan_v6, "tun_ipv6_src");
}

// ARP and ND for a router's own addresses; the rest of a router is in compile_router.cc.
void CompileRouterAnswers(const vswitch::HostView& view, const vswitch::RouterView& router,
                          const Bindings& bindings, const Announcers& announcers, FlowTable& out) {
  if (!router.admin_state_up) return;
  const vswitch::Owner owner{vswitch::OwnerKind::kRouter, router.id.str()};
  for (const vswitch::RouterPort& port : router.ports) {
    if (!NetworkUp(view, port.network)) continue;
    const Vni vni = view.networks.at(port.network).vni;
    CompileAnswer({vni, port.link_local, port.mac, true, false, 0}, owner, bindings, out);
    for (const IpPrefix& address : port.addresses) {
      const bool anycast = address.length() < 127 && address.address() == address.Network().address();
      const bool announced = announcers.MayAnnounce(port.network, address.address());
      CompileAnswer({vni, address.address(), port.mac, true, anycast, 0, announced}, owner, bindings, out);
    }
  }
}

// Who speaks for an address by a claim is answered for, and the MAC that it uses leads to it.
void CompileClaims(const vswitch::HostView& view, const Bindings& bindings, const Announcers& announcers,
                   FlowTable& out) {
  const auto ofport_of = [&](const PortId& id) {
    const auto ofport = bindings.ports.find(id);
    return ofport == bindings.ports.end() ? 0 : ofport->second;
  };
  for (const auto& [key, claim] : view.claims) {
    const auto& [network, ip] = key;
    if (!NetworkUp(view, network)) continue;
    CompileAnswer({view.networks.at(network).vni, ip, claim.mac, false, false, ofport_of(claim.port),
                   announcers.MayAnnounce(network, ip)},
                  {vswitch::OwnerKind::kPort, claim.port.str()}, bindings, out);
  }
  for (const auto& [key, port] : vswitch::ClaimedMacs(view)) {
    const auto& [network, mac] = key;
    if (!NetworkUp(view, network)) continue;
    if (const auto endpoint = view.endpoints.find(port); endpoint != view.endpoints.end()) {
      CompileRemoteMac(view, endpoint->second, mac, bindings, out);
    } else {
      CompileLocalMac(view, view.ports.at(port), mac, ofport_of(port), out);
    }
  }
}

// What the compiler works on: claims of ports that are not plugged are no more than their fixed addresses.
vswitch::HostView WithoutUnpluggedClaims(const vswitch::HostView& view, const Bindings& bindings) {
  vswitch::HostView out = view;
  std::erase_if(out.claims, [&](const auto& entry) {
    const PortId& port = entry.second.port;
    return view.ports.count(port) != 0 && bindings.ports.count(port) == 0;
  });
  return out;
}

void CompileView(const vswitch::HostView& view, const Bindings& bindings, FlowTable& out) {
  const Announcers announcers(view, bindings);
  std::map<NetworkId, NetworkPorts> ports;
  for (const auto& [id, port] : view.ports) {
    const auto ofport = bindings.ports.find(id);
    if (ofport == bindings.ports.end()) continue;
    CompileLocalPort(view, port, ofport->second, bindings, announcers, out);
    if (!port.admin_state_up) continue;
    ports[port.network].all.emplace(id, ofport->second);
    if (!port.port_security_enabled) ports[port.network].unsecured.emplace(id, ofport->second);
  }
  for (const auto& [id, endpoint] : view.endpoints) {
    CompileEndpoint(view, endpoint, bindings, announcers, out);
  }
  CompileClaims(view, bindings, announcers, out);
  for (const auto& [id, network] : view.networks) CompileNetwork(view, network, bindings, ports[id], out);
  for (const auto& [id, host] : view.hosts) CompileHost(host, bindings, out);
  const std::map<RouterId, uint32_t> router_keys = AssignRouterKeys(view.routers);
  for (const auto& [id, router] : view.routers) {
    CompileRouterAnswers(view, router, bindings, announcers, out);
    CompileRouter(view, router, router_keys.at(id), out);
  }
  CompileNeighbours(view, out);
  CompileAnnouncements(view, bindings, out);
}

}  // namespace

FlowTable Compile(const vswitch::HostView& view, const Bindings& bindings) {
  FlowTable out;
  CompilePipeline(bindings, out);
  if (view.claims.empty()) {
    CompileView(view, bindings, out);
  } else {
    CompileView(WithoutUnpluggedClaims(view, bindings), bindings, out);
  }
  return out;
}

}  // namespace kasane::ovs
