#include "controller/store/messages.h"

namespace kasane::controller {

v1::Fault MakeFault(const std::optional<model::ResourceKey>& key, const std::string& path,
                    const std::string& message) {
  v1::Fault fault;
  if (key) *fault.mutable_key() = model::EncodeKey(*key);
  fault.set_path(path);
  fault.set_message(message);
  return fault;
}

v1::NotEnforced MakeNotEnforced(const model::NotEnforcedItem& item) {
  v1::NotEnforced out;
  *out.mutable_key() = model::EncodeKey(item.key);
  out.set_name(item.name);
  out.set_feature(item.feature);
  out.set_detail(item.detail);
  return out;
}

}  // namespace kasane::controller
