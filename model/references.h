// What a resource refers to, by field. The one list of references: validation, and finding the hosts that
// a change may concern, both go by it.
#pragma once

#include <absl/functional/function_ref.h>

#include <string>
#include <string_view>

#include "model/decode.h"

namespace kasane::model {

// One field that names another resource. Refers to the resource that it came from.
struct Reference {
  Kind kind;
  const std::string& id;      // Never empty.
  std::string_view field;     // "fixed_ips"
  int index = -1;             // Position in a list, or -1.
  std::string_view subfield;  // "subnet_id", or empty.
  bool must_exist = true;     // False only for a port's host, which may not have been seen yet.
};

// "fixed_ips[0].subnet_id"
std::string FieldPath(const Reference& reference);

using ReferenceVisitor = absl::FunctionRef<void(const Reference&)>;

void ForEachReference(const Host& host, ReferenceVisitor visit);
void ForEachReference(const Network& network, ReferenceVisitor visit);
void ForEachReference(const Subnet& subnet, ReferenceVisitor visit);
void ForEachReference(const Port& port, ReferenceVisitor visit);
void ForEachReference(const Router& router, ReferenceVisitor visit);
void ForEachReference(const FloatingIp& floating_ip, ReferenceVisitor visit);
void ForEachReference(const SecurityGroup& group, ReferenceVisitor visit);
void ForEachReference(const AddressClaim& claim, ReferenceVisitor visit);
void ForEachReference(const AnyResource& resource, ReferenceVisitor visit);

}  // namespace kasane::model
