// The label of a table, also of one that this version of the pipeline does not have.
#pragma once

#include <string_view>

#include "vswitch/ovs/translate/pipeline.h"

namespace kasane::ovs {

inline std::string_view StageName(Table table) {
  return static_cast<int>(table) < kTableCount ? Label(table) : std::string_view("unknown");
}

}  // namespace kasane::ovs
