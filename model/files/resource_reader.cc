#include "model/files/resource_reader.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/check.h"
#include "base/edit_distance.h"
#include "base/text.h"
#include "kasane/v1/controller.pb.h"
#include "kasane/v1/resources.pb.h"
#include "model/features.h"
#include "model/field.h"
#include "model/files/document.h"
#include "model/files/dump_network.h"
#include "model/files/neutron_form.h"

namespace kasane::files {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// So many faults and no more are collected from one file: nobody reads further.
constexpr size_t kMaxFaults = 1000;

// A name of the file as it may stand in a path: short and printable.
std::string Shown(const std::string& name) {
  constexpr size_t kLongest = 64;
  return name.size() <= kLongest && !model::HasControl(name) ? name : model::Quoted(name);
}

// Whether the field's value asks for the feature that the field is for. `false` asks for nothing; of gateways
// and segments the first one is what other fields say as well.
bool Asks(const FieldForm& form, const Value& value) {
  const bool beyond_the_first =
      form.feature == model::feature::kSecondGateway || form.feature == model::feature::kMultiSegment;
  if (value.type == Value::Type::kList) return value.items.size() > (beyond_the_first ? 1U : 0U);
  return !value.IsEmpty() && !(value.IsBoolean() && (value.text[0] == 'f' || value.text[0] == 'F'));
}

// Follows the document beside the tables of neutron_form.h and fills in protobuf messages.
class Reader {
 public:
  Reader(Unknown unknown, ResourceFile& out) : unknown_(unknown), out_(out), root_("", out.faults) {}

  void Read(const Value& document);

 private:
  template <typename... Args>
  void Fail(const model::Field& at, const Value& value, fmt::format_string<Args...> format, Args&&... args) {
    at.Fail("{} (line {})", fmt::format(format, std::forward<Args>(args)...), value.line);
  }
  bool Full() const { return unknown_ == Unknown::kFault && out_.faults.size() >= kMaxFaults; }

  void ReadSection(const std::string& section, const Value& value);
  void ReadOtherSection(const std::string& section, std::string_view feature, const Value& value);
  void ReadResource(model::Kind kind, const std::string& section, int index, const ValuePtr& given);
  void NoteField(const FieldForm& form, const Value& value, const std::string& pattern);
  void NoteNotEnforced(std::string_view feature, std::string detail);
  // `allows`: the message that the field is in grants something.
  void ReadUnknownField(std::span<const FieldForm> forms, const std::string& name, const Value& value,
                        const model::Field& at, bool allows);
  void CheckUniqueId(const model::ResourceKey& key, const model::Field& at, const Value& value);
  void ReadMessage(const Value& map, const model::Field& at, const std::string& pattern, Message& out);
  // `value` is null for a field that is absent or null in the file.
  void ReadField(const Value* value, const model::Field& parent, const std::string& pattern,
                 const FieldForm& form, Message& out);
  void ReadList(const Value& list, const model::Field& parent, const std::string& pattern,
                const FieldForm& form, const FieldDescriptor& field, Message& out);
  void ReadScalar(const Value& value, const model::Field& at, const FieldDescriptor& field, Message& out);
  std::optional<std::string> AsString(const Value& value, const model::Field& at);
  std::optional<bool> AsBoolean(const Value& value, const model::Field& at);
  std::optional<uint32_t> AsNumber(const Value& value, const model::Field& at);

