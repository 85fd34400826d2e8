#include "controller/api/page.h"

#include <absl/strings/numbers.h>

#include <algorithm>

#include "base/status.h"
#include "kasane/v1/controller.pb.h"

namespace kasane::controller {
namespace {

std::string TokenOf(const model::ResourceKey& key) {
  return fmt::format("{}/{}", static_cast<int>(key.kind), key.id);
}

// The key that the page before ended with.
absl::StatusOr<model::ResourceKey> DecodeToken(const std::string& token) {
  const size_t slash = token.find('/');
  int kind = 0;
  if (slash != std::string::npos && absl::SimpleAtoi(token.substr(0, slash), &kind)) {
    v1::ResourceKey key;
    key.set_kind(static_cast<v1::ResourceKind>(kind));
    key.set_id(token.substr(slash + 1));
    if (const auto decoded = model::DecodeKey(key)) return *decoded;
  }
  return Invalid("page_token: is no token of this controller; give next_page_token as it was, or none");
}

std::string_view ProjectOf(const v1::Resource& resource) {
  switch (resource.spec_case()) {
    case v1::Resource::kNetwork:
      return resource.network().project_id();
    case v1::Resource::kSubnet:
      return resource.subnet().project_id();
    case v1::Resource::kPort:
      return resource.port().project_id();
    case v1::Resource::kRouter:
      return resource.router().project_id();
    case v1::Resource::kFloatingIp:
      return resource.floating_ip().project_id();
    case v1::Resource::kSecurityGroup:
      return resource.security_group().project_id();
    case v1::Resource::kHost:
    case v1::Resource::kAddressClaim:
    case v1::Resource::SPEC_NOT_SET:
      break;
  }
  return "";
}

}  // namespace

absl::StatusOr<std::set<model::Kind>> KindsOf(const v1::ResourceFilter& filter) {
  std::set<model::Kind> kinds;
  for (const int number : filter.kinds()) {
    v1::ResourceKey key;
    key.set_kind(static_cast<v1::ResourceKind>(number));
    key.set_id("-");
    const auto known = model::DecodeKey(key);
    if (!known) return Invalid("filter.kinds: {} is no kind that is known here", number);
    kinds.insert(known->kind);
  }
  if (kinds.empty()) kinds.insert(std::begin(model::kAllKinds), std::end(model::kAllKinds));
  return kinds;
}

absl::StatusOr<Filter> Filter::Make(const v1::ResourceFilter& filter, const Snapshot& snapshot) {
  Filter out;
  ASSIGN_OR_RETURN(out.kinds_, KindsOf(filter));
  out.network_ = filter.network_id();
  out.host_ = filter.host_id();
  out.project_ = filter.project_id();
  if (out.network_.empty() || out.kinds_.count(model::Kind::kRouter) == 0) return out;
  for (const auto& [id, port] : snapshot.state.ports) {
    if (port->network.str() == out.network_ && port->role == model::PortRole::kRouterInterface)
      out.routers_.insert(port->device_id);
  }
  return out;
}

bool Filter::OnNetwork(const model::ResourceKey& key, const v1::Resource& resource) const {
  switch (key.kind) {
    case model::Kind::kNetwork:
      return key.id == network_;
    case model::Kind::kSubnet:
      return resource.subnet().network_id() == network_;
    case model::Kind::kPort:
      return resource.port().network_id() == network_;
    case model::Kind::kRouter:
      return routers_.contains(key.id) || resource.router().external_gateway_info().network_id() == network_;
    case model::Kind::kFloatingIp:
      return resource.floating_ip().floating_network_id() == network_;
    case model::Kind::kAddressClaim:
      return resource.address_claim().network_id() == network_;
    case model::Kind::kHost:
    case model::Kind::kSecurityGroup:
      break;
  }
  return false;
}

bool Filter::Matches(const model::ResourceKey& key, const v1::Resource& resource) const {
  if (kinds_.count(key.kind) == 0) return false;
  if (!network_.empty() && !OnNetwork(key, resource)) return false;
  if (!project_.empty() && ProjectOf(resource) != project_) return false;
  if (host_.empty()) return true;
  if (key.kind == model::Kind::kHost) return key.id == host_;
  return key.kind == model::Kind::kPort && resource.port().binding_host_id() == host_;
}

absl::StatusOr<std::string> ReadPage(
    const Snapshot& snapshot, const Filter& filter, const std::string& token,
    absl::FunctionRef<bool(const model::ResourceKey&, const v1::Resource&)> add) {
  auto it = snapshot.resources.begin();
  if (token.empty()) {
    it = snapshot.resources.lower_bound({*filter.kinds().begin(), ""});
  } else {
    ASSIGN_OR_RETURN(const model::ResourceKey last, DecodeToken(token));
    it = snapshot.resources.upper_bound(last);
  }
  const model::ResourceKey* last = nullptr;
  for (; it != snapshot.resources.end(); ++it) {
    if (!filter.Matches(it->first, *it->second)) continue;
    if (!add(it->first, *it->second)) return last == nullptr ? token : TokenOf(*last);
    last = &it->first;
  }
  return std::string();
}

}  // namespace kasane::controller
