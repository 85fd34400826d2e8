// A YAML or JSON document as plain values with their lines, read within bounds.
//
// Made from the parser's events rather than its node tree: an alias cannot expand into more than the
// bound, nothing is typed by guess, and duplicate keys stay visible. Tags are ignored.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasane::files {

struct Value;
using ValuePtr = std::shared_ptr<const Value>;  // Shared by aliases; a tree otherwise.

struct Value {
  enum class Type { kNull, kScalar, kList, kMap };

  Type type = Type::kNull;
  int line = 0;                 // From 1.
  bool quoted = false;          // A scalar in quotes (or a block scalar), thus a string.
  std::string text;             // Of a scalar.
  std::vector<ValuePtr> items;  // Of a list.
  std::vector<std::pair<std::string, ValuePtr>> fields;  // Of a map, in the document's order.

  bool IsBoolean() const;  // Unquoted true or false, in YAML's three spellings.
  bool IsNumber() const;   // Unquoted decimal integer, may be negative.
  // Null, or "", [], {}.
  bool IsEmpty() const;
  // Of a map: the value of field `name`, null if there is none; the text of a scalar field, empty if there is
  // none.
  const Value* Find(std::string_view name) const;
  std::string TextOf(std::string_view name) const;
};

// "a list", "a mapping", "a number", ... for messages.
std::string_view TypeName(const Value& value);

struct DocumentLimits {
  size_t bytes = size_t{64} << 20;
  size_t values = size_t{4} << 20;  // Aliases count as what they expand to.
};
// For dumps of whole clouds: some 400,000 ports as Neutron writes them. A value takes about 200 bytes of
// memory.
inline constexpr DocumentLimits kDumpLimits = {.bytes = size_t{512} << 20, .values = size_t{32} << 20};
inline constexpr size_t kMaxDocumentDepth = 32;

// The only document in `text`. An empty text is a null. Errors name line and column.
absl::StatusOr<ValuePtr> ParseDocument(const std::string& text, const DocumentLimits& limits = {});

}  // namespace kasane::files
