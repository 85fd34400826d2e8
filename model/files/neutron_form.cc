#include "model/files/neutron_form.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/edit_distance.h"

namespace kasane::files {
namespace {

using google::protobuf::Descriptor;

std::string Underscored(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

}  // namespace

std::span<const FieldForm> FormOf(const Descriptor& message) {
  const std::span<const MessageForm> forms = AllForms();
  const auto found = std::find_if(forms.begin(), forms.end(),
                                  [&](const MessageForm& form) { return form.message == message.name(); });
  KASANE_CHECK(found != forms.end());
  return found->fields;
}

const FieldForm* FindField(std::span<const FieldForm> form, std::string_view name) {
  const auto found =
      std::find_if(form.begin(), form.end(), [&](const FieldForm& field) { return field.name == name; });
  return found == form.end() ? nullptr : &*found;
}

const google::protobuf::FieldDescriptor* ProtoField(const Descriptor& message, const FieldForm& field) {
  if (!IsStored(field.use)) return nullptr;
  std::string name(field.proto.empty() ? field.name : field.proto);
  std::replace(name.begin(), name.end(), ':', '_');
  return message.FindFieldByName(name);
}

std::optional<model::Kind> KindOfSection(std::string_view section) {
  const auto kind = model::KindFromText(section);
  // Sections are plural; "port" is a slip that gets a suggestion.
  if (!kind || !section.ends_with('s') || kind == model::Kind::kAddressClaim) return std::nullopt;
  return kind;
}

const SectionForm* FindOtherSection(std::string_view section) {
  const std::string name = Underscored(section);
  const std::span<const SectionForm> sections = OtherSections();
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const SectionForm& other) { return other.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

bool IsLinksSection(std::string_view section) {
  constexpr std::string_view kSuffix = "_links";
  if (!section.ends_with(kSuffix)) return false;
  section.remove_suffix(kSuffix.size());
  return KindOfSection(section).has_value() || FindOtherSection(section) != nullptr;
}

std::string_view NearestField(std::span<const FieldForm> form, std::string_view name) {
  NearestName nearest(name);
  for (const FieldForm& field : form) nearest.Offer(field.name);
  return nearest.result();
}

std::string_view NearestSection(std::string_view name) {
  NearestName nearest(name);
  for (const model::Kind kind : model::kAllKinds) nearest.Offer(model::Plural(kind));
  return nearest.result();
}

}  // namespace kasane::files
