// A connection to the OpenFlow switch br-int, at the level of flows.
//
// Not thread-safe: each thread opens its own.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vswitch/ovs/translate/flow_table.h"

namespace kasane::ovs {

// One step of a bundle.
struct FlowChange {
  enum class Kind : uint8_t { kDelete, kAdd, kModify };

  Kind kind = Kind::kAdd;
  FlowKey key;
  std::string actions;  // Empty for kDelete.
  uint64_t cookie = 0;  // Not used by kDelete.
  vswitch::Owner owner;
  // A modification that begins to count anew: what was counted for another owner or reason is not this one's.
  bool reset_counters = false;

  bool operator==(const FlowChange&) const = default;
};

// The switch does not take a bundle because of one of its changes. Nothing was changed.
struct Refusal {
  size_t index = 0;  // Of the change.
  std::string reason;

  bool operator==(const Refusal&) const = default;
};

// A flow in the switch's own spelling.
struct CanonicalFlow {
  FlowKey key;
  std::string actions;

  bool operator==(const CanonicalFlow&) const = default;
};

struct DumpedFlow {
  FlowKey key;  // Canonical. A table that this program does not know keeps its number.
  std::string actions;
  uint64_t cookie = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;

  bool operator==(const DumpedFlow&) const = default;
};

// One change of the switch's meters; they are in no bundle.
struct MeterChange {
  enum class Kind : uint8_t { kDelete, kAdd, kModify };

  Kind kind = Kind::kAdd;
  uint32_t id = 0;
  MeterRate limit;       // Not used by kDelete.
  vswitch::Owner owner;  // Not used by kDelete.

  bool operator==(const MeterChange&) const = default;
};

// What others changed in the switch's flows.
struct FlowDisturbance {
  uint64_t added = 0;
  uint64_t deleted = 0;
  uint64_t modified = 0;
  std::string first;  // Table, priority and match of the first one.

  bool any() const { return added + deleted + modified != 0; }
  FlowDisturbance& operator+=(const FlowDisturbance& later);
};

class OpenFlowChannel {
 public:
  virtual ~OpenFlowChannel() = default;

  // All changes in their order, or none. Returns once the switch has acknowledged (nullopt) or refused.
  // UNAVAILABLE: the connection is of no more use, and what the switch holds is unknown. Any other error:
  // nothing changed.
  virtual absl::StatusOr<std::optional<Refusal>> Commit(const std::vector<FlowChange>& changes) = 0;

  // All flows. An error means that the connection is of no more use.
  virtual absl::StatusOr<std::vector<DumpedFlow>> Dump() = 0;

  // Returns once the switch has done it, or a text why it does not. Deleting a meter deletes the flows that
  // name it. An error means that the connection is of no more use.
  virtual absl::StatusOr<std::optional<std::string>> ChangeMeter(const MeterChange& change) = 0;

  // Adds a group or changes it. Returns once the switch has done it, or a text why it does not. An error means
  // that the connection is of no more use.
  virtual absl::StatusOr<std::optional<std::string>> SetGroup(uint32_t id, const std::string& group) = 0;

  // All groups, each in the switch's own spelling. Errors likewise.
  virtual absl::StatusOr<std::map<uint32_t, std::string>> Groups() = 0;

  // All meters. A rate of 0: one that Kasane does not make. An error means that the connection is of no more
  // use.
  virtual absl::StatusOr<std::map<uint32_t, MeterRate>> Meters() = 0;

  // Packets that each meter dropped. Errors likewise.
  virtual absl::StatusOr<std::map<uint32_t, uint64_t>> MeterDrops() = 0;

  // From now on TakeDisturbance() tells what others than this channel change, but for what the switch learns.
  // Errors likewise.
  virtual absl::Status WatchFlows() = 0;

  // What came since the last call; never waits. Errors likewise.
  virtual absl::StatusOr<FlowDisturbance> TakeDisturbance() = 0;

  // Has the OVS poll loop of the calling thread wake when the switch sent something.
  virtual void WakeOnInput() = 0;

  // How a dump would show this flow. An error if it is not valid.
  virtual absl::StatusOr<CanonicalFlow> Canonical(const FlowKey& key, const std::string& actions) const = 0;

  // How Groups() would show this group. An error if it is not valid.
  virtual absl::StatusOr<std::string> CanonicalGroup(uint32_t id, const std::string& group) const = 0;
};

// Connects to the Unix socket of a bridge. `deadline` is for this, and later for each sign of life while a
// call waits for the switch.
absl::StatusOr<std::unique_ptr<OpenFlowChannel>> OpenOpenFlowChannel(
    const std::string& socket_path, std::chrono::milliseconds deadline = std::chrono::seconds(10));

}  // namespace kasane::ovs
