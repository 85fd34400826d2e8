#include "model/files/resource_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "base/check.h"
#include "kasane/v1/controller.pb.h"
#include "kasane/v1/resources.pb.h"
#include "model/field.h"
#include "model/files/document.h"
#include "model/files/neutron_form.h"
#include "model/files/utf8.h"

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

// Follows the document beside the tables of neutron_form.h and fills in protobuf messages.
class Reader {
 public:
  explicit Reader(ResourceFile& out) : out_(out), root_("", out.faults) {}

  void Read(const Value& document);

 private:
  template <typename... Args>
  void Fail(const model::Field& at, const Value& value, fmt::format_string<Args...> format, Args&&... args) {
    at.Fail("{} (line {})", fmt::format(format, std::forward<Args>(args)...), value.line);
  }
  bool Full() const { return out_.faults.size() >= kMaxFaults; }

  void ReadSection(const std::string& section, const Value& value);
  void ReadResource(model::Kind kind, const std::string& section, int index, const Value& value);
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

  ResourceFile& out_;
  model::Field root_;
  std::map<model::ResourceKey, std::string> ids_;  // Where each one stands.
  std::map<std::string, int> unused_;
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
  for (const auto& [path, count] : unused_) out_.unused.push_back({path, count});
}

void Reader::ReadSection(const std::string& section, const Value& value) {
  if (IsUnusedSection(section)) {
    if (!value.IsEmpty())
      unused_[section] = value.type == Value::Type::kList ? static_cast<int>(value.items.size()) : 1;
    return;
  }
  const std::string shown = Shown(section);
  const model::Field at = root_.Sub(shown);
  const auto kind = KindOfSection(section);
  if (!kind) {
    const std::string_view nearest = NearestSection(section);
    return Fail(at, value, "is no known section{}",
                nearest.empty() ? "; they are those of Neutron's API, and hosts"
                                : fmt::format("; did you mean {}?", nearest));
  }
  if (value.type == Value::Type::kNull) return;
  if (value.type != Value::Type::kList) return Fail(at, value, "expected a list, found {}", TypeName(value));
  for (size_t i = 0; i < value.items.size() && !Full(); ++i) {
    ReadResource(*kind, section, static_cast<int>(i), *value.items[i]);
  }
}

void Reader::ReadResource(model::Kind kind, const std::string& section, int index, const Value& value) {
  const model::Field at = root_.Item(section, index);
  if (value.type != Value::Type::kMap) return Fail(at, value, "expected a mapping, found {}", TypeName(value));
  v1::ApplyItem item;
  item.set_path(at.Path());
  v1::Resource& resource = *item.mutable_resource();
  const FieldDescriptor* spec = v1::Resource::descriptor()->FindFieldByName(std::string(Label(kind)));
  Message& message = *resource.GetReflection()->MutableMessage(&resource, spec);
  ReadMessage(value, at, section + "[*]", message);
  // An entry with addresses pins them; one without leaves them to the host's agent.
  if (kind == model::Kind::kHost)
    resource.mutable_host()->set_pinned(!resource.host().tunnel_addresses().empty());
  if (const auto key = model::DecodeKey(resource)) CheckUniqueId(*key, at, value);
  out_.items.push_back(std::move(item));
}

void Reader::CheckUniqueId(const model::ResourceKey& key, const model::Field& at, const Value& value) {
  const auto [first, is_new] = ids_.try_emplace(key, at.Path());
  if (!is_new)
    Fail(at.Sub("id"), value, "{} is also the id of {}; remove one of them", model::Quoted(key.id),
         first->second);
}

void Reader::ReadMessage(const Value& map, const model::Field& at, const std::string& pattern, Message& out) {
  const std::span<const FieldForm> forms = FormOf(*out.GetDescriptor());
  std::map<std::string_view, const Value*> given;
  for (const auto& [name, value] : map.fields) {
    const std::string shown = Shown(name);
    const FieldForm* form = FindField(forms, name);
    if (form == nullptr) {
      const std::string_view nearest = NearestField(forms, name);
      Fail(at.Sub(shown), *value, "is no known field{}",
           nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest));
    } else if (!given.emplace(form->name, value.get()).second) {
      Fail(at.Sub(shown), *value, "is there twice; remove one");
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
  if (form.use == Use::kUnused && value != nullptr && !value->IsEmpty())
    ++unused_[fmt::format("{}.{}", pattern, form.name)];
  if (form.use == Use::kUnused || form.use == Use::kIgnored || form.use == Use::kOutput) return;
  const FieldDescriptor& field = *ProtoField(*out.GetDescriptor(), form);
  if (value == nullptr) {
    if (form.use == Use::kReadTrue) out.GetReflection()->SetBool(&out, &field, true);
    return;
  }
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

absl::StatusOr<std::string> ReadAll(std::istream& stream) {
  std::string text;
  char chunk[1 << 16];
  while (stream.read(chunk, sizeof chunk) || stream.gcount() > 0) {
    text.append(chunk, static_cast<size_t>(stream.gcount()));
    if (text.size() > kMaxDocumentBytes) return Invalid("longer than {} bytes; split it", kMaxDocumentBytes);
  }
  return text;
}

absl::StatusOr<std::string> ReadFile(const std::string& name) {
  if (name == "-") return ReadAll(std::cin);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) return Invalid("is a directory; name the files in it");
  errno = 0;
  std::ifstream stream(name, std::ios::binary);
  if (!stream) return Error(absl::StatusCode::kNotFound, "cannot be read: {}", std::strerror(errno));
  return ReadAll(stream);
}

}  // namespace

ResourceFile::ResourceFile() = default;
ResourceFile::~ResourceFile() = default;
ResourceFile::ResourceFile(ResourceFile&&) noexcept = default;
ResourceFile& ResourceFile::operator=(ResourceFile&&) noexcept = default;

absl::StatusOr<ResourceFile> ParseResourceFile(const std::string& name, const std::string& text) {
  const auto document = ParseDocument(text);
  if (!document.ok()) return Annotate(document.status(), name);
  return ResourcesFromDocument(name, **document);
}

ResourceFile ResourcesFromDocument(const std::string& name, const Value& document) {
  ResourceFile out;
  out.name = name;
  Reader(out).Read(document);
  return out;
}

absl::StatusOr<ResourceFile> ReadResourceFile(const std::string& name) {
  const std::string shown = name == "-" ? "standard input" : name;
  const auto text = ReadFile(name);
  if (!text.ok()) return Annotate(text.status(), shown);
  return ParseResourceFile(shown, *text);
}

}  // namespace kasane::files
