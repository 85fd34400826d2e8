// What an operator configures about the OVS datapath.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vswitch/host_view.h"
#include "vswitch/ovs/translate/flow_table.h"
#include "vswitch/slowpath/rate_limiter.h"
#include "vswitch/slowpath/timeouts.h"

namespace kasane::ovs {

struct OvsConfig {
  std::string run_dir = "/var/run/openvswitch";  // Sockets and pid files of the OVS daemons.
  std::string ovsdb_remote;                      // "unix:PATH" or "tcp:IP:PORT". Empty: unix:RUN_DIR/db.sock.
  std::string bridge = "br-int";                 // The integration bridge. All its flows are ours.
  // "netdev" (userspace), "system" (kernel module), or empty: what the bridge has already, else system
  // where the kernel has the module, else netdev.
  std::string datapath_type;
  vswitch::TunnelAddresses tunnel_addresses;  // This host's VTEP addresses.
  uint16_t vxlan_port = 4789;                 // UDP port of VXLAN, local and remote.
  // What one port may have replicated: broadcast, multicast, unknown unicast. Nothing: no limit.
  std::optional<MeterRate> replication_limit = MeterRate{1000, 1000};
  slowpath::RateLimit slow_path_rate = {};  // Questions that one port, or one other host, may have answered.
  slowpath::Timeouts slow_path_timeouts = {};

  std::string Remote() const { return ovsdb_remote.empty() ? "unix:" + run_dir + "/db.sock" : ovsdb_remote; }
  std::string OpenFlowSocket() const { return run_dir + "/" + bridge + ".mgmt"; }
};

}  // namespace kasane::ovs
