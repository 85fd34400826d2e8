// A cloud in sim: several hosts with their HostViews, and the underlay between them. A frame that enters at a
// port, or from a tunnel, is followed through every tunnel to where it ends. Pure; any thread.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "vswitch/sim/sim.h"

namespace kasane::sim {

struct CloudDelivery {
  HostId host;
  PortId port;
  Frame frame;

  bool operator==(const CloudDelivery&) const = default;
};

struct CloudDrop {
  HostId host;
  vswitch::DropReason reason;

  bool operator==(const CloudDrop&) const = default;
};

struct CloudStep {
  HostId host;
  Step step;
};

struct CloudResult {
  std::vector<CloudDelivery> deliveries;
  std::vector<CloudDrop> drops;
  std::vector<CloudStep> steps;
  // What the frame teaches, for the frames after it: MACs by host, what a fragment is a part of, and who speaks
  // for an address now.
  std::vector<std::pair<HostId, LearnedMacs::value_type>> learned;
  std::optional<std::pair<HostId, slowpath::SlowPathPacket>> fragment;  // As Result's.
  std::vector<slowpath::Announcement> announcements;
  std::optional<vswitch::ClaimKey> waits_for;  // As Result's.
};

class Cloud {
 public:
  // What frames before have left on the hosts.
  struct Memory {
    std::map<HostId, LearnedMacs> learned;
    std::map<HostId, slowpath::Reassembly> fragments;
  };

  explicit Cloud(std::map<HostId, vswitch::HostView> views, Memory memory = {});

  const std::map<HostId, vswitch::HostView>& views() const { return views_; }
  const Memory& memory() const { return memory_; }

  // `frame` is sent by the VM at `port`. On a host that does not have the port it drops as unknown_port.
  CloudResult FromPort(const HostId& host, const PortId& port, const Frame& frame,
                       const Unanswered& unanswered = {}) const;

  // `frame` is the inner frame of a VXLAN packet that reaches `host` from `outer_source`.
  CloudResult FromTunnel(const HostId& host, const IpAddress& outer_source, uint32_t vni,
                         const Frame& frame) const;

  // Keeps what a frame taught, as a switch does that really forwarded it. Announcements are for whoever builds
  // the views.
  void Remember(const CloudResult& result);

 private:
  const LearnedMacs& LearnedOn(const HostId& host) const;
  void FollowDeliveries(const HostId& host, Result result, CloudResult& out) const;

  std::map<HostId, vswitch::HostView> views_;
  Memory memory_;
};

}  // namespace kasane::sim
