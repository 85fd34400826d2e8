// Neutron's defaults for what a resource leaves out. The controller fills them in before it stores a resource,
// so that whoever reads it finds every field. No default opens anything: what is left out by mistake stays
// protected.
#pragma once

#include <cstdint>

#include "model/network_state.h"

namespace kasane::v1 {
class Resource;
}  // namespace kasane::v1

namespace kasane::model {

uint32_t DefaultMtu(NetworkType type);

// Sets each `optional` field that is absent. `network_port_security` is that of a port's network; true if that
// is not known. A value that is invalid is left as it is.
void FillDefaults(v1::Resource& resource, bool network_port_security);

}  // namespace kasane::model
