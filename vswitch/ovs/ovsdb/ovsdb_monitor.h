// The SwitchMonitor on a real switch: one thread with an OVSDB replica, a watching OpenFlow connection and
// the kernel's address events. It ensures the bridge and the VXLAN ports, and publishes SwitchState.
//
// A restart of ovs-vswitchd (or of the bridge) is seen as the end of the OpenFlow connection; the next one
// is a new session.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "vswitch/ovs/ovsdb/ovs_config.h"
#include "vswitch/ovs/ovsdb/switch_state.h"

namespace kasane::ovs {

absl::StatusOr<std::unique_ptr<SwitchMonitor>> NewOvsdbMonitor(const OvsConfig& config);

}  // namespace kasane::ovs
