// The status of a port as Neutron spells it.
#pragma once

#include <string_view>

namespace kasane::v1 {
enum PortStatus : int;
}  // namespace kasane::v1

namespace kasane::model {

std::string_view Label(v1::PortStatus status);  // "ACTIVE", "N/A"; empty: not a port.

}  // namespace kasane::model
