// Removes a lab, in whatever state it is.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "tests/lab/layout.h"

namespace kasane::lab {

// Ends every process of the lab and removes its namespaces and state; nothing is left. No error if there
// was nothing.
absl::Status Down(const std::string& lab);

// The same for a lab whose lock the caller holds.
void TearDown(const Layout& layout);

}  // namespace kasane::lab
