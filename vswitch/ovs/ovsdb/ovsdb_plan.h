// What must change in OVSDB for the bridge and its VXLAN ports to be as we need them. Pure.
//
// We touch only the bridge itself and ports that carry external_ids:kasane-owner; a port of somebody else
// that is in the way is a Problem.
#pragma once

#include <string>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/ovsdb/ovs_config.h"
#include "vswitch/ovs/ovsdb/ovsdb_snapshot.h"

namespace kasane::ovs {

inline constexpr char kOwnerMark[] = "kasaned";
inline constexpr char kVxlanPort4[] = "kas-vx4";
inline constexpr char kVxlanPort6[] = "kas-vx6";

struct OvsdbOp {
  enum class Kind : uint8_t { kAddBridge, kSetBridge, kAddPort, kSetOptions, kDeletePort };

  Kind kind = Kind::kAddBridge;
  std::string port;           // kAddPort, kSetOptions, kDeletePort. Its interface has the same name.
  std::string datapath_type;  // kAddBridge, kSetBridge.
  OptionMap options;          // kAddPort, kSetOptions: of a VXLAN interface.

  bool operator==(const OvsdbOp&) const = default;
};

struct OvsdbPlan {
  std::string datapath_type;  // Chosen; empty while that is not possible.
  std::vector<OvsdbOp> ops;   // One transaction. Further ones may follow once the database shows these.
  std::vector<vswitch::Problem> problems;
  bool blocked = false;  // One of the problems makes the switch unusable.

  bool operator==(const OvsdbPlan&) const = default;
};

// What was found wrong and the step puts right: "port kas-vx4 was missing".
std::string Describe(const OvsdbOp& op);

// `kernel_module`: the kernel has (or can load) the openvswitch module.
OvsdbPlan PlanOvsdb(const OvsdbSnapshot& snapshot, const OvsConfig& config, bool kernel_module);

}  // namespace kasane::ovs
