// The tables of neutron_form.h: data alone.
#include "model/features.h"
#include "model/files/neutron_form.h"

namespace kasane::files {
namespace {

namespace feature = model::feature;

constexpr FieldForm NotEnforced(std::string_view name, std::string_view feature) {
  return {.name = name, .use = Use::kNotEnforced, .feature = feature};
}

constexpr FieldForm kHost[] = {
    {"id"},
    {"tunnel_addresses"},
    {"pinned", Use::kOutput},
    {"status", Use::kIgnored},
    {"revision_number", Use::kMetadata},
    {"kasane", Use::kIgnored},
};

constexpr FieldForm kNetwork[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"admin_state_up"},
    {"mtu"},
    {"provider:network_type"},
    {"provider:segmentation_id"},
    {"provider:physical_network"},
    {"router:external"},
    {"shared"},
    {"port_security_enabled"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"availability_zone_hints", Use::kMetadata},
    {"availability_zones", Use::kMetadata},
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    NotEnforced("dns_domain", feature::kDns),
    {"ha", Use::kMetadata},
    {"ipv4_address_scope", Use::kMetadata},
    {"ipv6_address_scope", Use::kMetadata},
    {"is_default", Use::kMetadata},
    {"l2_adjacency", Use::kMetadata},
    NotEnforced("qinq", feature::kVlanTransparency),
    NotEnforced("qos_policy_id", feature::kQos),
    {"revision_number", Use::kMetadata},
    NotEnforced("segments", feature::kMultiSegment),
    {"standard_attr_id", Use::kMetadata},
    {"subnets", Use::kMetadata},
    {"tags", Use::kMetadata},
    {"updated_at", Use::kMetadata},
    NotEnforced("vlan_qinq", feature::kVlanTransparency),
    NotEnforced("vlan_transparent", feature::kVlanTransparency),
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
    {"enable_dhcp"},
    {"allocation_pools"},
    {"host_routes"},
    {"dns_nameservers"},
    {"ipv6_address_mode"},
    {"ipv6_ra_mode"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    {"dns_publish_fixed_ip", Use::kMetadata},
    {"prefixlen", Use::kMetadata},
    {"revision_number", Use::kMetadata},
    {"router:external", Use::kMetadata},
    NotEnforced("segment_id", feature::kRoutedNetwork),
    {"service_types", Use::kUnused},
    {"standard_attr_id", Use::kMetadata},
    {"subnetpool_id", Use::kUnused},
    {"tags", Use::kMetadata},
    {"updated_at", Use::kMetadata},
    {"use_default_subnetpool", Use::kMetadata},
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
    {"admin_state_up"},
    {"mac_address"},
    {"fixed_ips"},
    {"allowed_address_pairs"},
    {"device_id"},
    {"device_owner"},
    {"binding:host_id"},
    {"binding:vnic_type"},
    {"port_security_enabled"},
    {"security_groups"},
    {"status", Use::kIgnored},
    {"binding:vif_type", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"binding:profile", Use::kUnused},
    {"binding:vif_details", Use::kUnused},
    {"created_at", Use::kMetadata},
    {"data_plane_status", Use::kUnused},
    {"description", Use::kMetadata},
    {"device_profile", Use::kUnused},
    {"dns_assignment", Use::kMetadata},
    NotEnforced("dns_domain", feature::kDns),
    NotEnforced("dns_name", feature::kDns),
    NotEnforced("extra_dhcp_opts", feature::kDhcpOptions),
    {"hardware_offload_type", Use::kUnused},
    {"hints", Use::kUnused},
    {"ip_allocation", Use::kMetadata},
    NotEnforced("mac_learning_enabled", feature::kMacLearning),
    {"numa_affinity_policy", Use::kUnused},
    {"propagate_uplink_status", Use::kUnused},
    NotEnforced("qos_network_policy_id", feature::kQos),
    NotEnforced("qos_policy_id", feature::kQos),
    {"resource_request", Use::kUnused},
    {"revision_number", Use::kMetadata},
    {"standard_attr_id", Use::kMetadata},
    {"tags", Use::kMetadata},
    NotEnforced("trunk_details", feature::kTrunk),
    {"trusted", Use::kUnused},
    {"updated_at", Use::kMetadata},
};

constexpr FieldForm kRouter[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"admin_state_up"},
    {"routes"},
    {"external_gateway_info"},
    {"interfaces", Use::kOutput},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"availability_zone_hints", Use::kMetadata},
    {"availability_zones", Use::kMetadata},
    NotEnforced("conntrack_helpers", feature::kConntrackHelper),
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    {"distributed", Use::kMetadata},
    NotEnforced("enable_default_route_bfd", feature::kDefaultRoute),
    NotEnforced("enable_default_route_ecmp", feature::kDefaultRoute),
    NotEnforced("enable_ndp_proxy", feature::kNdpProxy),
    NotEnforced("external_gateways", feature::kSecondGateway),
    {"flavor_id", Use::kMetadata},
    {"ha", Use::kMetadata},
    {"ha_vr_id", Use::kMetadata},
    NotEnforced("qos_policy_id", feature::kQos),
    {"revision_number", Use::kMetadata},
    {"service_type_id", Use::kMetadata},
    {"standard_attr_id", Use::kMetadata},
    {"tags", Use::kMetadata},
    {"updated_at", Use::kMetadata},
};

constexpr FieldForm kRouterInterface[] = {{"port_id"}, {"network_id"}, {"fixed_ips"}};

