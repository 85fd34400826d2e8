// Where an entry of the forwarding tables sends a packet, as actions.
#pragma once

#include <fmt/format.h>

#include <string>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/compiler.h"
#include "vswitch/tables/forwarding_tables.h"

namespace kasane::ovs {

// The switch's number of a port; 0: it is not plugged.
inline uint32_t NumberOf(const Bindings& bindings, const PortId& port) {
  const auto number = bindings.ports.find(port);
  return number == bindings.ports.end() ? 0 : number->second;
}

// With a comma behind it.
inline std::string ToPort(uint32_t number) {
  return fmt::format("set_field:{:#x}->{},", number, reg::kOutPort);
}

// Into the tunnel to a host, without the VNI; empty: it cannot be reached.
inline std::string ToPlace(const tables::RemotePlace& place, const Bindings& bindings) {
  if (!place.vtep) return "";
  const uint32_t port = place.vtep->is_v4() ? bindings.vxlan_v4 : bindings.vxlan_v6;
  if (port == 0) return "";
  return fmt::format("set_field:{}->{},output:{}", *place.vtep,
                     place.vtep->is_v4() ? "tun_dst" : "tun_ipv6_dst", port);
}

// With a comma behind it.
inline std::string SetTunnelVni(Vni vni) { return fmt::format("set_field:{:#x}->tun_id,", vni.value()); }

}  // namespace kasane::ovs
