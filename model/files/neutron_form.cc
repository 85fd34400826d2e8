#include "model/files/neutron_form.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/check.h"

namespace kasane::files {
namespace {

using google::protobuf::Descriptor;

constexpr FieldForm kHost[] = {
    {"id"},
    {"tunnel_addresses"},
    {"pinned", Use::kOutput},
    {"status", Use::kIgnored},
    {"revision_number", Use::kUnused},
    {"kasane", Use::kIgnored},
};

constexpr FieldForm kNetwork[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"admin_state_up", Use::kReadTrue},
    {"mtu"},
    {"provider:network_type"},
    {"provider:segmentation_id"},
    {"provider:physical_network"},
    {"router:external"},
    {"shared"},
    {"port_security_enabled", Use::kReadTrue},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"availability_zone_hints", Use::kUnused},
    {"availability_zones", Use::kUnused},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"dns_domain", Use::kUnused},
    {"ha", Use::kUnused},
    {"ipv4_address_scope", Use::kUnused},
    {"ipv6_address_scope", Use::kUnused},
    {"is_default", Use::kUnused},
    {"l2_adjacency", Use::kUnused},
    {"qinq", Use::kUnused},
    {"qos_policy_id", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"segments", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"subnets", Use::kUnused},
    {"tags", Use::kUnused},
    {"updated_at", Use::kUnused},
    {"vlan_qinq", Use::kUnused},
    {"vlan_transparent", Use::kUnused},
};

constexpr FieldForm kSubnet[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"network_id"},
    {"ip_version"},
    {"cidr"},
    {"gateway_ip"},
    {"enable_dhcp", Use::kReadTrue},
    {"allocation_pools"},
    {"host_routes"},
    {"dns_nameservers"},
    {"ipv6_address_mode"},
    {"ipv6_ra_mode"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"dns_publish_fixed_ip", Use::kUnused},
    {"prefixlen", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"router:external", Use::kUnused},
    {"segment_id", Use::kUnused},
    {"service_types", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"subnetpool_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"updated_at", Use::kUnused},
    {"use_default_subnetpool", Use::kUnused},
};

constexpr FieldForm kAllocationPool[] = {{"start"}, {"end"}};

constexpr FieldForm kRoute[] = {{"destination"}, {"nexthop"}};

constexpr FieldForm kFixedIp[] = {{"subnet_id"}, {"ip_address"}};

constexpr FieldForm kAllowedAddressPair[] = {{"ip_address"}, {"mac_address"}, {"active", Use::kUnused}};

constexpr FieldForm kPort[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"network_id"},
    {"admin_state_up", Use::kReadTrue},
    {"mac_address"},
    {"fixed_ips"},
    {"allowed_address_pairs"},
    {"device_id"},
    {"device_owner"},
    {"binding:host_id"},
    {"binding:vnic_type"},
    {"port_security_enabled", Use::kReadTrue},
    {"security_groups"},
    {"status", Use::kIgnored},
    {"binding:vif_type", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"binding:profile", Use::kUnused},
    {"binding:vif_details", Use::kUnused},
    {"created_at", Use::kUnused},
    {"data_plane_status", Use::kUnused},
    {"description", Use::kUnused},
    {"device_profile", Use::kUnused},
    {"dns_assignment", Use::kUnused},
    {"dns_domain", Use::kUnused},
    {"dns_name", Use::kUnused},
    {"extra_dhcp_opts", Use::kUnused},
    {"hardware_offload_type", Use::kUnused},
    {"hints", Use::kUnused},
    {"ip_allocation", Use::kUnused},
    {"mac_learning_enabled", Use::kUnused},
    {"numa_affinity_policy", Use::kUnused},
    {"propagate_uplink_status", Use::kUnused},
    {"qos_network_policy_id", Use::kUnused},
    {"qos_policy_id", Use::kUnused},
    {"resource_request", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"trunk_details", Use::kUnused},
    {"trusted", Use::kUnused},
    {"updated_at", Use::kUnused},
};

constexpr FieldForm kRouter[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"admin_state_up", Use::kReadTrue},
    {"routes"},
    {"external_gateway_info"},
    {"interfaces", Use::kOutput},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"availability_zone_hints", Use::kUnused},
    {"availability_zones", Use::kUnused},
    {"conntrack_helpers", Use::kUnused},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"distributed", Use::kUnused},
    {"enable_default_route_bfd", Use::kUnused},
    {"enable_default_route_ecmp", Use::kUnused},
    {"enable_ndp_proxy", Use::kUnused},
    {"external_gateways", Use::kUnused},
    {"flavor_id", Use::kUnused},
    {"ha", Use::kUnused},
    {"ha_vr_id", Use::kUnused},
    {"qos_policy_id", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"service_type_id", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"updated_at", Use::kUnused},
};

constexpr FieldForm kRouterInterface[] = {{"port_id"}, {"network_id"}, {"fixed_ips"}};

constexpr FieldForm kExternalGatewayInfo[] = {
    {"network_id"},
    {"enable_snat", Use::kReadTrue},
    {"external_fixed_ips"},
    {"qos_policy_id", Use::kUnused},
};

constexpr FieldForm kFloatingIp[] = {
    {"id"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"floating_network_id"},
    {"floating_ip_address"},
    {"port_id"},
    {"fixed_ip_address"},
    {"router_id"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"dns_domain", Use::kUnused},
    {"dns_name", Use::kUnused},
    {"port_details", Use::kUnused},
    {"port_forwardings", Use::kUnused},
    {"qos_network_policy_id", Use::kUnused},
    {"qos_policy_id", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"subnet_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"updated_at", Use::kUnused},
};

constexpr FieldForm kSecurityGroup[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"stateful", Use::kReadTrue},
    {"security_group_rules"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"shared", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"updated_at", Use::kUnused},
};

