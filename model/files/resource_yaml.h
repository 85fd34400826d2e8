// The inverse of resource_file.h: protobuf resources as the YAML or JSON that a resource file holds.
// What is printed can be applied again.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kasane::v1 {
class Resource;
class ResourceWithStatus;
}  // namespace kasane::v1

namespace kasane::files {

// The fields of one resource under Neutron's names. Strings and lists that are empty and numbers that
// are 0 are left out, as absent means the same; booleans are always there.
nlohmann::ordered_json ResourceToJson(const v1::Resource& resource);

// A whole file: sections in the order of kinds. Beside the fields of each resource, what is passed over
// on input: `status` (ports), `revision_number`, and under `kasane` the hosts that refuse the resource
// and what of it is not enforced.
nlohmann::ordered_json ResourcesToJson(const std::vector<const v1::ResourceWithStatus*>& resources);

}  // namespace kasane::files
