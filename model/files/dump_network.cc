#include "model/files/dump_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "model/features.h"

namespace kasane::files {
namespace {

constexpr std::string_view kType = "provider:network_type";
constexpr std::string_view kId = "provider:segmentation_id";
constexpr std::string_view kPhysical = "provider:physical_network";
constexpr std::string_view kSegments = "segments";

void RemoveField(Value& map, std::string_view name) {
  std::erase_if(map.fields, [&](const auto& field) { return field.first == name; });
}

void SetField(Value& map, std::string_view name, const ValuePtr& value) {
  RemoveField(map, name);
  map.fields.emplace_back(std::string(name), value);
}

// Types that other clouds carry tenants' networks in. A VM sees of them no more than the MTU.
bool IsOtherOverlay(std::string_view type) { return type == "geneve" || type == "gre"; }
bool IsOverlay(std::string_view type) { return type == "vxlan" || IsOtherOverlay(type); }

// A network of several segments (or of one, with some servers) has them in a list in place of the fields.
void TakeSegment(Value& network, AdaptedNetwork& out) {
  const Value* list = network.Find(kSegments);
  if (list == nullptr || list->type != Value::Type::kList || !network.TextOf(kType).empty()) return;
  const std::vector<ValuePtr> segments = list->items;
  const auto overlay = std::find_if(segments.begin(), segments.end(),
                                    [](const ValuePtr& segment) { return IsOverlay(segment->TextOf(kType)); });
  if (segments.empty()) return;
  const Value& taken = overlay != segments.end() ? **overlay : *segments.front();
  for (const auto& [name, value] : taken.fields) {
    if (name == kType || name == kId || name == kPhysical) SetField(network, name, value);
  }
  RemoveField(network, kSegments);
  if (segments.size() == 1) return;
  out.remarks.push_back(
      {model::feature::kMultiSegment,
       fmt::format("Of its {} segments only the {} one is taken; ports of the others exchange nothing with it.",
                   segments.size(), taken.TextOf(kType))});
}

void TakeOverlay(Value& network, AdaptedNetwork& out) {
  const std::string type = network.TextOf(kType);
  if (!IsOtherOverlay(type)) return;
  auto vxlan = std::make_shared<Value>(*network.Find(kType));
  vxlan->text = "vxlan";
  SetField(network, kType, vxlan);
  out.remarks.push_back(
      {model::feature::kEncapsulation,
       fmt::format("The {} network is carried in VXLAN, its segmentation id as the VNI.", type)});
}

}  // namespace

AdaptedNetwork AdaptNetwork(const ValuePtr& network) {
  AdaptedNetwork out;
  auto adapted = std::make_shared<Value>(*network);
  TakeSegment(*adapted, out);
  TakeOverlay(*adapted, out);
  out.network = std::move(adapted);
  return out;
}

}  // namespace kasane::files
