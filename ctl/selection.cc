#include "ctl/selection.h"

#include "kasane/v1/controller.pb.h"
#include "model/decode.h"
#include "model/resource_name.h"

namespace kasane::ctl {

Resources Matching(const Resources& all, const std::string& text) {
  constexpr size_t kMinPrefix = 4;
  Resources by_name;
  Resources by_prefix;
  for (const auto* resource : all) {
    const std::string id = model::DecodeKey(resource->resource())->id;
    if (id == text) return {resource};
    if (model::NameOf(resource->resource()) == text) by_name.push_back(resource);
    if (text.size() >= kMinPrefix && id.starts_with(text)) by_prefix.push_back(resource);
  }
  return by_name.empty() ? by_prefix : by_name;
}

}  // namespace kasane::ctl
