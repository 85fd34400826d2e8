// Which of the controller's resources a word of the command line names.
#pragma once

#include <string>
#include <vector>

namespace kasane::v1 {
class ResourceWithStatus;
}  // namespace kasane::v1

namespace kasane::ctl {

using Resources = std::vector<const v1::ResourceWithStatus*>;

// Those of `all`, which are of one kind, with this id; else those with this name; else those whose id begins
// with it, if it has four characters or more.
Resources Matching(const Resources& all, const std::string& text);

}  // namespace kasane::ctl
