// Keys and revisions between the model and the protocol.
#include "kasane/v1/resources.pb.h"
#include "model/decode.h"
#include "model/resource_name.h"

namespace kasane::model {
namespace {

std::optional<Kind> KindOf(v1::Resource::SpecCase spec) {
  switch (spec) {
    case v1::Resource::kHost:
      return Kind::kHost;
    case v1::Resource::kNetwork:
      return Kind::kNetwork;
    case v1::Resource::kSubnet:
      return Kind::kSubnet;
    case v1::Resource::kPort:
      return Kind::kPort;
    case v1::Resource::kRouter:
      return Kind::kRouter;
    case v1::Resource::kFloatingIp:
      return Kind::kFloatingIp;
    case v1::Resource::kSecurityGroup:
      return Kind::kSecurityGroup;
    case v1::Resource::kAddressClaim:
      return Kind::kAddressClaim;
    case v1::Resource::SPEC_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

const std::string& IdOf(const v1::Resource& resource) {
  static const std::string kNone;
  switch (resource.spec_case()) {
    case v1::Resource::kHost:
      return resource.host().id();
    case v1::Resource::kNetwork:
      return resource.network().id();
    case v1::Resource::kSubnet:
      return resource.subnet().id();
    case v1::Resource::kPort:
      return resource.port().id();
    case v1::Resource::kRouter:
      return resource.router().id();
    case v1::Resource::kFloatingIp:
      return resource.floating_ip().id();
    case v1::Resource::kSecurityGroup:
      return resource.security_group().id();
    case v1::Resource::kAddressClaim:
      return resource.address_claim().id();
    case v1::Resource::SPEC_NOT_SET:
      return kNone;
  }
  return kNone;
}

}  // namespace

ResourceKey KeyOf(const AnyResource& resource) {
  // The alternatives stand in the order of Kind.
  const Kind kind = kAllKinds[resource.index()];
  return {kind, std::visit([](const auto& pointer) { return pointer->id.str(); }, resource)};
}

std::optional<ResourceKey> DecodeKey(const v1::Resource& resource) {
  const auto kind = KindOf(resource.spec_case());
  const std::string& id = IdOf(resource);
  if (!kind || id.empty()) return std::nullopt;
  return ResourceKey{*kind, id};
}

std::optional<ResourceKey> DecodeKey(const v1::ResourceKey& key) {
  if (key.id().empty()) return std::nullopt;
  for (const Kind kind : kAllKinds) {
    if (static_cast<int>(kind) == static_cast<int>(key.kind())) return ResourceKey{kind, key.id()};
  }
  return std::nullopt;
}

v1::ResourceKey EncodeKey(const ResourceKey& key) {
  static_assert(static_cast<int>(Kind::kHost) == static_cast<int>(v1::RESOURCE_KIND_HOST) &&
                static_cast<int>(Kind::kPort) == static_cast<int>(v1::RESOURCE_KIND_PORT) &&
                static_cast<int>(Kind::kAddressClaim) == static_cast<int>(v1::RESOURCE_KIND_ADDRESS_CLAIM));
  v1::ResourceKey out;
  out.set_kind(static_cast<v1::ResourceKind>(key.kind));
  out.set_id(key.id);
  return out;
}

Revision DecodeRevision(const v1::Revision& revision) { return {revision.timeline(), revision.counter()}; }

v1::Revision EncodeRevision(const Revision& revision) {
  v1::Revision out;
  out.set_timeline(revision.timeline);
  out.set_counter(revision.counter);
  return out;
}

std::string NameOf(const v1::Resource& resource) {
  switch (resource.spec_case()) {
    case v1::Resource::kNetwork:
      return resource.network().name();
    case v1::Resource::kSubnet:
      return resource.subnet().name();
    case v1::Resource::kPort:
      return resource.port().name();
    case v1::Resource::kRouter:
      return resource.router().name();
    case v1::Resource::kSecurityGroup:
      return resource.security_group().name();
    default:
      return "";
  }
}

}  // namespace kasane::model
