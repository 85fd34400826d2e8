// A document into the resources of a file: follows it beside the tables of neutron_form.h. Internal to
// resource_file.h.
#pragma once

#include "model/files/resource_file.h"

namespace kasane::files {

// Adds what `document` has to `out`.
void ReadResources(const Value& document, Unknown unknown, ResourceFile& out);

}  // namespace kasane::files
