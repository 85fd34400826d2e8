// The lab's conversation with one hypervisor's agent, over its admin socket.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "tests/lab/layout.h"

namespace kasane::lab {

struct AgentProgress {
  bool synced = false;
  bool datapath_ready = false;
  uint64_t applied = 0;  // Counter.
  std::set<PortId> active_ports;
  std::set<IpAddress> tunnels_not_ready;  // Remote addresses.
};

// One verdict of the agent's trace.
struct AgentVerdict {
  PortId port;         // Local delivery; else empty.
  HostId remote_host;  // Tunnel delivery; else empty.
  uint32_t vni = 0;
  std::string drop_reason;  // Dropped; else empty.
  std::vector<uint8_t> frame;
};

class AgentClient {
 public:
  AgentClient(const Layout& layout, const std::string& host);
  ~AgentClient();

  // An error while the agent does not answer.
  absl::StatusOr<AgentProgress> Progress();
  // What the switch holds and should not, and the other way round: a line each.
  absl::StatusOr<std::vector<std::string>> FlowDifferences();
  // Packets by drop reason, of all flows.
  absl::StatusOr<std::map<std::string, uint64_t>> Drops();
  // The MAC that has the address on the network of this host's port.
  absl::StatusOr<MacAddress> Resolve(const PortId& port, const IpAddress& ip);
  absl::StatusOr<std::vector<AgentVerdict>> Trace(const PortId& port, const std::vector<uint8_t>& frame);

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

}  // namespace kasane::lab
