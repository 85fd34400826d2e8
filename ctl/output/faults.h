// Faults of a resource file from two judges, its form and the controller, as one list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/decode.h"

namespace kasane::ctl {

// `form` and `controller` in one list, sorted by path ("ports[9]" before "ports[10]"), without duplicates.
// What the controller says of a field whose form is already at fault is left out: it saw that field
// empty, or not at all.
std::vector<model::Fault> MergeFaults(const std::vector<model::Fault>& form,
                                      const std::vector<model::Fault>& controller);

// Text order, but runs of digits by their value.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace kasane::ctl
