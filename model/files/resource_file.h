// Resource files: YAML or JSON in the form of Neutron's API, under its plural keys, into protobuf
// resources. Used by kasanectl and kasane-lab.
//
// Reading finds faults of form: broken YAML, unknown sections and fields, values of the wrong type. What
// a value means (a CIDR, a reference) is judged by model/decode.h and the controller. A resource
// with a fault of form is still returned with the fields that could be read, so that one pass shows
// every fault.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/decode.h"

namespace kasane::v1 {
class ApplyItem;
}  // namespace kasane::v1

namespace kasane::files {

struct Value;

// What is done with fields and sections that are not known.
enum class Unknown {
  kFault,  // Files that people write: it is a mistake.
  kNote,   // A dump of a real cloud: it is a newer server's, or a plugin's.
};

// A section or field that Neutron knows and Kasane does not use.
struct UnusedField {
  std::string path;       // "ports[*].dns_assignment", "quotas"
  int count = 0;          // Resources that have it with a value other than null or empty.
  bool metadata = false;  // It says nothing that would matter here.
};

// Something that a resource of the file asks for by a field that is not stored.
struct FieldNotEnforced {
  size_t item = 0;      // Index of the resource in `items`.
  std::string feature;  // model/features.h
  std::string detail;   // One sentence.
};

// A resource of a section that Kasane does not have, or that could not be read at all.
struct OtherResource {
  std::string section;
  std::string id;    // Empty: it has none.
  std::string name;  // The same.
  std::string path;  // "trunks[0]"
  int line = 0;
  std::string feature;  // model/features.h. Empty: nothing is known about it.
  std::string detail;   // Why it is not taken.
};

struct ResourceFile {
  std::string name;                  // As the user gave it, or "standard input".
  std::vector<v1::ApplyItem> items;  // In the file's order; each `path` is set.
  std::vector<int> lines;            // Of each item.
  std::vector<model::Fault> faults;
  std::vector<FieldNotEnforced> not_enforced;
  std::vector<OtherResource> others;
  std::vector<UnusedField> unused;
  std::shared_ptr<const Value> document;  // What it was read from, for LineOf. Null: not kept.

  ResourceFile();
  ~ResourceFile();
  ResourceFile(ResourceFile&&) noexcept;
  ResourceFile& operator=(ResourceFile&&) noexcept;
};

// Parses `text`. An error only if it is no YAML or JSON at all: its message has the line and column.
absl::StatusOr<ResourceFile> ParseResourceFile(const std::string& name, const std::string& text,
                                               Unknown unknown = Unknown::kFault);

// The same of a document that was parsed already, or of a part of one.
ResourceFile ResourcesFromDocument(const std::string& name, const Value& document,
                                   Unknown unknown = Unknown::kFault);

// Reads and parses the file; "-" is standard input.
absl::StatusOr<ResourceFile> ReadResourceFile(const std::string& name, Unknown unknown = Unknown::kFault);

// The line of what `path` ("ports[3].fixed_ips[0].ip_address") names, or of the innermost thing around it that
// is there: a field that is missing has the line of its resource. 0: there is none, or no document.
int LineOf(const ResourceFile& file, std::string_view path);

}  // namespace kasane::files
