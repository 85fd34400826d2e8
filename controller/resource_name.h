// The name that people gave a resource; empty for kinds that have none.
#pragma once

#include <string_view>

#include "agent/state/network_state.h"

namespace kasane {

inline std::string_view NameOf(const model::Host&) { return ""; }
inline std::string_view NameOf(const model::FloatingIp&) { return ""; }
inline std::string_view NameOf(const model::AddressClaim&) { return ""; }
template <typename Model>
std::string_view NameOf(const Model& model) {
  return model.name;
}

}  // namespace kasane
