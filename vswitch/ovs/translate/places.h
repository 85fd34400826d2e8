// Where an entry of the forwarding tables sends a packet, as actions.
#pragma once

#include <fmt/format.h>

#include <string>

#include "vswitch/ovs/translate/actions.h"
#include "vswitch/ovs/translate/bindings.h"
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

// Into the tunnel to `vtep`, without the VNI; empty: there is no tunnel port of its family. Of several copies
// of a packet each finds what the one before it has set, and the switch sends by tun_dst while that is set:
// where both families are in use, each copy clears the other one's field.
inline std::string ToVtep(const IpAddress& vtep, const Bindings& bindings) {
  const bool v4 = vtep.is_v4();
  const uint32_t port = v4 ? bindings.vxlan_v4 : bindings.vxlan_v6;
  if (port == 0) return "";
  const bool both = bindings.vxlan_v4 != 0 && bindings.vxlan_v6 != 0;
  const char* clear = !both ? "" : v4 ? "set_field:::->tun_ipv6_dst," : "set_field:0.0.0.0->tun_dst,";
  return fmt::format("{}set_field:{}->{},output:{}", clear, vtep, v4 ? "tun_dst" : "tun_ipv6_dst", port);
}

// The same to a host; empty too if it has no VTEP that this one reaches.
inline std::string ToPlace(const tables::RemotePlace& place, const Bindings& bindings) {
  return place.vtep ? ToVtep(*place.vtep, bindings) : "";
}

// With a comma behind it.
inline std::string SetTunnelVni(Vni vni) { return fmt::format("set_field:{:#x}->tun_id,", vni.value()); }

}  // namespace kasane::ovs
