#include "model/defaults.h"

#include "kasane/v1/resources.pb.h"

namespace kasane::model {
namespace {

NetworkType TypeOf(const v1::Network& network) {
  if (network.provider_network_type() == "flat") return NetworkType::kFlat;
  if (network.provider_network_type() == "vlan") return NetworkType::kVlan;
  if (network.provider_network_type() == "local") return NetworkType::kLocal;
  return NetworkType::kVxlan;
}

void Fill(v1::Network& network) {
  if (!network.has_admin_state_up()) network.set_admin_state_up(true);
  if (!network.has_port_security_enabled()) network.set_port_security_enabled(true);
  if (network.mtu() == 0) network.set_mtu(DefaultMtu(TypeOf(network)));
}

void Fill(v1::Port& port, bool network_port_security) {
  if (!port.has_admin_state_up()) port.set_admin_state_up(true);
  if (!port.has_port_security_enabled()) port.set_port_security_enabled(network_port_security);
}

void Fill(v1::Router& router) {
  if (!router.has_admin_state_up()) router.set_admin_state_up(true);
  if (router.has_external_gateway_info() && !router.external_gateway_info().has_enable_snat()) {
    router.mutable_external_gateway_info()->set_enable_snat(true);
  }
}

}  // namespace

uint32_t DefaultMtu(NetworkType type) {
  // The underlay's 1500, less the overhead of VXLAN over IPv4 where there is a tunnel.
  return type == NetworkType::kVxlan ? 1450 : 1500;
}

void FillDefaults(v1::Resource& resource, bool network_port_security) {
  switch (resource.spec_case()) {
    case v1::Resource::kNetwork:
      return Fill(*resource.mutable_network());
    case v1::Resource::kSubnet:
      if (!resource.subnet().has_enable_dhcp()) resource.mutable_subnet()->set_enable_dhcp(true);
      return;
    case v1::Resource::kPort:
      return Fill(*resource.mutable_port(), network_port_security);
    case v1::Resource::kRouter:
      return Fill(*resource.mutable_router());
    case v1::Resource::kSecurityGroup:
      if (!resource.security_group().has_stateful()) resource.mutable_security_group()->set_stateful(true);
      return;
    case v1::Resource::kHost:
    case v1::Resource::kFloatingIp:
    case v1::Resource::kAddressClaim:
    case v1::Resource::SPEC_NOT_SET:
      return;
  }
}

}  // namespace kasane::model
