#include "vswitch/sim/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vswitch/sim/port_security.h"

namespace kasane::sim {
void Walk::Note(std::string_view stage, vswitch::Owner owner, std::string text) {
  result_.steps.push_back({std::string(stage), std::move(owner), std::move(text)});
}

void Walk::Drop(std::string_view stage, vswitch::Owner owner, vswitch::DropReason reason) {
  Note(stage, std::move(owner), fmt::format("dropped: {} ({})", Label(reason), vswitch::Explanation(reason)));
  result_.drop = reason;
}

Result Walk::FromPort(const PortId& id) {
  const auto port = view_.ports.find(id);
  if (port == view_.ports.end()) {
    Drop("input", {}, vswitch::DropReason::kUnknownPort);
    return Finish();
  }
  const vswitch::NetworkView& network = view_.networks.at(port->second.network);
  if (!port->second.admin_state_up || !network.admin_state_up) {
    Drop("input", PortOwner(id), vswitch::DropReason::kAdminDown);
    return Finish();
  }
  Note("input", PortOwner(id),
       fmt::format("from port {} into network {} (VNI {}): {}", port->second.name, network.name, network.vni,
                   packet_.Summary()));
  origin_ = entered_ = id;
  if (!IngressSanity()) return Finish();
  // A bridge learns from what it receives, also if it is too large to go on.
  if (!port->second.port_security_enabled) Learn(network.id, {id, std::nullopt, {}});
  if (FitsMtu(network) && PortSecurity(port->second) && !AnswerArp(network, id) && !AnswerNd(network, id) &&
      !Announce(network))
    Bridge(network);
  return Finish();
}

Result Walk::FromTunnel(const IpAddress& outer_source, uint32_t vni) {
  const vswitch::RemoteHost* sender = nullptr;
  for (const auto& [id, host] : view_.hosts) {
    if (host.addresses.v4 == outer_source || host.addresses.v6 == outer_source) sender = &host;
  }
  if (sender == nullptr) {
    Drop("input", {}, vswitch::DropReason::kUnknownVtep);
    return Finish();
  }
  outer_source_ = outer_source;
  Note("input", {vswitch::OwnerKind::kHost, sender->id.str()},
       fmt::format("from the tunnel of host {}", sender->id));
  const auto found = std::find_if(view_.networks.begin(), view_.networks.end(),
                                  [&](const auto& entry) { return entry.second.vni.value() == vni; });
  if (found == view_.networks.end()) {
    Drop("tunnel", {}, vswitch::DropReason::kUnknownVni);
    return Finish();
  }
  const vswitch::NetworkView& network = found->second;
  if (!network.admin_state_up) {
    Drop("tunnel", NetworkOwner(network.id), vswitch::DropReason::kAdminDown);
    return Finish();
  }
  Note("tunnel", NetworkOwner(network.id), fmt::format("VNI {} is network {}", vni, network.name));
  if (!packet_.has_ethernet()) {
    Drop("tunnel_l2", {}, vswitch::DropReason::kMalformed);
    return Finish();
  }
  if (HasUnsecured(view_.endpoints, network.id, [&](const auto& port) { return port.host == sender->id; })) {
    Learn(network.id, {std::nullopt, sender->id, UnsecuredOn(sender->id, network.id)});
  }
  if (!Announce(network)) BridgeFromTunnel(network);
  return Finish();
}

bool Walk::IngressSanity() {
  const auto refuse = [&](vswitch::DropReason reason) {
    Drop("ingress_sanity", {}, reason);
    return false;
  };
  if (!packet_.has_ethernet()) return refuse(vswitch::DropReason::kMalformed);
  if (packet_.vlan_tagged()) return refuse(vswitch::DropReason::kVlanTagged);
  const MacAddress::Bytes dst = packet_.eth_dst().bytes();
  const MacAddress::Bytes reserved = {0x01, 0x80, 0xc2, 0x00, 0x00};
  if (std::equal(dst.begin(), dst.end() - 1, reserved.begin()) && dst[5] < 0x10) {
    return refuse(vswitch::DropReason::kReservedMulticast);
  }
  if (packet_.eth_src().IsMulticast()) return refuse(vswitch::DropReason::kMulticastSource);
  if (packet_.malformed()) return refuse(vswitch::DropReason::kMalformed);
  return true;
}

bool Walk::TooBigFor(const vswitch::NetworkView& network) const {
  // What stands behind the IP packet is padding, which does not count.
  const size_t size =
      packet_.has_ip() ? packet::kEthernet + packet_.ip_packet().size() : packet_.frame().size();
  return size > packet::kEthernet + network.mtu;
}

bool Walk::FitsMtu(const vswitch::NetworkView& network) {
  if (!TooBigFor(network)) return true;
  Drop("mtu", NetworkOwner(network.id), vswitch::DropReason::kMtu);
  AskSlowPath(network.id, slowpath::SlowPathCause::kTooBig, std::nullopt, network.mtu);
  return false;
}

bool Walk::PortSecurity(const vswitch::LocalPort& port) {
  if (!port.port_security_enabled) return true;
  const auto reason = WhyRefused(port, packet_);
  if (reason) Drop("port_security", PortOwner(port.id), *reason);
  return !reason;
}

void Walk::DeliverLocal(const vswitch::LocalPort& port) {
  if (entered_ == port.id) {
    Note("deliver", PortOwner(port.id), "a bridge never sends a frame back to where it came from");
    return;
  }
  Note("deliver", PortOwner(port.id), fmt::format("to port {}", port.name));
  result_.deliveries.push_back({port.id, {}, {}, {}, packet_.frame()});
}

void Walk::SendToHost(const HostId& host, const vswitch::NetworkView& network, const vswitch::Owner& owner,
                      std::string_view stage) {
  const auto remote = view_.hosts.find(host);
  if (remote == view_.hosts.end() || !remote->second.vtep)
    return Drop(stage, owner, vswitch::DropReason::kNoTunnel);
  result_.deliveries.push_back({{}, host, remote->second.vtep, network.vni, packet_.frame()});
}

}  // namespace kasane::sim