constexpr FieldForm kExternalGatewayInfo[] = {
    {"network_id"},
    {"enable_snat"},
    {"external_fixed_ips"},
    NotEnforced("qos_policy_id", feature::kQos),
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
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    NotEnforced("dns_domain", feature::kDns),
    NotEnforced("dns_name", feature::kDns),
    {"port_details", Use::kMetadata},
    NotEnforced("port_forwardings", feature::kPortForwarding),
    NotEnforced("qos_network_policy_id", feature::kQos),
    NotEnforced("qos_policy_id", feature::kQos),
    {"revision_number", Use::kMetadata},
    {"standard_attr_id", Use::kMetadata},
    {"subnet_id", Use::kUnused},
    {"tags", Use::kMetadata},
    {"updated_at", Use::kMetadata},
};

constexpr FieldForm kSecurityGroup[] = {
    {"id"},
    {"name"},
    {"project_id"},
    {"tenant_id", Use::kFallback, "project_id"},
    {"stateful"},
    {"security_group_rules"},
    {"status", Use::kIgnored},
    {"kasane", Use::kIgnored},
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    {"revision_number", Use::kMetadata},
    {"shared", Use::kMetadata},
    {"standard_attr_id", Use::kMetadata},
    {"tags", Use::kMetadata},
    {"updated_at", Use::kMetadata},
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
    {"belongs_to_default_sg", Use::kMetadata},
    {"created_at", Use::kMetadata},
    {"description", Use::kMetadata},
    {"normalized_cidr", Use::kMetadata},
    {"project_id", Use::kMetadata},
    {"remote_address_group_id"},
    {"revision_number", Use::kMetadata},
    {"security_group_id", Use::kMetadata},
    {"standard_attr_id", Use::kMetadata},
    {"tags", Use::kMetadata},
    {"tenant_id", Use::kMetadata},
    {"updated_at", Use::kMetadata},
};

constexpr FieldForm kAddressClaim[] = {{"id"},      {"network_id"}, {"ip_address"}, {"mac_address"},
                                       {"port_id"}, {"sequence"},   {"router"}};

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
constexpr SectionForm kSections[] = {
    {"address_claims", Use::kMetadata},  // Kasane's own: what hosts have observed; listed by get, not applied.
    {"address_groups", Use::kNotEnforced, feature::kAddressGroup},
    {"address_scopes", Use::kUnused},
    {"agents", Use::kMetadata},
    {"auto_allocated_topologies", Use::kMetadata},
    {"availability_zones", Use::kMetadata},
    {"bgp_peers", Use::kNotEnforced, feature::kBgp},
    {"bgp_speakers", Use::kNotEnforced, feature::kBgp},
    {"bgpvpns", Use::kNotEnforced, feature::kBgpvpn},
    {"conntrack_helpers", Use::kNotEnforced, feature::kConntrackHelper},
    {"default_security_group_rules", Use::kUnused},
    {"endpoint_groups", Use::kNotEnforced, feature::kVpn},
    {"extensions", Use::kMetadata},
    {"firewall_groups", Use::kNotEnforced, feature::kFirewall},
    {"firewall_policies", Use::kNotEnforced, feature::kFirewall},
    {"firewall_rules", Use::kNotEnforced, feature::kFirewall},
    {"flavors", Use::kMetadata},
    {"flow_classifiers", Use::kNotEnforced, feature::kServiceChain},
    {"ikepolicies", Use::kNotEnforced, feature::kVpn},
    {"ipsec_site_connections", Use::kNotEnforced, feature::kVpn},
    {"ipsecpolicies", Use::kNotEnforced, feature::kVpn},
    {"loadbalancers", Use::kNotEnforced, feature::kLoadBalancer},
    {"local_ips", Use::kNotEnforced, feature::kLocalIp},
    {"loggable_resources", Use::kMetadata},
    {"logs", Use::kNotEnforced, feature::kLogging},
    {"metering_label_rules", Use::kNotEnforced, feature::kMetering},
    {"metering_labels", Use::kNotEnforced, feature::kMetering},
    {"ndp_proxies", Use::kNotEnforced, feature::kNdpProxy},
    {"network_ip_availabilities", Use::kMetadata},
    {"network_segment_ranges", Use::kMetadata},
    {"policies", Use::kNotEnforced, feature::kQos},  // Of "qos/policies".
    {"port_chains", Use::kNotEnforced, feature::kServiceChain},
    {"port_forwardings", Use::kNotEnforced, feature::kPortForwarding},
    {"port_pair_groups", Use::kNotEnforced, feature::kServiceChain},
    {"port_pairs", Use::kNotEnforced, feature::kServiceChain},
    {"qos", Use::kNotEnforced, feature::kQos},
    {"qos_policies", Use::kNotEnforced, feature::kQos},
    {"quotas", Use::kMetadata},
    {"rbac_policies", Use::kUnused},
    {"rule_types", Use::kMetadata},
    {"security_group_rules", Use::kMetadata},  // Those of the groups, once more.
    {"segments", Use::kMetadata},              // Those of the networks, once more.
    {"service_profiles", Use::kMetadata},
    {"service_providers", Use::kMetadata},
    {"subnetpools", Use::kUnused},
    {"tap_flows", Use::kNotEnforced, feature::kMirroring},
    {"tap_mirrors", Use::kNotEnforced, feature::kMirroring},
    {"tap_services", Use::kNotEnforced, feature::kMirroring},
    {"trunks", Use::kNotEnforced, feature::kTrunk},
    {"vpnservices", Use::kNotEnforced, feature::kVpn},
};

}  // namespace

std::span<const MessageForm> AllForms() { return kForms; }

std::span<const SectionForm> OtherSections() { return kSections; }

}  // namespace kasane::files
