// The form of resource files: for each kind of resource, the fields of Neutron's API and what Kasane
// does with them. One table per message; reading (resource_file.h) and printing (resource_yaml.h) both
// follow it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/network_state.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace kasane::files {

enum class Use {
  kRead,      // Read into the protobuf field of the same name, ':' written as '_'.
  kFallback,  // An older name of `proto`, read when that is absent.
  kOutput,    // Printed; on input passed over, since it is not the user's to set.
  kIgnored,   // Passed over on input: state, not configuration.

  // Neutron's, and not stored:
  kMetadata,     // Says nothing about forwarding, or nothing that other fields do not say.
  kUnused,       // Has no bearing on what Kasane does.
  kNotEnforced,  // Asks for something that this version does not do.
};

// It has a field in protobuf.
constexpr bool IsStored(Use use) { return use <= Use::kOutput; }

struct FieldForm {
  std::string_view name;  // In the file.
  Use use = Use::kRead;
  std::string_view proto = {};    // Name of the protobuf field where it does not follow from `name`.
  std::string_view feature = {};  // Of kNotEnforced: what is asked for (model/features.h).
};

struct MessageForm {
  std::string_view message;  // Within kasane.v1.
  std::span<const FieldForm> fields;
};

// A section of Neutron's API whose resources Kasane does not have.
struct SectionForm {
  std::string_view name;  // Written with '_'.
  Use use;                // kMetadata, kUnused or kNotEnforced.
  std::string_view feature = {};
};

std::span<const MessageForm> AllForms();
std::span<const SectionForm> OtherSections();

// The table of a message. CHECKs that there is one: every message below v1.Resource has it.
std::span<const FieldForm> FormOf(const google::protobuf::Descriptor& message);

// The row for `name`, or nullptr.
const FieldForm* FindField(std::span<const FieldForm> form, std::string_view name);

// The protobuf field of a row, or nullptr for those that are not stored.
const google::protobuf::FieldDescriptor* ProtoField(const google::protobuf::Descriptor& message,
                                                    const FieldForm& field);

// The kind that a section holds, '-' and '_' alike. Nothing for other sections.
std::optional<model::Kind> KindOfSection(std::string_view section);
// The row of another section of Neutron's API, '-' and '_' alike, or nullptr.
const SectionForm* FindOtherSection(std::string_view section);
// Where the API puts the links to the next page of a list: "ports_links".
bool IsLinksSection(std::string_view section);

// The known name that `name` most resembles, for a message; empty if none is near.
std::string_view NearestField(std::span<const FieldForm> form, std::string_view name);
std::string_view NearestSection(std::string_view name);

}  // namespace kasane::files
