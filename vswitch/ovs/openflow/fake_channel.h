// For tests: a switch in memory behind OpenFlowChannel, with faults.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "vswitch/ovs/openflow/openflow_channel.h"

namespace kasane::ovs {

// Outlives the connections to it, as a switch does. It spells everything in upper case, so that a test
// notices who compares spellings instead of meanings.
class FakeSwitch {
 public:
  struct Flow {
    std::string actions;
    uint64_t cookie = 0;

    bool operator==(const Flow&) const = default;
  };

  std::map<FlowKey, Flow> flows;  // Under canonical keys.
  std::map<uint32_t, MeterRate> meters;
  std::vector<MeterChange> meter_changes;        // Every one sent, also those refused.
  std::vector<std::vector<FlowChange>> bundles;  // Every one sent, also those refused.
  size_t dumps = 0;
  FlowDisturbance disturbance;  // Told once to who asks.
  size_t connections = 0;

  // Faults.
  std::optional<uint32_t> refused_meter;  // No change of this meter is taken.
  std::string refused_actions;            // A bundle that adds a flow with these actions is refused.
  std::optional<size_t> fail_call;    // The n-th Commit or Dump from now (0: the next) loses the connection ...
  bool apply_before_failing = false;  // ... before or after the switch took the bundle.

  absl::StatusOr<std::unique_ptr<OpenFlowChannel>> Connect();
  void Restart() {
    flows.clear();
    meters.clear();
  }

 private:
  friend class FakeChannel;
  bool CallFails();
  std::optional<Refusal> Apply(const std::vector<FlowChange>& changes);
};

CanonicalFlow FakeCanonical(const FlowKey& key, const std::string& actions);

}  // namespace kasane::ovs
