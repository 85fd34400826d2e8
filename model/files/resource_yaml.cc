#include "model/files/resource_yaml.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "kasane/v1/controller.pb.h"
#include "kasane/v1/resources.pb.h"
#include "model/decode.h"
#include "model/files/neutron_form.h"
#include "model/port_status_text.h"

namespace kasane::files {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::ordered_json;

ordered_json FieldsToJson(const Message& message);

ordered_json ListToJson(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  ordered_json out = ordered_json::array();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      out.push_back(FieldsToJson(reflection.GetRepeatedMessage(message, &field, i)));
    } else {
      out.push_back(reflection.GetRepeatedString(message, &field, i));
    }
  }
  return out;
}

ordered_json ScalarToJson(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return FieldsToJson(reflection.GetMessage(message, &field));
    default:
      KASANE_CHECK(false);  // The tables name no field of another type.
  }
  return nullptr;
}

ordered_json FieldsToJson(const Message& message) {
  const auto& reflection = *message.GetReflection();
  ordered_json out = ordered_json::object();
  for (const FieldForm& form : FormOf(*message.GetDescriptor())) {
    const FieldDescriptor* field = ProtoField(*message.GetDescriptor(), form);
    if (field == nullptr || form.use == Use::kFallback) continue;
    const std::string name(form.name);
    if (field->is_repeated()) {
      if (reflection.FieldSize(message, field) > 0) out[name] = ListToJson(message, *field);
    } else if (reflection.HasField(message, field) ||
               (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL && !field->has_presence())) {
      out[name] = ScalarToJson(message, *field);
    }
  }
  return out;
}

ordered_json RejectionsToJson(const v1::ResourceWithStatus& resource) {
  ordered_json out = ordered_json::array();
  for (const auto& rejection : resource.rejections()) {
    ordered_json faults = ordered_json::array();
    for (const auto& fault : rejection.faults()) {
      faults.push_back(ordered_json{{"path", fault.path()}, {"message", fault.message()}});
    }
    out.push_back(ordered_json{{"host_id", rejection.host_id()}, {"faults", std::move(faults)}});
  }
  return out;
}

ordered_json WithStatus(const v1::ResourceWithStatus& resource) {
  ordered_json out = ResourceToJson(resource.resource());
  if (resource.port_status() != v1::PORT_STATUS_UNSPECIFIED) {
    out["status"] = std::string(model::Label(resource.port_status()));
  }
  out["revision_number"] = resource.resource().revision().counter();
  ordered_json remarks = ordered_json::object();
  if (!resource.rejections().empty()) remarks["rejected_by"] = RejectionsToJson(resource);
  for (const auto& item : resource.not_enforced()) {
    remarks["not_enforced"].push_back(ordered_json{{"feature", item.feature()}, {"detail", item.detail()}});
  }
  if (!remarks.empty()) out["kasane"] = std::move(remarks);
  return out;
}

}  // namespace

ordered_json ResourceToJson(const v1::Resource& resource) {
  const auto key = model::DecodeKey(resource);
  if (!key) return ordered_json::object();
  const FieldDescriptor* spec = v1::Resource::descriptor()->FindFieldByName(std::string(Label(key->kind)));
  return FieldsToJson(resource.GetReflection()->GetMessage(resource, spec));
}

ordered_json ResourcesToJson(const std::vector<const v1::ResourceWithStatus*>& resources) {
  ordered_json out = ordered_json::object();
  for (const model::Kind kind : model::kAllKinds) {
    ordered_json section = ordered_json::array();
    for (const v1::ResourceWithStatus* resource : resources) {
      const auto key = model::DecodeKey(resource->resource());
      if (key && key->kind == kind) section.push_back(WithStatus(*resource));
    }
    if (!section.empty()) out[std::string(model::Plural(kind))] = std::move(section);
  }
  return out;
}

}  // namespace kasane::files
