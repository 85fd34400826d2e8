// The name that people gave a resource; empty for kinds that have none.
#pragma once

#include <string>
#include <string_view>

#include "model/network_state.h"

namespace kasane::v1 {
class Resource;
}  // namespace kasane::v1

namespace kasane::model {

inline std::string_view NameOf(const Host&) { return ""; }
inline std::string_view NameOf(const FloatingIp&) { return ""; }
inline std::string_view NameOf(const AddressClaim&) { return ""; }
template <typename Model>
requires requires(const Model& model) { model.name.size(); }
std::string_view NameOf(const Model& model) { return model.name; }

// Of a resource that is not decoded.
std::string NameOf(const v1::Resource& resource);

}  // namespace kasane::model