  const Unknown unknown_;
  ResourceFile& out_;
  model::Field root_;
  std::map<model::ResourceKey, std::string> ids_;  // Where each one stands.
  std::map<std::string, UnusedField> unused_;      // By path.
};

void Reader::Read(const Value& document) {
  if (document.type == Value::Type::kNull) return;
  if (document.type != Value::Type::kMap) {
    return Fail(root_.Sub("file"), document, "expected a mapping of sections such as ports, found {}",
                TypeName(document));
  }
  std::set<std::string_view> seen;
  for (const auto& [section, value] : document.fields) {
    if (Full()) break;
    if (!seen.insert(section).second) {
      Fail(root_.Sub(Shown(section)), *value, "is there twice; join the sections");
      continue;
    }
    ReadSection(section, *value);
  }
  if (Full()) root_.Sub("file").Fail("has more faults; the first {} are shown", kMaxFaults);
  for (auto& [path, field] : unused_) out_.unused.push_back(std::move(field));
}

void Reader::ReadSection(const std::string& section, const Value& value) {
  const std::string shown = Shown(section);
  const model::Field at = root_.Sub(shown);
  const auto kind = KindOfSection(section);
  if (!kind) {
    if (const SectionForm* other = FindOtherSection(section); other != nullptr) {
      if (other->use == Use::kNotEnforced) return ReadOtherSection(section, other->feature, value);
      if (value.IsEmpty()) return;
      const size_t count = value.type == Value::Type::kList ? value.items.size() : 1;
      unused_[section] = {section, static_cast<int>(count), other->use == Use::kMetadata};
      return;
    }
    if (unknown_ == Unknown::kNote) {
      if (!IsLinksSection(section)) ReadOtherSection(section, "", value);
      return;
    }
    const std::string_view nearest = NearestSection(section);
    return Fail(at, value, "is no known section{}",
                nearest.empty() ? "; they are those of Neutron's API, and hosts" : DidYouMean(nearest));
  }
  if (value.type == Value::Type::kNull) return;
  if (value.type != Value::Type::kList) return Fail(at, value, "expected a list, found {}", TypeName(value));
  for (size_t i = 0; i < value.items.size() && !Full(); ++i) {
    ReadResource(*kind, section, static_cast<int>(i), value.items[i]);
  }
}

void Reader::ReadOtherSection(const std::string& section, std::string_view feature, const Value& value) {
  if (value.IsEmpty()) return;
  const std::string shown = Shown(section);
  const std::string why = feature.empty() ? "its section is not known to this version"
                                          : std::string(model::feature::Explanation(feature));
  const auto add = [&](const Value& item, std::string path) {
    out_.others.push_back(
        {shown, item.TextOf("id"), item.TextOf("name"), std::move(path), item.line, std::string(feature), why});
  };
  if (value.type != Value::Type::kList) return add(value, shown);
  for (size_t i = 0; i < value.items.size(); ++i) add(*value.items[i], fmt::format("{}[{}]", shown, i));
}

void Reader::ReadResource(model::Kind kind, const std::string& section, int index, const ValuePtr& given) {
  const model::Field at = root_.Item(section, index);
  const Value& value = *given;
  if (value.type != Value::Type::kMap) return Fail(at, value, "expected a mapping, found {}", TypeName(value));
  out_.lines.push_back(value.line);
  v1::ApplyItem& item = out_.items.emplace_back();
  item.set_path(at.Path());
  v1::Resource& resource = *item.mutable_resource();
  const FieldDescriptor* spec = v1::Resource::descriptor()->FindFieldByName(std::string(Label(kind)));
  Message& message = *resource.GetReflection()->MutableMessage(&resource, spec);
  if (unknown_ == Unknown::kNote && kind == model::Kind::kNetwork) {
    const AdaptedNetwork adapted = AdaptNetwork(given);
    for (const auto& [feature, detail] : adapted.remarks) NoteNotEnforced(feature, detail);
    ReadMessage(*adapted.network, at, section + "[*]", message);
  } else {
    ReadMessage(value, at, section + "[*]", message);
  }
  // An entry with addresses pins them; one without leaves them to the host's agent.
  if (kind == model::Kind::kHost)
    resource.mutable_host()->set_pinned(!resource.host().tunnel_addresses().empty());
  // A dump in pages may have a resource twice: the importer takes the first.
  if (unknown_ == Unknown::kNote) return;
  if (const auto key = model::DecodeKey(resource)) CheckUniqueId(*key, at, value);
}

void Reader::NoteNotEnforced(std::string_view feature, std::string detail) {
  out_.not_enforced.push_back({out_.items.size() - 1, std::string(feature), std::move(detail)});
}

// A field of the tables that is not stored.
void Reader::NoteField(const FieldForm& form, const Value& value, const std::string& pattern) {
  if (form.use == Use::kNotEnforced) {
    if (Asks(form, value))
      NoteNotEnforced(form.feature, std::string(model::feature::Explanation(form.feature)));
  } else if ((form.use == Use::kUnused || form.use == Use::kMetadata) && !value.IsEmpty()) {
    std::string path = fmt::format("{}.{}", pattern, form.name);
    UnusedField& field = unused_[path];
    field.path = std::move(path);
    field.metadata = form.use == Use::kMetadata;
    ++field.count;
  }
}

void Reader::ReadUnknownField(std::span<const FieldForm> forms, const std::string& name, const Value& value,
                              const model::Field& at, bool allows) {
  const std::string shown = Shown(name);
  if (unknown_ == Unknown::kFault) {
    return Fail(at.Sub(shown), value, "is no known field{}", DidYouMean(NearestField(forms, name)));
  }
  if (value.IsEmpty()) return;
  // What only allows something must not come to allow more than it says: without a field that may restrict
  // it, it is not taken.
  if (allows) return Fail(at.Sub(shown), value, "is not known to this version, and may restrict it");
  NoteNotEnforced(model::feature::kUnknownField,
                  fmt::format("Its field {} is not known to this version.", shown));
}

void Reader::CheckUniqueId(const model::ResourceKey& key, const model::Field& at, const Value& value) {
  const auto [first, is_new] = ids_.try_emplace(key, at.Path());
  if (!is_new)
    Fail(at.Sub("id"), value, "{} is also the id of {}; remove one of them", model::Quoted(key.id),
         first->second);
}

void Reader::ReadMessage(const Value& map, const model::Field& at, const std::string& pattern, Message& out) {
  const std::span<const FieldForm> forms = FormOf(*out.GetDescriptor());
  const bool allows = out.GetDescriptor() == v1::SecurityGroupRule::descriptor() ||
                      out.GetDescriptor() == v1::AllowedAddressPair::descriptor();
  std::map<std::string_view, const Value*> given;
  for (const auto& [name, value] : map.fields) {
    const FieldForm* form = FindField(forms, name);
    if (form == nullptr) {
      ReadUnknownField(forms, name, *value, at, allows);
    } else if (!given.emplace(form->name, value.get()).second) {
      Fail(at.Sub(form->name), *value, "is there twice; remove one");
    }
    if (Full()) return;
  }
  for (const FieldForm& form : forms) {
    const auto found = given.find(form.name);
    const Value* value =
        found == given.end() || found->second->type == Value::Type::kNull ? nullptr : found->second;
    if (Full()) return;
    ReadField(value, at, pattern, form, out);
  }
}

void Reader::ReadField(const Value* value, const model::Field& parent, const std::string& pattern,
                       const FieldForm& form, Message& out) {
  if (!IsStored(form.use) && value != nullptr) NoteField(form, *value, pattern);
  if (!IsStored(form.use) || form.use == Use::kOutput) return;
  const FieldDescriptor& field = *ProtoField(*out.GetDescriptor(), form);
  if (value == nullptr) return;
  const model::Field at = parent.Sub(form.name);
  if (form.use == Use::kFallback && !out.GetReflection()->GetString(out, &field).empty()) return;
  if (field.is_repeated()) return ReadList(*value, parent, pattern, form, field, out);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return ReadScalar(*value, at, field, out);
  if (value->type != Value::Type::kMap)
    return Fail(at, *value, "expected a mapping, found {}", TypeName(*value));
  // Neutron clears a gateway with {}.
  if (value->IsEmpty()) return;
  ReadMessage(*value, at, fmt::format("{}.{}", pattern, form.name),
              *out.GetReflection()->MutableMessage(&out, &field));
}

void Reader::ReadList(const Value& list, const model::Field& parent, const std::string& pattern,
                      const FieldForm& form, const FieldDescriptor& field, Message& out) {
  if (list.type != Value::Type::kList) {
    return Fail(parent.Sub(form.name), list, "expected a list, found {}", TypeName(list));
  }
  const auto& reflection = *out.GetReflection();
  const std::string item_pattern = fmt::format("{}.{}[*]", pattern, form.name);
  for (size_t i = 0; i < list.items.size() && !Full(); ++i) {
    const Value& item = *list.items[i];
    const model::Field at = parent.Item(form.name, static_cast<int>(i));
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      // Added even if unfit, so that the items after it keep their index in later faults.
      reflection.AddString(&out, &field, AsString(item, at).value_or(""));
    } else if (Message& message = *reflection.AddMessage(&out, &field); item.type == Value::Type::kMap) {
      ReadMessage(item, at, item_pattern, message);
    } else {
      Fail(at, item, "expected a mapping, found {}", TypeName(item));
    }
  }
}

