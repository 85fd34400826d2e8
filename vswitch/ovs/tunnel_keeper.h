// The seam to what keeps the next hops of VTEPs resolved.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "vswitch/datapath.h"
#include "vswitch/ovs/ovsdb/switch_state.h"

namespace kasane::ovs {

using TunnelStates = std::map<IpAddress, vswitch::TunnelState>;

class TunnelKeeper {
 public:
  virtual ~TunnelKeeper() = default;

  // Called once. `on_change` is called from the keeper's thread after States() changed.
  virtual void Start(std::function<void()> on_change) = 0;
  // No callback is running or comes after it returns.
  virtual void Stop() = 0;
  virtual void Want(std::vector<IpAddress> remotes) = 0;
  // The switch as it is now: a new session means that it has forgotten all neighbours.
  virtual void SetSwitch(std::shared_ptr<const SwitchState> state) = 0;
  virtual std::shared_ptr<const TunnelStates> States() const = 0;  // Any thread; never null.
};

}  // namespace kasane::ovs
