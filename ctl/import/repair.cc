#include "ctl/import/repair.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "kasane/v1/resources.pb.h"
#include "model/decode.h"
#include "model/features.h"
#include "model/field.h"
#include "model/files/neutron_form.h"

namespace kasane::ctl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
namespace feature = model::feature;

enum class Means {
  kClear,  // The whole field, which then has its default.
  kDrop,   // The item of a list that is at fault.
  kClean,  // A text: control characters become spaces, and what is too long is cut.
};

struct Repairable {
  model::Kind kind;
  std::string_view field;
  Means means;
  std::string_view feature = feature::kInvalidValue;  // What the resource then lacks.
};

constexpr Repairable kRepairable[] = {
    {model::Kind::kNetwork, "name", Means::kClean},
    {model::Kind::kNetwork, "project_id", Means::kClean},
    {model::Kind::kNetwork, "mtu", Means::kClear},
    {model::Kind::kNetwork, "provider:physical_network", Means::kClear},
    {model::Kind::kSubnet, "name", Means::kClean},
    {model::Kind::kSubnet, "project_id", Means::kClean},
    {model::Kind::kSubnet, "gateway_ip", Means::kClear, feature::kSubnetGateway},
    {model::Kind::kSubnet, "allocation_pools", Means::kDrop},
    {model::Kind::kSubnet, "host_routes", Means::kDrop, feature::kHostRoutes},
    {model::Kind::kSubnet, "dns_nameservers", Means::kDrop, feature::kDns},
    {model::Kind::kSubnet, "ipv6_address_mode", Means::kClear},
    {model::Kind::kSubnet, "ipv6_ra_mode", Means::kClear, feature::kRa},
    {model::Kind::kPort, "name", Means::kClean},
    {model::Kind::kPort, "project_id", Means::kClean},
    {model::Kind::kPort, "allowed_address_pairs", Means::kDrop, feature::kAddressPair},
    {model::Kind::kPort, "security_groups", Means::kDrop, feature::kSecurityGroups},
    {model::Kind::kPort, "binding:vnic_type", Means::kClear, feature::kVnicType},
    {model::Kind::kRouter, "name", Means::kClean},
    {model::Kind::kRouter, "project_id", Means::kClean},
    {model::Kind::kRouter, "routes", Means::kDrop, feature::kExtraRoute},
    {model::Kind::kRouter, "external_gateway_info", Means::kClear, feature::kGateway},
    {model::Kind::kFloatingIp, "project_id", Means::kClean},
    {model::Kind::kSecurityGroup, "name", Means::kClean},
    {model::Kind::kSecurityGroup, "project_id", Means::kClean},
    {model::Kind::kSecurityGroup, "security_group_rules", Means::kDrop, feature::kSecurityGroupRule},
};

// "routes[2].nexthop" is in item 2 of "routes".
struct Part {
  std::string_view field;
  std::optional<int> index;
};

Part PartOf(std::string_view path) {
  const size_t end = std::min(path.find_first_of(".["), path.size());
  Part part{path.substr(0, end), std::nullopt};
  int index = 0;
  if (end < path.size() && path[end] == '[' &&
      std::from_chars(path.data() + end + 1, path.data() + path.size(), index).ec == std::errc()) {
    part.index = index;
  }
  return part;
}

const Repairable* FindRepairable(model::Kind kind, std::string_view field) {
  for (const Repairable& repairable : kRepairable) {
    if (repairable.kind == kind && repairable.field == field) return &repairable;
  }
  return nullptr;
}

// The first kMaxText characters, those that a terminal would obey replaced.
std::string Clean(const std::string& text) {
  std::string out;
  size_t characters = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    if (++characters > model::kMaxText) break;
    const std::string character = text.substr(i, end - i);
    out += model::HasControl(character) ? " " : character;
    i = end;
  }
  return out;
}

class Repairer {
 public:
  explicit Repairer(v1::Resource& resource) {
    const auto* spec = resource.GetReflection()->GetOneofFieldDescriptor(
        resource, v1::Resource::descriptor()->FindOneofByName("spec"));
    if (spec == nullptr) return;
    message_ = resource.GetReflection()->MutableMessage(&resource, spec);
    kind_ = model::KindFromText(spec->name());
  }

  // Does nothing yet. False: this part cannot be taken out.
  bool Plan(const PartFault& fault) {
    const Part part = PartOf(fault.path);
    const Repairable* repairable = kind_ ? FindRepairable(*kind_, part.field) : nullptr;
    if (repairable == nullptr) return false;
    const FieldDescriptor* field = Descriptor(part.field);
    if (field == nullptr) return false;
    if (repairable->means == Means::kDrop && part.index) {
      if (*part.index >= message_->GetReflection()->FieldSize(*message_, field)) return false;
      drops_[field].insert(*part.index);
    } else {
      whole_.emplace(field, repairable->means);
    }
    shortfalls_.push_back({std::string(repairable->feature), Sentence(*repairable, part, fault)});
    return true;
  }

  std::vector<Shortfall> Do() {
    for (const auto& [field, means] : whole_) {
      if (means == Means::kClean) {
        const auto& reflection = *message_->GetReflection();
        reflection.SetString(message_, field, Clean(reflection.GetString(*message_, field)));
      } else {
        message_->GetReflection()->ClearField(message_, field);
      }
    }
    for (const auto& [field, indexes] : drops_) {
      if (!whole_.contains(field)) Drop(*field, indexes);
    }
    return std::move(shortfalls_);
  }

 private:
  const FieldDescriptor* Descriptor(std::string_view name) const {
    const files::FieldForm* form = files::FindField(files::FormOf(*message_->GetDescriptor()), name);
    return form == nullptr ? nullptr : files::ProtoField(*message_->GetDescriptor(), *form);
  }

  static std::string Sentence(const Repairable& repairable, const Part& part, const PartFault& fault) {
    const std::string where =
        part.index ? fmt::format("{}[{}]", part.field, *part.index) : std::string(part.field);
    // "nexthop" of "routes[2].nexthop".
    const std::string within =
        fault.path.size() > where.size() ? fault.path.substr(where.size() + 1) + " " : "";
    return fmt::format("Its {} is {}: {}{}.", where, repairable.means == Means::kClean ? "changed" : "left out",
                       within, fault.message);
  }

  // Moves the items at fault behind the others, which keep their order, and cuts them off.
  void Drop(const FieldDescriptor& field, const std::set<int>& indexes) {
    const auto& reflection = *message_->GetReflection();
    const int size = reflection.FieldSize(*message_, &field);
    int kept = 0;
    for (int i = 0; i < size; ++i) {
      if (indexes.contains(i)) continue;
      if (kept != i) reflection.SwapElements(message_, &field, kept, i);
      ++kept;
    }
    for (int i = size; i > kept; --i) reflection.RemoveLast(message_, &field);
  }

  Message* message_ = nullptr;
  std::optional<model::Kind> kind_;
  std::map<const FieldDescriptor*, Means> whole_;
  std::map<const FieldDescriptor*, std::set<int>> drops_;
  std::vector<Shortfall> shortfalls_;
};

}  // namespace

Repaired Repair(v1::Resource& resource, const std::vector<PartFault>& faults) {
  Repairer repairer(resource);
  for (const PartFault& fault : faults) {
    if (!repairer.Plan(fault)) return {.ok = false, .cause = &fault, .shortfalls = {}};
  }
  return {.ok = true, .cause = nullptr, .shortfalls = repairer.Do()};
}

}  // namespace kasane::ctl
