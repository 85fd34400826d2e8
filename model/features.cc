#include "model/features.h"

#include <utility>

namespace kasane::model::feature {

std::string_view Explanation(std::string_view feature) {
  static constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
      {kAddressGroup, "Address groups are not known: security group rules that name one allow nothing."},
      {kBgp, "Nothing is announced by BGP."},
      {kBgpvpn, "Networks and routers are not connected to BGP VPNs."},
      {kConntrackHelper,
       "Connections that a helper would follow (FTP, TFTP, SIP) are not allowed or translated."},
      {kDefaultRoute, "Default routes of several gateways are neither balanced nor watched by BFD."},
      {kDhcpOptions, "DHCP is not answered, nor with extra options."},
      {kDns, "No names are served for ports, networks and floating IPs."},
      {kFirewall, "Firewall groups do not filter: all traffic is allowed."},
      {kLoadBalancer, "Load balancers of Neutron do not answer."},
      {kLocalIp, "Local IPs are not answered."},
      {kLogging, "Nothing is logged for security groups and firewalls."},
      {kMacLearning, "MAC addresses are learned only behind ports without port security."},
      {kMetering, "Traffic is not metered by label."},
      {kMirroring, "Nothing is mirrored."},
      {kMultiSegment, "Only one segment of the network is connected."},
      {kNdpProxy, "Neighbour solicitations from outside are not answered for internal IPv6 addresses."},
      {kPortForwarding, "Ports of floating IPs are not forwarded."},
      {kQos, "Bandwidth limits, guarantees and DSCP marks of QoS policies are not applied."},
      {kRoutedNetwork, "Segments of a routed provider network are not told apart."},
      {kSecondGateway, "Only the first external gateway of a router is known."},
      {kServiceChain, "Traffic is not steered through service chains."},
      {kTrunk,
       "Trunks are not connected: VLAN-tagged frames of VMs are dropped, and subports exchange nothing."},
      {kVlanTransparency, "VLAN-tagged frames of VMs are dropped, on VLAN-transparent networks as well."},
      {kVpn, "No VPN connection is made."},
  };
  for (const auto& [name, text] : kTexts) {
    if (name == feature) return text;
  }
  return "";
}

}  // namespace kasane::model::feature
