// What can be taken out of a resource of a dump without changing what the rest of it means.
//
// A resource that a check refuses is taken in part where the part at fault only adds something (an extra route,
// an allowed address pair, a rule of a security group: without it less is allowed or reached), or is not used
// here at all (allocation pools). Never where the resource would come to mean something else, such as a rule
// without its remote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/network_state.h"

namespace kasane::v1 {
class Resource;
}  // namespace kasane::v1

namespace kasane::ctl {

// One thing wrong with a resource, at a path within it: "routes[2].nexthop".
struct PartFault {
  std::string path;
  std::string message;
};

struct Shortfall {
  std::string feature;  // model/features.h
  std::string detail;   // One sentence.

  bool operator==(const Shortfall&) const = default;
};

struct Repaired {
  bool ok = false;                    // False: the resource cannot be taken at all, and is unchanged.
  const PartFault* cause = nullptr;   // Then: the first fault that cannot be taken out.
  std::vector<Shortfall> shortfalls;  // Else: what was taken out.
};

// Takes every part of `resource` that is at fault out of it.
Repaired Repair(v1::Resource& resource, const std::vector<PartFault>& faults);

}  // namespace kasane::ctl
