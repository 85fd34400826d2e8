// Identifiers of resources: text as Neutron gives it (a UUID, a host name), one C++ type per kind, so
// that a port id cannot be passed for a network id.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace kasane {

template <typename Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  auto operator<=>(const Id&) const = default;
  bool operator==(const Id&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const Id& id) {
    return H::combine(std::move(state), id.text_);
  }

 private:
  std::string text_;
};

using HostId = Id<struct HostTag>;
using NetworkId = Id<struct NetworkTag>;
using SubnetId = Id<struct SubnetTag>;
using PortId = Id<struct PortTag>;
using RouterId = Id<struct RouterTag>;
using FloatingIpId = Id<struct FloatingIpTag>;
using SecurityGroupId = Id<struct SecurityGroupTag>;
using AddressClaimId = Id<struct AddressClaimTag>;

}  // namespace kasane

template <typename Tag>
struct std::hash<kasane::Id<Tag>> {
  size_t operator()(const kasane::Id<Tag>& id) const { return std::hash<std::string>()(id.str()); }
};

template <typename Tag>
struct fmt::formatter<kasane::Id<Tag>> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const kasane::Id<Tag>& id, Context& context) const {
    return fmt::formatter<std::string>::format(id.str(), context);
  }
};
