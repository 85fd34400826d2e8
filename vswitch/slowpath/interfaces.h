// The addresses of a router's interfaces. Used by the causes of the slow path alone.
#pragma once

#include <algorithm>
#include <vector>

#include "base/ip_address.h"
#include "vswitch/host_view.h"

namespace kasane::slowpath {

using Interfaces = std::vector<vswitch::RouterPort>;

inline bool IsOwn(const Interfaces& interfaces, const IpAddress& ip) {
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const vswitch::RouterPort& port) {
    return port.link_local == ip || std::any_of(port.addresses.begin(), port.addresses.end(),
                                                [&](const IpPrefix& own) { return own.address() == ip; });
  });
}

}  // namespace kasane::slowpath
