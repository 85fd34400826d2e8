// The name that people gave a resource; empty for kinds that have none.
#pragma once

#include <string_view>

#include "model/network_state.h"

namespace kasane::model {

inline std::string_view NameOf(const Host&) { return ""; }
inline std::string_view NameOf(const FloatingIp&) { return ""; }
inline std::string_view NameOf(const AddressClaim&) { return ""; }
template <typename Model>
std::string_view NameOf(const Model& model) {
  return model.name;
}

}  // namespace kasane::model
