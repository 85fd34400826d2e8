// What is wrong or not enforced, as messages of the API.
#pragma once

#include <optional>
#include <string>

#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/not_enforced.h"

namespace kasane::controller {

v1::Fault MakeFault(const std::optional<model::ResourceKey>& key, const std::string& path,
                    const std::string& message);
v1::NotEnforced MakeNotEnforced(const model::NotEnforcedItem& item);

}  // namespace kasane::controller
