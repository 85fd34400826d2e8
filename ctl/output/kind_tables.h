// Tables of the controller's resources, one form per kind.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/network_state.h"

namespace kasane::v1 {
class ControllerStatusResponse;
class ResourceWithStatus;
}  // namespace kasane::v1

namespace kasane::ctl {

// What tables show beside the resources themselves.
struct Surroundings {
  std::map<model::ResourceKey, std::string> names;             // Of what others refer to.
  std::shared_ptr<const v1::ControllerStatusResponse> status;  // For hosts. May be null.
};

// The kinds whose names the table of `kind` shows.
std::vector<model::Kind> ReferredKinds(model::Kind kind);

std::string KindTable(model::Kind kind, const std::vector<const v1::ResourceWithStatus*>& resources,
                      const Surroundings& around);

// A line for each host that refuses one of the resources, with its first fault. Empty: none does.
std::string RejectionLines(const std::vector<const v1::ResourceWithStatus*>& resources);

}  // namespace kasane::ctl
