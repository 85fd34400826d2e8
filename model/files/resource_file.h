// Resource files: YAML or JSON in the form of Neutron's API, under its plural keys, into protobuf
// resources. Used by kasanectl and kasane-lab.
//
// Reading finds faults of form: broken YAML, unknown sections and fields, values of the wrong type. What
// a value means (a CIDR, a reference) is judged by model/decode.h and the controller. A resource
// with a fault of form is still returned with the fields that could be read, so that one pass shows
// every fault.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "model/decode.h"

namespace kasane::v1 {
class ApplyItem;
}  // namespace kasane::v1

namespace kasane::files {

struct Value;

// A section or field that Neutron knows and Kasane does not use.
struct UnusedField {
  std::string path;  // "ports[*].dns_assignment", "quotas"
  int count = 0;     // Resources that have it with a value other than null or empty.
};

struct ResourceFile {
  std::string name;                  // As the user gave it, or "standard input".
  std::vector<v1::ApplyItem> items;  // In the file's order; each `path` is set.
  std::vector<model::Fault> faults;
  std::vector<UnusedField> unused;

  ResourceFile();
  ~ResourceFile();
  ResourceFile(ResourceFile&&) noexcept;
  ResourceFile& operator=(ResourceFile&&) noexcept;
};

// Parses `text`. An error only if it is no YAML or JSON at all: its message has the line and column.
absl::StatusOr<ResourceFile> ParseResourceFile(const std::string& name, const std::string& text);

// The same of a document that was parsed already, or of a part of one.
ResourceFile ResourcesFromDocument(const std::string& name, const Value& document);

// Reads and parses the file; "-" is standard input.
absl::StatusOr<ResourceFile> ReadResourceFile(const std::string& name);

}  // namespace kasane::files
