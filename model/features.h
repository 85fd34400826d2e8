// What clouds ask for and this version does not do, by names that scripts and dashboards may rely on: add,
// never rename.
//
// Some are seen in what is stored (model/not_enforced.h), others only in a resource file, since their
// fields are not stored (model/files/).
#pragma once

#include <string_view>

namespace kasane::model::feature {

// Of stored resources; each has a sentence of its own.
inline constexpr std::string_view kAddressGroup = "address_group";        // Rules that name an address group.
inline constexpr std::string_view kDhcp = "dhcp";                         // DHCPv4 and DHCPv6 answers.
inline constexpr std::string_view kExternalNetwork = "external_network";  // Ports on router:external networks.
inline constexpr std::string_view kFloatingIp = "floating_ip";            // DNAT from the world outside.
inline constexpr std::string_view kGateway = "gateway";         // Routing and SNAT to the world outside.
inline constexpr std::string_view kHostRoutes = "host_routes";  // Routes told by DHCP.
inline constexpr std::string_view kProviderNetwork = "provider_network";  // Networks that are no overlay.
inline constexpr std::string_view kRa = "ra";                             // IPv6 router advertisements.
inline constexpr std::string_view kSecurityGroups = "security_groups";    // Filtering by a port's groups.
inline constexpr std::string_view kTrunk = "trunk";                       // VLANs of a VM as ports.
inline constexpr std::string_view kVnicType = "vnic_type";                // SR-IOV and other ways to plug a VM.

// Of fields and sections of a file that are not stored.
inline constexpr std::string_view kBgp = "bgp";
inline constexpr std::string_view kBgpvpn = "bgpvpn";
inline constexpr std::string_view kConntrackHelper = "conntrack_helper";
inline constexpr std::string_view kDefaultRoute = "default_route";
inline constexpr std::string_view kDhcpOptions = "dhcp_options";
inline constexpr std::string_view kDns = "dns";
inline constexpr std::string_view kFirewall = "firewall";
inline constexpr std::string_view kLoadBalancer = "load_balancer";
inline constexpr std::string_view kLocalIp = "local_ip";
inline constexpr std::string_view kLogging = "logging";
inline constexpr std::string_view kMacLearning = "mac_learning";
inline constexpr std::string_view kMetering = "metering";
inline constexpr std::string_view kMirroring = "port_mirroring";
inline constexpr std::string_view kMultiSegment = "multi_segment";
inline constexpr std::string_view kNdpProxy = "ndp_proxy";
inline constexpr std::string_view kPortForwarding = "port_forwarding";
inline constexpr std::string_view kQos = "qos";
inline constexpr std::string_view kRoutedNetwork = "routed_network";
inline constexpr std::string_view kSecondGateway = "second_gateway";
inline constexpr std::string_view kServiceChain = "service_chain";
inline constexpr std::string_view kVlanTransparency = "vlan_transparency";
inline constexpr std::string_view kVpn = "vpn";

// Of an import alone (ctl/import/): what had to be taken out of a resource.
inline constexpr std::string_view kAddressPair = "allowed_address_pair";
inline constexpr std::string_view kEncapsulation = "encapsulation";  // geneve and gre, carried in VXLAN.
inline constexpr std::string_view kExtraRoute = "extra_route";
inline constexpr std::string_view kInvalidValue = "invalid_value";
inline constexpr std::string_view kPrefixDelegation = "prefix_delegation";
inline constexpr std::string_view kSecurityGroupRule = "security_group_rule";
inline constexpr std::string_view kSubnetGateway = "subnet_gateway";
inline constexpr std::string_view kUnknownField = "unknown_field";

// One sentence for the operator about a feature of a file's fields or sections. Empty for others.
std::string_view Explanation(std::string_view feature);

}  // namespace kasane::model::feature