constexpr FieldForm kSecurityGroupRule[] = {
    {"id"},
    {"direction"},
    {"ethertype"},
    {"protocol"},
    {"port_range_min"},
    {"port_range_max"},
    {"remote_ip_prefix"},
    {"remote_group_id"},
    {"belongs_to_default_sg", Use::kUnused},
    {"created_at", Use::kUnused},
    {"description", Use::kUnused},
    {"normalized_cidr", Use::kUnused},
    {"project_id", Use::kUnused},
    {"remote_address_group_id", Use::kUnused},
    {"revision_number", Use::kUnused},
    {"security_group_id", Use::kUnused},
    {"standard_attr_id", Use::kUnused},
    {"tags", Use::kUnused},
    {"tenant_id", Use::kUnused},
    {"updated_at", Use::kUnused},
};

constexpr FieldForm kAddressClaim[] = {{"id"},          {"network_id"}, {"ip_address"},
                                       {"mac_address"}, {"port_id"},    {"sequence"}};

struct MessageForm {
  std::string_view message;  // Within kasane.v1.
  std::span<const FieldForm> fields;
};

constexpr MessageForm kForms[] = {
    {"Host", kHost},
    {"Network", kNetwork},
    {"Subnet", kSubnet},
    {"AllocationPool", kAllocationPool},
    {"HostRoute", kRoute},
    {"Port", kPort},
    {"FixedIp", kFixedIp},
    {"AllowedAddressPair", kAllowedAddressPair},
    {"Router", kRouter},
    {"RouterInterface", kRouterInterface},
    {"ExtraRoute", kRoute},
    {"ExternalGatewayInfo", kExternalGatewayInfo},
    {"ExternalFixedIp", kFixedIp},
    {"FloatingIp", kFloatingIp},
    {"SecurityGroup", kSecurityGroup},
    {"SecurityGroupRule", kSecurityGroupRule},
    {"AddressClaim", kAddressClaim},
};

// Written with '_'.
constexpr std::string_view kUnusedSections[] = {
    "address_claims",  // Kasane's own: what hosts have observed; listed by get, not applied.
    "address_groups",
    "address_scopes",
    "agents",
    "availability_zones",
    "bgp_peers",
    "bgp_speakers",
    "bgpvpns",
    "conntrack_helpers",
    "default_security_group_rules",
    "extensions",
    "flavors",
    "local_ips",
    "logs",
    "metering_label_rules",
    "metering_labels",
    "ndp_proxies",
    "network_ip_availabilities",
    "network_segment_ranges",
    "policies",
    "port_forwardings",
    "qos",
    "qos_policies",
    "quotas",
    "rbac_policies",
    "rule_types",
    "security_group_rules",
    "segments",
    "service_profiles",
    "service_providers",
    "subnetpools",
    "trunks",
};

std::string Underscored(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

// Levenshtein's distance.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Keeps the best of the names offered to it, as far as it is near enough to be meant.
class Nearest {
 public:
  explicit Nearest(std::string_view name) : name_(name), best_(std::max<size_t>(2, name.size() / 3) + 1) {}

  void Offer(std::string_view known) {
    constexpr size_t kLongestName = 64;
    if (name_.size() > kLongestName) return;
    const size_t distance = Distance(name_, known);
    if (distance >= best_) return;
    best_ = distance;
    result_ = known;
  }
  std::string_view result() const { return result_; }

 private:
  std::string_view name_;
  size_t best_;
  std::string_view result_;
};

}  // namespace

std::span<const FieldForm> FormOf(const Descriptor& message) {
  const auto found = std::find_if(std::begin(kForms), std::end(kForms),
                                  [&](const MessageForm& form) { return form.message == message.name(); });
  KASANE_CHECK(found != std::end(kForms));
  return found->fields;
}

const FieldForm* FindField(std::span<const FieldForm> form, std::string_view name) {
  const auto found =
      std::find_if(form.begin(), form.end(), [&](const FieldForm& field) { return field.name == name; });
  return found == form.end() ? nullptr : &*found;
}

const google::protobuf::FieldDescriptor* ProtoField(const Descriptor& message, const FieldForm& field) {
  if (field.use == Use::kIgnored || field.use == Use::kUnused) return nullptr;
  std::string name(field.proto.empty() ? field.name : field.proto);
  std::replace(name.begin(), name.end(), ':', '_');
  return message.FindFieldByName(name);
}

std::optional<model::Kind> KindOfSection(std::string_view section) {
  const auto kind = model::KindFromText(section);
  // Sections are plural; "port" is a slip that gets a suggestion.
  if (!kind || !section.ends_with('s') || kind == model::Kind::kAddressClaim) return std::nullopt;
  return kind;
}

bool IsUnusedSection(std::string_view section) {
  const std::string name = Underscored(section);
  return std::find(std::begin(kUnusedSections), std::end(kUnusedSections), name) != std::end(kUnusedSections);
}

std::string_view NearestField(std::span<const FieldForm> form, std::string_view name) {
  Nearest nearest(name);
  for (const FieldForm& field : form) nearest.Offer(field.name);
  return nearest.result();
}

std::string_view NearestSection(std::string_view name) {
  Nearest nearest(name);
  for (const model::Kind kind : model::kAllKinds) nearest.Offer(model::Plural(kind));
  return nearest.result();
}

}  // namespace kasane::files
