// Flows as values: what the compiler makes, the plan compares and the channel sends.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "vswitch/datapath.h"
#include "vswitch/drop_reason.h"
#include "vswitch/ovs/translate/pipeline.h"

namespace kasane::ovs {

// What makes a flow unique in a switch.
struct FlowKey {
  Table table = Table::kInput;
  uint16_t priority = 0;
  std::string match;  // ovs-fields(7) text without table and priority, fields in a fixed order.

  auto operator<=>(const FlowKey&) const = default;
  bool operator==(const FlowKey&) const = default;
};

struct FlowValue {
  std::string actions;  // ovs-actions(7) text.
  vswitch::Owner owner;
  std::optional<vswitch::DropReason> drop;

  bool operator==(const FlowValue&) const = default;
};

// A meter of the switch: what comes faster than `rate` packets a second, after `burst` at once, is dropped.
struct MeterRate {
  uint32_t rate = 0;
  uint32_t burst = 0;

  bool operator==(const MeterRate&) const = default;
};

struct Meter {
  MeterRate limit;
  vswitch::Owner owner;
  vswitch::DropReason drop = vswitch::DropReason::kReplicationRate;  // What it drops counts as this.

  bool operator==(const Meter&) const = default;
};

class FlowTable {
 public:
  // Adds a flow. Two owners that want the same key: the one that compares lower keeps it, and
  // conflicts() counts it.
  void Add(FlowKey key, FlowValue value);

  // A meter that flows may name, by number.
  void AddMeter(uint32_t id, Meter meter) { meters_.insert_or_assign(id, std::move(meter)); }

  // A group that flows may name, by number: ovs-ofctl(8) text without the number. Groups are the same for all
  // owners, and adding one again changes nothing.
  void AddGroup(uint32_t id, const std::string& text) { groups_.try_emplace(id, text); }

  // What the owner wants and these flows do not do, as a text for the operator.
  void AddShortfall(const vswitch::Owner& owner, const std::string& text) {
    shortfalls_.try_emplace(owner, text);
  }

  const std::map<FlowKey, FlowValue>& flows() const { return flows_; }
  const std::map<uint32_t, Meter>& meters() const { return meters_; }
  const std::map<uint32_t, std::string>& groups() const { return groups_; }
  const std::map<vswitch::Owner, std::string>& shortfalls() const { return shortfalls_; }
  size_t conflicts() const { return conflicts_; }

 private:
  std::map<FlowKey, FlowValue> flows_;
  std::map<uint32_t, Meter> meters_;
  std::map<uint32_t, std::string> groups_;
  std::map<vswitch::Owner, std::string> shortfalls_;
  size_t conflicts_ = 0;
};

// "table=5(l2) priority=100 metadata=0x1,dl_dst=... actions=... # port ID", a line each, with the owner, and
// before them "meter=3 rate=1000 burst=1000 # port ID drops replication_rate": the golden form, for people to
// review.
std::string ToString(const FlowTable& table);

}  // namespace kasane::ovs
