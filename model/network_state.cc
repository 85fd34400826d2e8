#include "model/network_state.h"

#include <fmt/format.h>

namespace kasane::model {
namespace {

struct KindName {
  Kind kind;
  std::string_view label;
  std::string_view plural;
};

// The plurals are the keys of Neutron's API.
constexpr KindName kNames[] = {
    {Kind::kHost, "host", "hosts"},
    {Kind::kNetwork, "network", "networks"},
    {Kind::kSubnet, "subnet", "subnets"},
    {Kind::kPort, "port", "ports"},
    {Kind::kRouter, "router", "routers"},
    {Kind::kFloatingIp, "floating_ip", "floatingips"},
    {Kind::kSecurityGroup, "security_group", "security_groups"},
    {Kind::kAddressClaim, "address_claim", "address_claims"},
};

const KindName* NameOf(Kind kind) {
  for (const KindName& name : kNames) {
    if (name.kind == kind) return &name;
  }
  return nullptr;
}

std::string WithoutSeparators(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '-' && c != '_') out += c;
  }
  return out;
}

}  // namespace

std::string_view Label(Kind kind) {
  const KindName* name = NameOf(kind);
  return name == nullptr ? "" : name->label;
}

std::string_view Plural(Kind kind) {
  const KindName* name = NameOf(kind);
  return name == nullptr ? "" : name->plural;
}

std::optional<Kind> KindFromText(std::string_view text) {
  const std::string bare = WithoutSeparators(text);
  if (bare == "claim" || bare == "claims") return Kind::kAddressClaim;
  for (const KindName& name : kNames) {
    if (bare == WithoutSeparators(name.label) || bare == WithoutSeparators(name.plural)) return name.kind;
  }
  return std::nullopt;
}

AddressClaimId MakeClaimId(const NetworkId& network, const IpAddress& address) {
  return AddressClaimId(fmt::format("{}/{}", network, address));
}

std::string ToString(const ResourceKey& key) { return fmt::format("{} {}", Label(key.kind), key.id); }

bool IsForMachine(const Port& port) {
  return port.role == PortRole::kVm || (port.role == PortRole::kOther && port.device_owner.empty());
}

bool IsPlugged(const Port& port) { return !port.host.empty() && IsForMachine(port); }

}  // namespace kasane::model