void Reader::ReadScalar(const Value& value, const model::Field& at, const FieldDescriptor& field,
                        Message& out) {
  const auto& reflection = *out.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (auto text = AsString(value, at)) reflection.SetString(&out, &field, *std::move(text));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      if (const auto on = AsBoolean(value, at)) reflection.SetBool(&out, &field, *on);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      if (const auto number = AsNumber(value, at)) reflection.SetUInt32(&out, &field, *number);
      break;
    default:
      KASANE_CHECK(false);  // The tables name no field of another type.
  }
}

// A number is taken as the text that it is: ids and names may look like one.
std::optional<std::string> Reader::AsString(const Value& value, const model::Field& at) {
  if (value.type != Value::Type::kScalar) {
    Fail(at, value, "expected a string, found {}", TypeName(value));
  } else if (value.IsBoolean()) {
    Fail(at, value, "expected a string, found a boolean; put {} in quotes", value.text);
  } else if (!IsValidUtf8(value.text)) {
    Fail(at, value, "{} is not valid UTF-8", model::Quoted(value.text));
  } else {
    return value.text;
  }
  return std::nullopt;
}

std::optional<bool> Reader::AsBoolean(const Value& value, const model::Field& at) {
  if (value.IsBoolean()) return value.text[0] == 't' || value.text[0] == 'T';
  Fail(at, value, "expected true or false, found {}", TypeName(value));
  return std::nullopt;
}

std::optional<uint32_t> Reader::AsNumber(const Value& value, const model::Field& at) {
  if (!value.IsNumber()) {
    Fail(at, value, "expected a number, found {}", TypeName(value));
    return std::nullopt;
  }
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  if (error == std::errc() && end == value.text.data() + value.text.size()) return number;
  Fail(at, value, "{} is out of range", model::Quoted(value.text));
  return std::nullopt;
}

}  // namespace

void ReadResources(const Value& document, Unknown unknown, ResourceFile& out) {
  Reader(unknown, out).Read(document);
}

}  // namespace kasane::files
