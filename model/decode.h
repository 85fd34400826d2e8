// Decoding: protobuf resources into model values, with every fault of a resource at its field path. The
// only code that turns text of the wire into typed values; shared by the agent and the controller.
//
// Decoding judges one resource alone. References between resources are the controller's to check
// (controller/validate/validate.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/network_state.h"

namespace kasane::v1 {
class Resource;
class ResourceKey;
class Revision;
}  // namespace kasane::v1

namespace kasane::model {

// One thing wrong: `path` is where ("ports[3].fixed_ips[0].ip_address"), `message` what and how to fix it.
struct Fault {
  std::string path;
  std::string message;

  bool operator==(const Fault&) const = default;
};

// "path: message"
std::string ToString(const Fault& fault);

using AnyResource =
    std::variant<std::shared_ptr<const Host>, std::shared_ptr<const Network>, std::shared_ptr<const Subnet>,
                 std::shared_ptr<const Port>, std::shared_ptr<const Router>, std::shared_ptr<const FloatingIp>,
                 std::shared_ptr<const SecurityGroup>, std::shared_ptr<const AddressClaim>>;

ResourceKey KeyOf(const AnyResource& resource);

PortRole RoleOf(const std::string& device_owner);

// Decodes `resource`; appends to `faults` everything wrong with it, each path beginning with `path`
// ("ports[3]"). Returns nothing exactly if it appended a fault.
std::optional<AnyResource> Decode(const v1::Resource& resource, const std::string& path,
                                  std::vector<Fault>& faults);

// The key of a resource or key message. Nothing if the kind is not set or unknown, or the id empty.
std::optional<ResourceKey> DecodeKey(const v1::Resource& resource);
std::optional<ResourceKey> DecodeKey(const v1::ResourceKey& key);

v1::ResourceKey EncodeKey(const ResourceKey& key);
Revision DecodeRevision(const v1::Revision& revision);
v1::Revision EncodeRevision(const Revision& revision);

// The next snapshot: replaces or adds `resource`; removes `key`.
void Upsert(NetworkState& state, const AnyResource& resource);
void Erase(NetworkState& state, const ResourceKey& key);

}  // namespace kasane::model
